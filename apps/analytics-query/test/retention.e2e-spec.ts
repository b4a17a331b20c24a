import { MaintenanceService } from '../src/maintenance/maintenance.service.js';
import { RollupRefresher } from '../src/maintenance/rollup-refresher.js';
import { waitFor, type LaunchedApp } from '@perkway/testing';
import pg from 'pg';
import {
  Analytics,
  anAccountId,
  analyticsStack,
  click,
  event,
  launchAnalytics,
  tokenFor,
  type Stack,
} from './support.js';

const MONTHS_KEPT = 2;
const now = new Date();
/** Returns the start of the month that many months ago, in UTC. */
const monthStart = (ago: number): number => Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - ago, 1);
const KEPT_FROM = monthStart(MONTHS_KEPT);
/** Only the tests run maintenance. */
const SETTINGS = { ROLLUP_INTERVAL_MS: '3600000', UPKEEP_INTERVAL_MS: '3600000' };
const account = anAccountId();

/** Keeps all events, like an app whose setting has not been changed yet. */
let stack: Stack;
/** An app on the same store with the setting, and a client for it. */
let app: LaunchedApp;
let analytics: Analytics;

beforeAll(async () => {
  stack = await analyticsStack({ ...SETTINGS, ANALYTICS_ROLES: 'ingest' });
  const events = [0, 1, 2, 3, 4, 5].flatMap((ago) =>
    // Both ends of a month, and days between.
    [0, 1, 7 * 86_400_000, 20 * 86_400_000, monthStart(ago - 1) - monthStart(ago) - 1]
      .map((after) => monthStart(ago) + after)
      .filter((at) => at <= now.getTime())
      .flatMap((at, index) => [
        click(account, { at, perk: `perk-${index % 2}` }),
        event({ type: 'perk_view', account, at, collection: 'main', perks: ['a', 'b'] }),
        event({
          type: 'teaser_view',
          account,
          at,
          campaign: 'spring',
          journey: `j-${index % 3}`,
          channel: 'outreach',
        }),
      ]),
  );
  await stack.publisher.events(...events);
  await waitFor(async () => expect(await storedEvents()).toBe(events.length), 'all events');
  await stack.app.app.get(RollupRefresher).refresh(now.getTime());
  await stack.app.close();
  app = await launchAnalytics(stack.database, stack.nats, {
    ...SETTINGS,
    RETENTION_MONTHS: String(MONTHS_KEPT),
  });
  analytics = new Analytics(app.url, tokenFor(account, stack.key));
});
afterAll(async () => {
  await app?.close();
  await stack?.close();
});

const storedEvents = async (): Promise<number> => {
  const [row] = await stack.database.query<{ n: number }>('select count(*)::int as n from tracking_events');
  return row!.n;
};

/** Queries on rollups, on raw rows and on both; without a range, and with ranges that begin before the kept months. */
const BERLIN = { timezone: 'Europe/Berlin' };
const everything = {
  dateRange: [
    new Date(monthStart(7)).toISOString().slice(0, 10),
    new Date(now.getTime() + 86_400_000).toISOString().slice(0, 10),
  ],
};
const QUERIES: [query: object, sql: string][] = [
  [{ measures: ['perk_clicks.count'] }, `count(*) where type = 'perk_click'`],
  [{ measures: ['perk_views.count'] }, `sum(cardinality(perk_ids)) where type = 'perk_view'`],
  [{ measures: ['teaser_views.journeys'] }, `count(distinct journey_id) where type = 'teaser_view'`],
  [{ measures: ['campaign_funnel.teaser_viewers'] }, `count(distinct journey_id) where type = 'teaser_view'`],
  [
    {
      measures: ['perk_clicks.count'],
      filters: [{ member: 'perk_clicks.perk_id', operator: 'equals', values: ['perk-1'] }],
    },
    `count(*) where type = 'perk_click' and perk_id = 'perk-1'`,
  ],
  [
    {
      measures: ['perk_clicks.count'],
      timeDimensions: [{ dimension: 'perk_clicks.occurred_at', ...everything }],
      ...BERLIN,
    },
    `count(*) where type = 'perk_click'`,
  ],
];

/** Plain counts of the events that should be kept. */
async function expected(): Promise<string[]> {
  const from = new Date(KEPT_FROM).toISOString();
  return Promise.all(
    QUERIES.map(async ([, sql]) => {
      const [measure, where] = sql.split(' where ');
      const [row] = await stack.database.query<{ n: string }>(
        `select (${measure})::text as n from tracking_events where ${where} and account_id = $1 and occurred_at >= $2`,
        [account, from],
      );
      return row!.n;
    }),
  );
}
async function queryCounts(): Promise<string[]> {
  return Promise.all(
    QUERIES.map(async ([query]) => {
      for (;;) {
        const { status, body } = await analytics.load(query);
        // On a busy machine the database may take longer than the query host waits.
        if (status === 503) continue;
        expect([status, body.error]).toEqual([200, undefined]);
        return String(Object.values(body.data[0]!)[0]);
      }
    }),
  );
}
const months = async (): Promise<string[]> => {
  const rows = await stack.database.query<{ name: string }>(
    `select relname as name from pg_inherits join pg_class on pg_class.oid = inhrelid
     where inhparent = 'tracking_events'::regclass order by relname`,
  );
  return rows.map(({ name }) => name.slice(-7).replace('_', '-'));
};
const nameOf = (ago: number): string => new Date(monthStart(ago)).toISOString().slice(0, 7);

describe('retention', () => {
  it('returns the counts of kept months before, while and after months are dropped', async () => {
    // The app checks the months at its start, before or during this test.
    const counts = await expected();
    let isOver = false;
    let compared = 0;
    const querying = (async () => {
      do {
        expect(await queryCounts()).toEqual(counts);
        compared += 1;
      } while (!isOver);
    })();
    const maintenance = app.app.get(MaintenanceService);
    const refresher = app.app.get(RollupRefresher);
    try {
      await waitFor(async () => {
        await maintenance.maintainMonths(now.getTime());
        await refresher.refresh(now.getTime());
        expect((await months())[0]).toBe(nameOf(MONTHS_KEPT));
      }, 'the dropped months');
    } finally {
      isOver = true;
    }
    await querying;
    expect(compared).toBeGreaterThan(0);
    expect(await queryCounts()).toEqual(counts);
    expect(await expected()).toEqual(counts);
    const [{ rows }] = (await stack.database.query(
      `select (select count(*) from event_hours where hour < $1) + (select count(*) from perk_days where day < $1)
         + (select count(*) from campaign_days where day < $1) as rows`,
      [new Date(KEPT_FROM)],
    )) as [{ rows: string }];
    expect(rows).toBe('0');
  });

  it('counts late events of a kept month, but not of a dropped one', async () => {
    const before = await expected();
    await stack.publisher.events(
      click(account, { at: KEPT_FROM - 1 }),
      click(account, { at: monthStart(4) }),
      click(account, { at: KEPT_FROM }),
      click(account, { at: KEPT_FROM }),
    );
    await waitFor(async () => expect(await expected()).not.toEqual(before), 'the late events');
    const counts = await expected();
    expect(Number(counts[0])).toBe(Number(before[0]) + 2);
    expect(await queryCounts()).toEqual(counts);
    await app.app.get(RollupRefresher).refresh(now.getTime());
    expect(await queryCounts()).toEqual(counts);
    expect((await months())[0]).toBe(nameOf(MONTHS_KEPT));
  });

  it('drops a month whose detach was interrupted, with its rollup rows', async () => {
    const month = nameOf(4);
    const partition = `tracking_events_${month.replace('-', '_')}`;
    const [reader, detacher] = [0, 1].map(() => new pg.Client(stack.database.url)) as [pg.Client, pg.Client];
    await Promise.all([reader.connect(), detacher.connect()]);
    // Its connection is ended below.
    detacher.on('error', () => undefined);
    const isInterrupted = async () =>
      (
        await stack.database.query(
          'select from pg_inherits where inhrelid = to_regclass($1) and inhdetachpending',
          [partition],
        )
      ).length === 1;
    try {
      await reader.query(`create table ${partition} (like tracking_events including all);
        alter table tracking_events attach partition ${partition}
          for values from ('${month}-01T00:00:00Z') to ('${nameOf(3)}-01T00:00:00Z');
        insert into sorted_months (month) values ('${month}-01');
        insert into event_hours select (jsonb_populate_record(h, '{"hour": "${month}-01T00:00:00Z"}')).* from event_hours h limit 1`);
      await reader.query('begin isolation level repeatable read; select from tracking_events limit 1');
      const detaching = detacher.query(
        `alter table tracking_events detach partition ${partition} concurrently`,
      );
      detaching.catch(() => undefined);
      await waitFor(isInterrupted, 'the first step of the detach');
      await stack.database.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where query like '%${partition} concurrently%' and pid <> pg_backend_pid()`,
      );
      await expect(detaching).rejects.toThrow();
      expect(await isInterrupted()).toBe(true);
    } finally {
      await reader.end();
      await detacher.end().catch(() => undefined);
    }
    await app.app.get(MaintenanceService).maintainMonths(now.getTime());
    await expectNothingOf(month);
  });

  it('drops a month that was detached but not dropped, and no month that is kept', async () => {
    const [month, kept] = [nameOf(5), nameOf(-9)];
    const [partition, keptPartition] = [month, kept].map(
      (name) => `tracking_events_${name.replace('-', '_')}`,
    );
    await stack.database.query(`create table ${partition} partition of tracking_events
      for values from ('${month}-01T00:00:00Z') to ('${nameOf(4)}-01T00:00:00Z')`);
    await stack.database.query(`alter table tracking_events detach partition ${partition}`);
    await stack.database.query(`create table ${keptPartition} (like tracking_events including all)`);
    await stack.database.query('insert into sorted_months (month) values ($1)', [`${month}-01`]);
    await app.app.get(MaintenanceService).maintainMonths(now.getTime());
    await expectNothingOf(month);
    await stack.database.query(`drop table ${keptPartition}`);
  });

  async function expectNothingOf(month: string): Promise<void> {
    const [left] = await stack.database.query(
      `select to_regclass($1) as partition, (select count(*)::int from sorted_months where month = $2) as sorted,
         (select count(*)::int from event_hours where hour < $3) as hours`,
      [`tracking_events_${month.replace('-', '_')}`, `${month}-01`, new Date(KEPT_FROM)],
    );
    expect(left).toEqual({ partition: null, sorted: 0, hours: 0 });
  }
});
