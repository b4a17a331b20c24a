import { LOW_STOCK } from '@perkway/domain/low-stock';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { get } from '../api/http';
import { ACCOUNTS, pathOf, POOLS } from '../api/managed';
import { allOf } from '../api/perkway';
import { useSession } from '../api/session';
import type { Health, LowStock, OperatorsHome as Home } from '../api/types';
import { isClearChange } from '../contributions';
import { formatChange, formatMoment, formatMoney, formatNumber, sentenceOf } from '../format';
import { useLiveInterval } from '../parts/live';
import { Loaded } from '../parts/loaded';
import { Card, Screen } from '../parts/screen';
import { Table } from '../parts/table';
import { ViewAsClient } from '../parts/view-as-client';
import { texts } from '../texts';
import { healthFindings } from './health-findings';
import { WebhookStates } from './webhook-states';

const t = texts.operatorsHome;
const WEEK_MS = 7 * 86_400_000;
/** With fewer events on the day before, a day without any is usual. */
const BUSY = 100;
const isSilent = ({ day, dayBefore }: Row) => day === 0 && dayBefore >= BUSY;

export default function OperatorsHome() {
  const live = useLiveInterval();
  const home = useQuery({
    queryKey: ['operators-home'],
    queryFn: ({ signal }) => get<Home>('/api/operators-home', undefined, signal),
    ...live,
  });
  const accounts = useQuery({
    queryKey: ['all', 'accounts'],
    queryFn: () => allOf(ACCOUNTS.list({ limit: 200 })),
    ...live,
  });
  const stock = useQuery({
    queryKey: ['low-stock'],
    queryFn: ({ signal }) => get<LowStock[]>('/api/low-stock', undefined, signal),
    ...live,
  });
  const health = useQuery({
    queryKey: ['health'],
    queryFn: ({ signal }) => get<Health>('/api/health', undefined, signal),
    ...live,
  });
  const ownAccount = useSession().accountId;
  const traffic = accounts.data
    ?.map(({ id, name }): Row => {
      const own = home.data?.traffic.find(({ account_id }) => account_id === id);
      return {
        ...{ id, name, day: own?.day_events ?? 0, dayBefore: own?.day_events_before ?? 0 },
        ...{ week: own?.events ?? 0, weekBefore: own?.events_before ?? 0 },
      };
    })
    // The account of the operators has no clients.
    .filter(({ id, week, weekBefore }) => id !== ownAccount || week + weekBefore > 0)
    .sort((one, other) => other.week - one.week);
  const nameOf = (account: string) => accounts.data?.find(({ id }) => id === account)?.name ?? account;
  const disabled = home.data?.webhooks.filter(({ disabled_at }) => disabled_at !== null).length ?? 0;
  const isKnown = [home, accounts, stock, health].every(({ data }) => data !== undefined);
  const counted: [number, (count: number) => string][] = [
    [stock.data?.length ?? 0, t.stock],
    [(home.data?.webhooks.length ?? 0) - disabled, t.webhooks],
    [disabled, t.disabledWebhooks],
    [traffic?.filter(isSilent).length ?? 0, t.silent],
  ];
  const findings = [
    ...(health.data ? healthFindings(health.data) : []),
    ...counted.flatMap(([count, text]) => (count > 0 ? [text(count)] : [])),
  ];

  return (
    <Screen
      title={texts.nav.operatorsHome}
      intro={t.intro}
      actions={
        <Link className="button" to="/health">
          {t.toHealth}
        </Link>
      }
    >
      {isKnown && (
        <p className="headline" role="status" data-findings={findings.length}>
          {findings.length === 0 ? t.quiet : sentenceOf(findings)}
        </p>
      )}
      <Loaded query={home} lines={8}>
        {({ from, to, day_to }) => (
          <Card
            className="dense"
            title={t.traffic}
            note={t.trafficNote(
              formatMoment(from),
              formatMoment(Date.parse(to) - WEEK_MS),
              formatMoment(day_to),
            )}
          >
            <Loaded query={accounts} lines={6}>
              {() => <Traffic rows={traffic!} />}
            </Loaded>
          </Card>
        )}
      </Loaded>
      <div className="columns">
        <Card title={t.lowStock} note={t.lowStockNote(LOW_STOCK)}>
          <Loaded query={stock} isEmpty={(rows) => rows.length === 0} empty={<p>{t.enough}</p>}>
            {(rows) => (
              <Table
                caption={t.lowStock}
                rows={rows}
                keyOf={(_, index) => index}
                columns={[
                  {
                    name: t.pool,
                    isHead: true,
                    cell: ({ pool_id, product, account_id }) => (
                      <>
                        <Link to={pathOf(POOLS, pool_id)}>{product ?? pool_id.slice(0, 8)}</Link>
                        <br />
                        <span className="hint">{nameOf(account_id)}</span>
                      </>
                    ),
                  },
                  {
                    name: texts.giftCards.value,
                    cell: ({ denomination, currency, country }) =>
                      `${formatMoney(denomination, currency)}, ${country}`,
                  },
                  {
                    name: texts.giftCards.available,
                    isNumber: true,
                    cell: ({ available }) => (
                      <span className={`badge ${available === 0 ? 'bad' : 'warn'}`}>
                        {formatNumber(available)}
                      </span>
                    ),
                  },
                  {
                    name: texts.giftCards.lasts,
                    isNumber: true,
                    cell: ({ available, days_left }) =>
                      available === 0
                        ? texts.giftCards.noneLeft
                        : days_left === null
                          ? texts.giftCards.noPace
                          : texts.giftCards.daysLeft(days_left),
                  },
                ]}
              />
            )}
          </Loaded>
        </Card>
        <Card title={t.failing} note={t.failingNote}>
          <Loaded query={home} isEmpty={(data) => data.webhooks.length === 0} empty={<p>{t.noFailing}</p>}>
            {(data) => (
              <WebhookStates
                caption={t.failing}
                webhooks={data.webhooks}
                about={({ account_id }) => (
                  <Link to={pathOf(ACCOUNTS, account_id)}>{nameOf(account_id)}</Link>
                )}
              />
            )}
          </Loaded>
        </Card>
      </div>
    </Screen>
  );
}

interface Row {
  id: string;
  name: string;
  day: number;
  dayBefore: number;
  week: number;
  weekBefore: number;
}
const changeOf = (count: number, before: number) =>
  before > 0 ? (count - before) / before : count > 0 ? Infinity : 0;

function Change({ count, before }: { count: number; before: number }) {
  if (count === before) return texts.none;
  if (before === 0) return <span className="change-up">{t.fresh}</span>;
  const direction = count > before ? 'change-up' : 'change-down';
  return (
    <span className={isClearChange(count, before) ? direction : undefined}>
      {formatChange(count, before)}
    </span>
  );
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
            cell: (row: Row) => <Change count={row[period]} before={row[before]} />,
          },
        ];
      }),
      { name: t.view, cell: ({ id, name }) => <ViewAsClient id={id} name={name} /> },
    ]}
  />
);
