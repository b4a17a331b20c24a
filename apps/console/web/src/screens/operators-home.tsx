import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { get } from '../api/http';
import { ACCOUNTS, pathOf, POOLS } from '../api/managed';
import { allOf } from '../api/perkway';
import { LOW, poolName } from '../api/pools';
import type { Health, OperatorsHome as Home } from '../api/types';
import { formatChange, formatList, formatMoment, formatMoney, formatNumber } from '../format';
import { useLiveInterval } from '../parts/live';
import { Loaded } from '../parts/loaded';
import { Card, Screen } from '../parts/screen';
import { Table } from '../parts/table';
import { ViewAsClient } from '../parts/view-as-client';
import { texts } from '../texts';
import { WebhookStates } from './webhook-states';

const t = texts.operatorsHome;
const WEEK_MS = 7 * 86_400_000;

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
    queryFn: async () =>
      (await allOf(POOLS.list({ limit: 200 })))
        .flatMap((pool) => pool.inventories.map((entry) => ({ pool, ...entry })))
        .filter(({ available }) => available < LOW)
        .sort((one, other) => one.available - other.available),
    ...live,
  });
  const health = useQuery({
    queryKey: ['health'],
    queryFn: ({ signal }) => get<Health>('/api/health', undefined, signal),
    ...live,
  });
  const bad = health.data?.apps.filter(({ state }) => state !== 'up').length ?? 0;
  const dead = health.data?.dead_letters ?? 0;
  const webhooks = home.data?.webhooks.length ?? 0;
  const isKnown = [home, stock, health].every(({ data }) => data !== undefined);
  const findings = [
    ...(bad > 0 ? [t.apps(bad)] : []),
    ...(dead > 0 ? [t.deadLetters(formatNumber(dead), dead === 1)] : []),
    ...(stock.data?.length ? [t.stock(stock.data.length)] : []),
    ...(webhooks > 0 ? [t.webhooks(webhooks)] : []),
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
          {findings.length === 0 ? t.quiet : `${formatList(findings)}.`}
        </p>
      )}
      <Loaded query={home} lines={8}>
        {({ traffic, from, to }) => (
          <Card
            title={t.traffic}
            note={t.trafficNote(formatMoment(from), formatMoment(Date.parse(to) - WEEK_MS))}
          >
            <Loaded query={accounts} lines={6}>
              {(list) => (
                <Traffic
                  rows={list
                    .map(({ id, name }) => {
                      const own = traffic.find(({ account_id }) => account_id === id);
                      return { id, name, events: own?.events ?? 0, before: own?.events_before ?? 0 };
                    })
                    .sort((one, other) => other.events - one.events)}
                />
              )}
            </Loaded>
          </Card>
        )}
      </Loaded>
      <div className="columns">
        <Card title={t.lowStock} note={t.lowStockNote(LOW)}>
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
                    cell: ({ pool }) => (
                      <>
                        <Link to={pathOf(POOLS, pool.id)}>{poolName(pool)}</Link>
                        <br />
                        <span className="hint">{pool.owner}</span>
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
                about={({ account_id }) => <Link to={pathOf(ACCOUNTS, account_id)}>{account_id}</Link>}
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
  events: number;
  before: number;
}
const changeOf = ({ events, before }: Row) =>
  before > 0 ? (events - before) / before : events > 0 ? Infinity : 0;

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
        cell: ({ id, name }) => <Link to={pathOf(ACCOUNTS, id)}>{name}</Link>,
      },
      {
        name: t.events,
        isNumber: true,
        sortBy: ({ events }) => events,
        cell: ({ events }) => formatNumber(events),
      },
      {
        name: t.before,
        isNumber: true,
        sortBy: ({ before }) => before,
        cell: ({ before }) => formatNumber(before),
      },
      {
        name: t.change,
        isNumber: true,
        sortBy: changeOf,
        cell: (row) => {
          const change = row.events - row.before;
          if (change === 0) return texts.none;
          if (row.before === 0) return <span className="change-up">{t.fresh}</span>;
          return (
            <span className={change > 0 ? 'change-up' : 'change-down'}>
              {formatChange(row.events, row.before)}
            </span>
          );
        },
      },
      { name: t.view, cell: ({ id, name }) => <ViewAsClient id={id} name={name} /> },
    ]}
  />
);
