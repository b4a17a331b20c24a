import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { useHealth } from '../api/health';
import { get } from '../api/http';
import { isUsedUp, usedOf } from '../api/limits';
import { ACCOUNTS, CAMPAIGNS, LIMITS, pathOf, PERKS, POOLS } from '../api/managed';
import { useOperatorsHome } from '../api/operators-home';
import { allOf } from '../api/perkway';
import { useSession } from '../api/session';
import { isUrgentStock, runsOutIn, useLowStock, type StockRate } from '../api/stock';
import type { CardStock, LowCodes, NearlyUsedLimit, OperatorsHome as Home } from '../api/types';
import { pathOfWebhook } from '../api/webhooks';
import { isClearChange } from '../contributions';
import {
  formatDate,
  formatMoment,
  formatMoney,
  formatNumber,
  formatRate,
  formatShare,
  NONE,
} from '../format';
import { Ago } from '../parts/ago';
import { changeOf, TrafficChange } from '../parts/change';
import { Lasts } from '../parts/lasts';
import { useLiveInterval } from '../parts/live';
import { Loaded } from '../parts/loaded';
import { Refreshed } from '../parts/refreshed';
import { Card, Screen } from '../parts/screen';
import { Table, type Column } from '../parts/table';
import { ViewAsClient } from '../parts/view-as-client';
import { texts } from '../texts';
import { Alarms, Severity, type Alarm } from './alarms';
import { WebhookStates } from './webhook-states';

const t = texts.operatorsHome;
const { actions } = texts.alarms;
const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
/** With fewer events on the day before, a day without any is usual. */
const BUSY = 100;
/** Accounts that lost half of at least BUSY events, if chance does not explain it. */
const hasFallen = ({ week, weekBefore }: Row) =>
  weekBefore >= BUSY && week <= weekBefore / 2 && isClearChange(week, weekBefore);
/** Number of alarms of one kind that get a row each; one more row leads to the others. */
const NAMED = 3;
/** The 24 hours end at the last full hour. A later event means that the account still tracks, or tracks again. */
const hasNewer = ({ lastEvent, dayTo }: Row) => lastEvent !== null && lastEvent >= dayTo;
const isSilent = (row: Row) => row.day === 0 && row.dayBefore >= BUSY && !hasNewer(row);

export default function OperatorsHome() {
  const live = useLiveInterval();
  const home = useOperatorsHome();
  const accounts = useQuery({
    queryKey: ['all', 'accounts'],
    queryFn: () => allOf(ACCOUNTS.list({ limit: 200 })),
    ...live,
  });
  const stock = useLowStock();
  const codes = useQuery({
    queryKey: ['low-codes'],
    queryFn: ({ signal }) => get<LowCodes[]>('/api/low-codes', undefined, signal),
    ...live,
  });
  const limits = useQuery({
    queryKey: ['nearly-used-limits'],
    queryFn: ({ signal }) => get<NearlyUsedLimit[]>('/api/nearly-used-limits', undefined, signal),
    ...live,
  });
  const health = useHealth();
  const ownAccount = useSession().accountId;
  const traffic = accounts.data
    ?.map(({ id, name }): Row => {
      const own = home.data?.traffic.find(({ account_id }) => account_id === id);
      return {
        ...{ id, name, day: own?.day_events ?? 0, dayBefore: own?.day_events_before ?? 0 },
        ...{ week: own?.events ?? 0, weekBefore: own?.events_before ?? 0 },
        ...{ lastEvent: own?.last_event_at ?? null, dayTo: home.data?.day_to ?? '' },
      };
    })
    // The account of the operators has no clients.
    .filter(({ id, week, weekBefore }) => id !== ownAccount || week + weekBefore > 0)
    .sort((one, other) => other.week - one.week);
  const nameOf = (account: string) => accounts.data?.find(({ id }) => id === account)?.name ?? account;
  const isKnown = [home, accounts, stock, codes, limits, health].every(({ data }) => data !== undefined);
  const silent = traffic?.filter(isSilent) ?? [];
  const fallen = (traffic ?? [])
    .filter((row) => hasFallen(row) && !isSilent(row))
    .sort((one, other) => changeOf(one.week, one.weekBefore) - changeOf(other.week, other.weekBefore));
  const jobs = home.data?.link_jobs ?? [];
  const webhooks = home.data?.webhooks.toSorted((one, other) => other.pending - one.pending) ?? [];
  const of = (name: string, account: string) => `${name}, ${nameOf(account)}`;
  const cards = (stock.data ?? []).map((card) => ({
    ...card,
    where: of(cardName(card), card.account_id),
    to: pathOf(POOLS, card.pool_id),
    action: actions.cards,
  }));
  const perks = (codes.data ?? []).map((perk) => ({
    ...perk,
    where: t.codesOf(perk.title),
    to: pathOf(PERKS, perk.perk_id),
    action: actions.codes,
  }));
  const alarms: Alarm[] = [
    ...(health.data?.findings ?? []).map((one) => ({ ...one, to: '/health', action: actions.health })),
    ...alarmsOf('critical', silent, TRAFFIC, ({ id, name, lastEvent }) => ({
      what: t.noMore,
      where: name,
      to: pathOf(ACCOUNTS, id),
      action: actions.traffic,
      since: lastEvent ?? undefined,
    })),
    ...alarmsOf('warning', fallen, TRAFFIC, ({ id, name, week, weekBefore }) => ({
      what: t.fell(formatShare(weekBefore - week, weekBefore)!),
      where: name,
      to: pathOf(ACCOUNTS, id),
      action: actions.traffic,
    })),
    ...[cards, perks].flatMap((all: (StockRate & Pick<Alarm, 'where' | 'to' | 'action'>)[]) => {
      const ending = all.filter(isRunningOut);
      return ([true, false] as const).flatMap((isUrgent) =>
        alarmsOf(
          isUrgent ? 'critical' : 'warning',
          ending.filter((one) => isUrgentStock(one) === isUrgent),
          ['#low-stock', t.lowStock],
          ({ where, to, action, ...left }) => ({
            what: t.left(left.available, left.per_day, left.days_left),
            where,
            to,
            action,
          }),
        ),
      );
    }),
    ...alarmsOf('warning', webhooks, ['#failing-webhooks', t.failing], (webhook) => ({
      what: webhook.disabled_at === null ? t.fails : t.disabledByPerkway,
      where: of(webhook.id, webhook.account_id),
      to: pathOfWebhook(webhook.id),
      client: webhook.account_id,
      action: actions.webhook,
      since: webhook.disabled_at ?? webhook.failing_since ?? undefined,
    })),
    ...(['failed', 'awaiting_approval'] as const).flatMap((state) =>
      alarmsOf(
        'warning',
        jobs.filter((job) => job.state === state),
        ['#link-jobs', t.jobs],
        (job) => ({
          what: t.linkJobs[state],
          where: of(jobName(job), job.account_id),
          to: pathOfJob(job),
          client: job.account_id,
          action: actions.job,
          since: job.since,
        }),
      ),
    ),
    ...alarmsOf('warning', limits.data ?? [], ['#limits', t.limits], (limit) => ({
      what: isUsedUp(limit) ? t.usedUp : t.nearlyUsed,
      where: of(
        limit.per === 'account' ? limit.id : `${limit.id} (${limit.product ?? limit.value})`,
        limit.account_id,
      ),
      to: pathOf(LIMITS, limit.id),
      action: actions.limit,
    })),
  ];

  return (
    <Screen
      title={texts.nav.operatorsHome}
      intro={t.intro}
      actions={
        <>
          <Refreshed queries={[home, accounts, stock, codes, limits, health]} />
          <Link className="button" to="/health">
            {t.toHealth}
          </Link>
        </>
      }
    >
      {isKnown && (
        <div data-findings={alarms.length}>
          <Alarms of={alarms} none={t.quiet} />
        </div>
      )}
      <Card id="low-stock" title={t.lowStock} note={t.lowStockNote}>
        <Loaded query={stock}>
          {(cards) => (
            <Loaded query={codes}>
              {(perks) => <LowStock cards={cards} perks={perks} nameOf={nameOf} />}
            </Loaded>
          )}
        </Loaded>
      </Card>
      <Card id="failing-webhooks" title={t.failing} note={t.failingNote}>
        <Loaded
          query={home}
          isEmpty={(data) => data.webhooks.length === 0}
          empty={<p>{home.data?.has_webhooks ? t.noFailing : t.noWebhooks}</p>}
        >
          {() => (
            <WebhookStates
              caption={t.failing}
              webhooks={webhooks}
              about={({ account_id }) => <Link to={pathOf(ACCOUNTS, account_id)}>{nameOf(account_id)}</Link>}
            />
          )}
        </Loaded>
      </Card>
      <Card id="link-jobs" title={t.jobs} note={t.jobsNote}>
        <Loaded query={home} isEmpty={(data) => data.link_jobs.length === 0} empty={<p>{t.noJobs}</p>}>
          {(data) => <LinkJobs jobs={data.link_jobs} nameOf={nameOf} />}
        </Loaded>
      </Card>
      <Card id="limits" title={t.limits} note={t.limitsNote}>
        <Loaded query={limits} isEmpty={(list) => list.length === 0} empty={<p>{t.noLimits}</p>}>
          {(list) => <NearlyUsedLimits limits={list} nameOf={nameOf} />}
        </Loaded>
      </Card>
      <Loaded query={home} lines={8}>
        {({ from, to, day_to }) => (
          <Card
            id="traffic"
            className="dense"
            title={t.traffic}
            note={t.trafficNote(
              formatMoment(from),
              formatMoment(Date.parse(to) - WEEK_MS),
              formatMoment(day_to),
              formatNumber(BUSY),
            )}
          >
            <Loaded query={accounts} lines={6}>
              {() => (
                <div className="stack">
                  <p className="hint">{texts.shown(traffic!.length, false, ACCOUNTS.counted)}</p>
                  <Traffic rows={traffic!} />
                </div>
              )}
            </Loaded>
          </Card>
        )}
      </Loaded>
    </Screen>
  );
}

function CountedFor({ per, value, product }: NearlyUsedLimit) {
  if (per === 'account') return NONE;
  const kind = per === 'pool_id' ? POOLS : per === 'campaign_id' ? CAMPAIGNS : undefined;
  const name = product ?? (per === 'pool_id' ? value.slice(0, 8) : value);
  return (
    <>
      {texts.limits.pers[per]}: {kind ? <Link to={pathOf(kind, value)}>{name}</Link> : name}
    </>
  );
}

interface NearlyUsedLimitsProps {
  limits: NearlyUsedLimit[];
  nameOf: (account: string) => string;
}

const NearlyUsedLimits = ({ limits, nameOf }: NearlyUsedLimitsProps) => (
  <Table
    caption={t.limits}
    rows={limits}
    keyOf={({ id, value }) => `${id} ${value}`}
    columns={[
      {
        name: texts.limits.limit,
        isHead: true,
        cell: ({ id, account_id }) => (
          <>
            <Link to={pathOf(LIMITS, id)}>{id}</Link>
            <br />
            <Link to={pathOf(ACCOUNTS, account_id)}>{nameOf(account_id)}</Link>
          </>
        ),
      },
      {
        name: t.countedFor,
        cell: (limit) => <CountedFor {...limit} />,
      },
      { name: texts.limits.used, isNumber: true, cell: (limit) => usedOf(limit) },
      {
        name: texts.limits.resets,
        cell: ({ resets_at }) => (resets_at === null ? texts.limits.never : formatMoment(resets_at)),
      },
    ]}
  />
);

interface LinkJobsProps {
  jobs: Home['link_jobs'];
  nameOf: (account: string) => string;
}

const pathOfJob = ({ id }: Home['link_jobs'][number]) => `/gift-cards#job-${id}`;
const jobName = ({ id, name }: Home['link_jobs'][number]) => name ?? id.slice(0, 8);

const LinkJobs = ({ jobs, nameOf }: LinkJobsProps) => (
  <Table
    caption={t.jobs}
    rows={jobs}
    keyOf={({ id }) => id}
    columns={[
      {
        name: t.job,
        isHead: true,
        cell: (job) => (
          <>
            {jobName(job)}
            <br />
            <Link to={pathOf(ACCOUNTS, job.account_id)}>{nameOf(job.account_id)}</Link>
          </>
        ),
      },
      {
        name: t.state,
        cell: ({ state, code }) => (
          <>
            {t.jobStates[state]}
            {code && <span className="hint"> {texts.errors.byCode[code] ?? code}</span>}
          </>
        ),
      },
      { name: t.links, isNumber: true, cell: ({ total }) => formatNumber(total) },
      { name: t.jobSince, cell: ({ since }) => formatMoment(since) },
      {
        name: t.view,
        cell: (job) => (
          <ViewAsClient id={job.account_id} name={`${job.account_id}, ${jobName(job)}`} to={pathOfJob(job)} />
        ),
      },
    ]}
  />
);

/** The place and the title of a list on this screen. */
type List = readonly [to: string, title: string];
const TRAFFIC: List = ['#traffic', t.traffic];

/** Returns an alarm for each of the first rows, and one that leads to the list of the others. */
const alarmsOf = <T,>(
  severity: Alarm['severity'],
  rows: T[],
  [to, where]: List,
  alarmOf: (row: T) => Omit<Alarm, 'severity'>,
): Alarm[] => [
  ...rows.slice(0, NAMED).map((row) => ({ severity, ...alarmOf(row) })),
  ...(rows.length > NAMED
    ? [{ severity, what: t.more(rows.length - NAMED), where, to, action: actions.list }]
    : []),
];

const valueOf = ({ denomination, currency, country }: CardStock) =>
  `${formatMoney(denomination, currency)}, ${country}`;
const productOf = ({ product, pool_id }: CardStock) => product ?? texts.pools.of(pool_id.slice(0, 8));
const cardName = (card: CardStock) => `${productOf(card)}, ${valueOf(card)}`;

interface LowRow extends StockRate {
  to: string;
  name: string;
  owner: string;
  value: string;
}

interface LowStockProps {
  cards: CardStock[];
  perks: LowCodes[];
  nameOf: (account: string) => string;
}

/** Stock that runs out, the first to do so first. Stock that is left but was not used recently raises no alarm, so it stands apart. */
function LowStock({ cards, perks, nameOf }: LowStockProps) {
  const rows: LowRow[] = [
    ...cards.map((card) => ({
      ...{ to: pathOf(POOLS, card.pool_id), name: productOf(card), owner: nameOf(card.account_id) },
      ...{ value: valueOf(card), ...card },
    })),
    ...perks.map(({ perk_id, title, ...stock }) => ({
      ...{ to: pathOf(PERKS, perk_id), name: title, owner: perk_id, value: t.codeValue, ...stock },
    })),
  ];
  const ending = rows
    .filter(isRunningOut)
    .sort((one, other) => runsOutIn(one)! - runsOutIn(other)! || one.name.localeCompare(other.name));
  const unused = rows.filter((row) => !isRunningOut(row));
  return (
    <div className="stack">
      {ending.length === 0 ? (
        <p>{t.enough}</p>
      ) : (
        <Table
          caption={t.lowStock}
          rows={ending}
          keyOf={(_, index) => index}
          columns={[
            ...LOW_COLUMNS,
            {
              name: t.perDay,
              isNumber: true,
              cell: ({ per_day }) => (per_day === null ? texts.none : formatRate(per_day)),
            },
            { name: texts.giftCards.lasts, isNumber: true, cell: (stock) => <Lasts stock={stock} /> },
            { name: t.runsOut, cell: (stock) => <span className="nowrap">{runsOutOn(stock)}</span> },
          ]}
        />
      )}
      {unused.length > 0 && (
        <>
          <h3>{t.unused}</h3>
          <p className="hint">{t.unusedNote}</p>
          <Table caption={t.unused} rows={unused} keyOf={(_, index) => index} columns={LOW_COLUMNS} />
        </>
      )}
    </div>
  );
}

const isRunningOut = (stock: StockRate) => runsOutIn(stock) !== null;
function runsOutOn(stock: LowRow): string {
  const days = runsOutIn(stock)!;
  return days > 0 && stock.days_left !== null ? formatDate(Date.now() + days * DAY_MS) : texts.none;
}

const LOW_COLUMNS: Column<LowRow>[] = [
  {
    name: t.pool,
    isHead: true,
    cell: (stock) => (
      <>
        {isRunningOut(stock) && <Severity of={isUrgentStock(stock) ? 'critical' : 'warning'} />}{' '}
        <Link to={stock.to}>{stock.name}</Link>
        <br />
        <span className="hint">{stock.owner}</span>
      </>
    ),
  },
  { name: texts.giftCards.value, cell: ({ value }) => value },
  { name: texts.giftCards.available, isNumber: true, cell: ({ available }) => formatNumber(available) },
];

interface Row {
  id: string;
  name: string;
  day: number;
  dayBefore: number;
  week: number;
  weekBefore: number;
  /** ISO 8601, as in the response. */
  lastEvent: string | null;
  dayTo: string;
}

const Traffic = ({ rows }: { rows: Row[] }) => (
  <Table
    caption={t.traffic}
    rows={rows}
    keyOf={({ id }) => id}
    sortParameter="accounts"
    columns={[
      {
        name: t.account,
        isHead: true,
        sortBy: ({ name }) => name,
        cell: (row) => (
          <>
            <Link to={pathOf(ACCOUNTS, row.id)}>{row.name}</Link>{' '}
            {isSilent(row) && <span className="badge bad">{t.noMore}</span>}
            {row.lastEvent !== null && (
              <>
                <br />
                <span className="hint">
                  {t.lastEvent} <Ago moment={row.lastEvent} />
                </span>
              </>
            )}
          </>
        ),
      },
      ...(['day', 'week'] as const).flatMap((period) => {
        const before = `${period}Before` as const;
        return [
          ...([period, before] as const).map((name) => ({
            name: t[name],
            isNumber: true,
            sortBy: (row: Row) => row[name],
            cell: (row: Row) => formatNumber(row[name]),
          })),
          {
            name: t[`${period}Change`],
            isNumber: true,
            sortBy: (row: Row) => changeOf(row[period], row[before]),
            cell: (row: Row) => (
              <TrafficChange
                count={row[period]}
                before={row[before]}
                hasNewer={period === 'day' && hasNewer(row)}
              />
            ),
          },
        ];
      }),
      { name: t.view, cell: ({ id, name }) => <ViewAsClient id={id} name={name} /> },
    ]}
  />
);
