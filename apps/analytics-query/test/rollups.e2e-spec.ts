import pg from 'pg';
import { COUNT_TRAFFIC, deriveJourneyId, type TrackingEvent } from '@perkway/domain';
import { sortMonth } from '../src/maintenance/sort-month.js';
import { RollupRefresher } from '../src/maintenance/rollup-refresher.js';
import { withMaintenanceClient } from '../src/maintenance/maintenance-connection.js';
import { rpcCaller, waitFor } from '@perkway/testing';
import {
  anAccountId,
  analyticsDatabase,
  analyticsStack,
  click,
  event,
  onOnePostgres,
  type Stack,
} from './support.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Only the tests refresh rollups, except once at the start. */
const SETTINGS = { ROLLUP_INTERVAL_MS: '3600000', UPKEEP_INTERVAL_MS: '3600000' };

const refresherOf = ({ app }: Stack) => app.app.get(RollupRefresher);

/** Pseudo-random, the same on every run. */
function numbers(seed: number) {
  let state = seed;
  return (limit: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return Math.floor((state / 0x80000000) * limit);
  };
}

describe('rollups', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await analyticsStack(SETTINGS);
  });
  afterAll(() => stack.close());

  const rawCount = async (account: string): Promise<number> => {
    const [row] = await stack.database.query<{ n: string }>(
      'select count(*) as n from tracking_events where account_id = $1',
      [account],
    );
    return Number(row!.n);
  };
  const stored = (account: string, events: number) =>
    waitFor(async () => expect(await rawCount(account)).toBe(events), `${events} events`);

  const accounts = [anAccountId(), anAccountId()] as const;
  const pick = numbers(20_261_121);
  const of = <T>(values: readonly T[]): T => values[pick(values.length)]!;
  const now = Date.now();
  /** Around the start of daylight saving time, around now, and slightly in the future. */
  const someTime = () =>
    pick(2) === 0
      ? Date.parse('2026-03-27T00:00Z') + pick(4 * DAY_MS)
      : now - 3 * DAY_MS + pick(3 * DAY_MS + 3 * HOUR_MS);
  const traffic = () =>
    of([undefined, { class: 'human', reason: 'default' }, { class: 'bot', reason: 'user-agent:x' }] as const);
  const perk = () => `perk-${pick(4)}`;

  function someEvent(account: string): TrackingEvent {
    const at = someTime();
    const campaign = `campaign-${pick(3)}`;
    const journey = pick(4) ? `j-${pick(5)}` : deriveJourneyId(campaign);
    switch (pick(7)) {
      case 0:
        return event({
          type: 'perk_view',
          account,
          at,
          collection: 'main',
          perks: Array.from({ length: pick(4) }, perk),
          traffic: traffic(),
        });
      case 1:
        return click(account, { at, perk: perk(), traffic: traffic() });
      case 2:
        return event({
          type: 'teaser_view',
          account,
          at,
          campaign,
          journey,
          channel: 'outreach',
          traffic: traffic(),
        });
      case 3:
        return event({
          type: 'reward_link',
          account,
          at,
          state: of(['generated', 'revealed', 'cancelled', 'expired'] as const),
          pool: 'pool',
          denomination: 25,
          currency: 'EUR',
          createdBy: 'ann',
          ...(pick(3) ? { campaign, journey } : {}),
        });
      case 4:
        return event({
          type: 'reward_view',
          account,
          at,
          campaign,
          journey,
          channel: 'journey',
          traffic: traffic(),
        });
      case 5:
        return event({
          type: 'incentive_click',
          account,
          at,
          campaign,
          journey,
          perk: perk(),
          channel: 'outreach',
          traffic: traffic(),
        });
      default:
        return event({
          type: 'conversion',
          account,
          at,
          campaign,
          journey,
          value: pick(2) ? pick(1_000) / 100 : undefined,
        });
    }
  }

  const CUBES = {
    perk_views: {
      type: 'perk_view',
      measures: ['count', 'count_people'],
      dimensions: ['perk_id', 'perk_title'],
    },
    perk_clicks: {
      type: 'perk_click',
      measures: ['count', 'count_people'],
      dimensions: ['perk_id', 'perk_title'],
    },
    teaser_views: {
      type: 'teaser_view',
      measures: ['count', 'count_people'],
      dimensions: ['campaign_id', 'campaign_name'],
    },
    conversions: {
      type: 'conversion',
      measures: ['count', 'value'],
      dimensions: ['campaign_id', 'campaign_name'],
    },
    reward_views: {
      type: 'reward_view',
      measures: ['count', 'count_people'],
      dimensions: ['campaign_id', 'campaign_name'],
    },
    incentive_clicks: {
      type: 'incentive_click',
      measures: ['count', 'count_people'],
      dimensions: ['campaign_id', 'campaign_name', 'perk_id'],
    },
    reward_links: {
      type: 'reward_link',
      measures: ['count'],
      dimensions: ['campaign_id', 'campaign_name', 'state'],
    },
    campaign_funnel: {
      type: undefined,
      measures: [
        'journeys',
        'teaser_viewers',
        'reward_viewers',
        'clickers',
        'converters',
        'gift_recipients',
        'gift_openers',
        'gift_only_recipients',
        'events_without_journey',
      ],
      dimensions: ['campaign_id', 'campaign_name'],
    },
  } as const;
  const DERIVED = `(e.campaign_id, e.journey_id) in (values ${[0, 1, 2]
    .map((each) => `('campaign-${each}', '${deriveJourneyId(`campaign-${each}`)}')`)
    .join(', ')})`;
  const OF_FUNNEL = `e.type in ('teaser_view', 'reward_view', 'incentive_click', 'conversion', 'reward_link')
    and e.journey_id <> '' and coalesce(e.traffic_class, 'human') = 'human' and coalesce(e.state, '') not in ('cancelled', 'expired')`;
  const didOf = (condition: string) =>
    `count(distinct e.journey_id) filter (where ${condition} and not ${DERIVED})`;
  const FUNNEL: Record<string, string> = {
    journeys: didOf('true'),
    teaser_viewers: didOf("e.type = 'teaser_view'"),
    reward_viewers: didOf("e.type = 'reward_view'"),
    clickers: didOf("e.type = 'incentive_click'"),
    converters: didOf("e.type = 'conversion'"),
    gift_recipients: didOf("e.state = 'generated'"),
    gift_openers: didOf("e.state = 'revealed'"),
    gift_only_recipients: `(select count(*) from (
      select unnest(array_agg(e.journey_id) filter (where e.state = 'generated' and not ${DERIVED}))
      except select unnest(array_agg(e.journey_id) filter (where coalesce(e.state, '') <> 'generated'))) x)`,
    events_without_journey: `count(*) filter (where ${DERIVED})`,
  };
  const MEASURES: Record<string, string> = {
    count: 'count(*)',
    count_people: "count(*) filter (where coalesce(e.traffic_class, 'human') = 'human')",
    value: 'sum(e.value)',
    journeys: 'count(distinct e.journey_id)',
  };
  const SHOWN: Record<string, string> = {
    count: 'coalesce(sum(cardinality(e.perk_ids)), 0)',
    count_people:
      "coalesce(sum(case when coalesce(e.traffic_class, 'human') = 'human' then cardinality(e.perk_ids) end), 0)",
  };
  const DIMENSIONS: Record<string, string> = {
    perk_id: 'p.id',
    state: 'e.state',
    perk_title: 'n.title',
    campaign_id: 'e.campaign_id',
    campaign_name: 'c.name',
  };

  /** Start of an interval, in different SQL than the model's. */
  const startSql = (granularity: string, local: string): string => {
    if (granularity === 'quarter_hour')
      return `to_timestamp(floor(extract(epoch from ${local}) / 900) * 900) at time zone 'UTC'`;
    if (granularity === 'week_from_sunday')
      return `${local}::date - extract(dow from ${local})::int + time '00:00'`;
    return `date_trunc('${granularity}', ${local})`;
  };

  /** Returns a random query, and an equivalent plain SQL over raw rows. */
  function someQuery(account: string) {
    const name = of(Object.keys(CUBES)) as keyof typeof CUBES;
    const cube = CUBES[name];
    const measures: string[] =
      !['perk_views', 'perk_clicks', 'campaign_funnel'].includes(name) && pick(3) === 0
        ? ['journeys']
        : cube.measures.filter((_, index) => index === 0 || pick(2) === 0);
    const dimensions = cube.dimensions.filter(() => pick(3) === 0);
    const timezone = of([
      'UTC',
      'Europe/Berlin',
      'America/New_York',
      'Asia/Kathmandu',
      'Australia/Lord_Howe',
    ]);
    const granularity = of([undefined, 'quarter_hour', 'hour', 'day', 'week', 'week_from_sunday', 'month']);
    const from = someTime();
    const stamps = [from, from + pick(3 * DAY_MS)].map((at) => new Date(at).toISOString().slice(0, -1));
    const dateRange =
      pick(3) === 0 ? undefined : pick(2) ? stamps : [stamps[0]!.slice(0, 10), stamps[1]!.slice(0, 10)];
    const filtered = dimensions.length > 0 && pick(3) === 0 ? dimensions[0]! : undefined;
    const ofPeople = !['reward_links', 'campaign_funnel'].includes(name) && pick(4) === 0;
    const query = {
      measures: measures.map((each) => `${name}.${each}`),
      dimensions: dimensions.map((each) => `${name}.${each}`),
      timeDimensions: [{ dimension: `${name}.occurred_at`, granularity, dateRange }],
      filters: filtered ? [{ member: `${name}.${filtered}`, operator: 'contains', values: ['1'] }] : [],
      ...(ofPeople ? { segments: [`${name}.people`] } : {}),
      timezone,
      limit: 50_000,
    };
    const usesPerks = dimensions.some((each) => each.startsWith('perk'));
    const groups = [
      ...dimensions.map((each) => DIMENSIONS[each]!),
      ...(granularity ? [startSql(granularity, `(e.occurred_at at time zone '${timezone}')`)] : []),
    ];
    const measureSql = (measure: string) =>
      name === 'campaign_funnel'
        ? FUNNEL[measure]!
        : name === 'perk_views' && !usesPerks
          ? SHOWN[measure]!
          : MEASURES[measure]!;
    const end = dateRange?.[1]!.length === 10 ? `${dateRange[1]}T23:59:59.999` : dateRange?.[1];
    const sql = `
      select ${[...groups, ...measures.map(measureSql)].map((each) => `(${each})::text`).join(', ')}
      from tracking_events e
      left join campaign_names c on c.account_id = e.account_id and c.campaign_id = e.campaign_id
      ${
        usesPerks
          ? `cross join lateral unnest(coalesce(e.perk_ids, array[e.perk_id])) as p (id)
             left join perk_names n on n.perk_id = p.id`
          : ''
      }
      where e.account_id = '${account}' and ${cube.type ? `e.type = '${cube.type}'` : OF_FUNNEL}
      ${dateRange ? `and e.occurred_at >= '${dateRange[0]}'::timestamp at time zone '${timezone}' and e.occurred_at <= '${end}'::timestamp at time zone '${timezone}'` : ''}
      ${filtered ? `and ${DIMENSIONS[filtered]} like '%1%'` : ''}
      ${ofPeople ? "and (e.traffic_class is null or e.traffic_class = 'human')" : ''}
      ${groups.length > 0 ? `group by ${groups.map((_, index) => index + 1).join(', ')}` : ''}`;
    const keys = [
      ...query.dimensions,
      ...(granularity ? [`${name}.occurred_at.${granularity}`] : []),
      ...query.measures,
    ];
    return { query, sql, keys };
  }

  const asNumber = (value: unknown): unknown =>
    typeof value === 'string' && /^\d+(\.\d+)?$/.test(value) ? Number(value) : value;
  const asTime = (value: unknown): unknown =>
    typeof value === 'string' && /^\d{4}-\d\d-\d\d[ T]/.test(value)
      ? value.replace(' ', 'T').slice(0, 19)
      : value;
  const sorted = (rows: unknown[][]) =>
    rows.map((row) => JSON.stringify(row.map((value) => asNumber(asTime(value))))).sort();

  async function compare(times: number) {
    const client = new pg.Client({ connectionString: stack.database.url });
    await client.connect();
    try {
      for (let time = 0; time < times; time += 1) {
        const { query, sql, keys } = someQuery(of(accounts));
        const account = /account_id = '([^']+)'/.exec(sql)![1]!;
        const { status, body } = await stack.as(account).load(query);
        expect([status, body.error]).toEqual([200, undefined]);
        const { rows } = await client.query<unknown[]>({ text: sql, rowMode: 'array' });
        expect({ query, rows: sorted(body.data.map((row) => keys.map((key) => row[key]))) }).toEqual({
          query,
          rows: sorted(rows),
        });
      }
    } finally {
      await client.end();
    }
  }

  it('give the same results as raw rows, with late, duplicate and rolled-back batches, whatever was refreshed', async () => {
    const refresher = refresherOf(stack);
    await stack.publisher.events(
      ...[0, 1, 2].map((each) =>
        event({
          type: 'perk_named',
          account: '',
          perk: `perk-${each}`,
          title: `Title ${each % 2}`,
          partner: 'p',
        }),
      ),
      // Two campaigns with one name: a journey in both counts once for the name.
      ...accounts.flatMap((account) =>
        ['campaign-1', 'campaign-2'].map((campaign) =>
          event({ type: 'campaign_named', account, campaign, name: 'Spring 1' }),
        ),
      ),
    );
    const counts = new Map<string, number>(accounts.map((account) => [account, 0]));
    let clock = now;
    for (let round = 0; round < 12; round += 1) {
      const batch = accounts.flatMap((account) =>
        Array.from({ length: 20 + pick(30) }, () => someEvent(account)),
      );
      for (const { account } of batch) counts.set(account, counts.get(account)! + 1);
      const publishing = Promise.all([
        stack.publisher.events(...batch),
        stack.publisher.events(...batch.slice(10)),
      ]);
      if (pick(2)) {
        clock += pick(3) * HOUR_MS;
        await refresher.refresh(clock);
      }
      await publishing;
      for (const account of accounts) await stored(account, counts.get(account)!);
      await rolledBack(of(accounts));
      await compare(6);
      await refresher.refresh(clock);
      const [{ marks }] = (await stack.database.query(
        'select count(*)::int as marks from dirty_hours where hour < (select closed_to from rollup_state)',
      )) as [{ marks: number }];
      expect(marks).toBe(0);
      await compare(6);
    }
    const [{ rows }] = (await stack.database.query('select count(*)::int as rows from event_hours')) as [
      { rows: number },
    ];
    expect(rows).toBeGreaterThan(100);
  });

  /** A writer that dies before its commit. */
  async function rolledBack(account: string) {
    const client = new pg.Client({ connectionString: stack.database.url });
    await client.connect();
    await client.query('begin; select pg_advisory_xact_lock_shared(7271003)');
    const at = new Date(now);
    await client.query(
      `insert into dirty_hours (account_id, hour) values ($1, date_trunc('hour', $2::timestamptz))`,
      [account, at],
    );
    await client.query(
      `insert into tracking_events (account_id, occurred_at, id, type) values ($1, $2, 'gone', 'perk_click')`,
      [account, at],
    );
    await client.query('rollback');
    await client.end();
  }

  it('are not read for a dirty hour after an hour with very many marks', async () => {
    const account = anAccountId();
    const refresher = refresherOf(stack);
    const hours = ['2026-03-05T10:00:00.000Z', '2026-03-05T12:00:00.000Z'];
    await stack.publisher.events(...hours.map((at) => click(account, { at: Date.parse(at) })));
    await stored(account, 2);
    await refresher.refresh(now);
    await stack.publisher.events(click(account, { at: Date.parse(hours[1]!) + 1 }));
    await stored(account, 3);
    // Replaces the mark by those that 1,500 batches for the first hour would leave. They precede the second hour's mark.
    await stack.database.query('delete from dirty_hours where account_id = $1', [account]);
    await stack.database.query(
      `insert into dirty_hours (account_id, hour)
       select $1, hour from (
         select 1 as place, $2::timestamptz as hour from generate_series(1, 1500) union all select 2, $3) m
       order by place`,
      [account, ...hours],
    );
    const { body } = await stack.as(account).load({
      measures: ['perk_clicks.count'],
      timeDimensions: [{ dimension: 'perk_clicks.occurred_at', dateRange: ['2026-03-05', '2026-03-05'] }],
    });
    expect(body.data).toEqual([{ 'perk_clicks.count': '3' }]);
    await refresher.refresh(now);
  });

  it('are the traffic of accounts, together with the events since the last closed hour', async () => {
    const account = anAccountId();
    const { rpc, close } = await rpcCaller(stack.nats.url);
    try {
      const { from, to, dayTo } = await rpc.request(COUNT_TRAFFIC, {});
      expect([to - from, to - dayTo]).toEqual([14 * DAY_MS, HOUR_MS]);
      const middle = to - 7 * DAY_MS;
      const times = [from - 1, from, middle - 1, middle, to - HOUR_MS];
      await stack.publisher.events(...times.map((at) => click(account, { at })));
      await stored(account, times.length);
      const counted = async () =>
        (await rpc.request(COUNT_TRAFFIC, {})).accounts.find((of) => of.account === account);
      await refresherOf(stack).refresh(Date.now());
      const weeks = { account, events: 2, eventsBefore: 2 };
      expect(await counted()).toEqual({ ...weeks, dayEvents: 0, dayEventsBefore: 0, lastAt: times.at(-1) });
      const days = [dayTo - 2 * DAY_MS - 1, dayTo - 2 * DAY_MS, dayTo - DAY_MS, dayTo - 1, dayTo + 1];
      await stack.publisher.events(...days.map((at) => click(account, { at })));
      await stored(account, times.length + days.length);
      await refresherOf(stack).refresh(Date.now());
      expect(await counted()).toEqual({
        account,
        events: 7,
        eventsBefore: 2,
        dayEvents: 2,
        dayEventsBefore: 1,
        // Exact, not the hour of a rollup row.
        lastAt: dayTo + 1,
      });
    } finally {
      await close();
    }
  });

  it('are refreshed with a longer statement timeout than that of requests', async () => {
    const limits = await withMaintenanceClient(stack.database.url, async (client) => {
      const { rows } = await client.query<{ own: string; role: string }>(
        `select current_setting('statement_timeout') as own,
           (select array_to_string(setconfig, ',') from pg_db_role_setting
            where setrole = 'analytics'::regrole and setdatabase = 0) as role`,
      );
      return rows[0]!;
    });
    expect(limits).toEqual({ own: '30min', role: expect.stringContaining('statement_timeout=5000') });
  });

  onOnePostgres('stay correct while a month is sorted and late events arrive', async () => {
    const account = anAccountId();
    const at = () => Date.parse('2026-03-01T00:00Z') + pick(31 * DAY_MS);
    await bringIntoOrder(account, '2026-03', at);
    const order = await stack.database.query<{ occurred_at: Date }>(
      `select occurred_at from tracking_events_2026_03 where account_id = $1 order by ctid limit 400`,
      [account],
    );
    const times = order.map(({ occurred_at: time }) => time.getTime());
    // All rows are in order except those of hours that were copied again; in order of arrival, every second row would
    // not be.
    const outOfOrder = times.filter((time, index) => index > 0 && time < times[index - 1]!);
    expect(outOfOrder.length).toBeLessThan(100);
    await compare(10);
  });

  onOnePostgres('stay correct while the current month is sorted', async () => {
    // Closed hours, open hours, and hours that are closed while the month is copied.
    const start = Math.max(Date.parse(`${new Date(now).toISOString().slice(0, 7)}-01T00:00Z`), now - DAY_MS);
    const at = () => start + pick(now - start);
    await bringIntoOrder(anAccountId(), new Date(now).toISOString().slice(0, 7), at);
    await compare(10);
  });

  /** Publishes 500 events and 40 late ones, some of which arrive while the month is copied. */
  async function bringIntoOrder(account: string, month: string, at: () => number) {
    await stack.publisher.events(...Array.from({ length: 500 }, () => click(account, { at: at() })));
    await stored(account, 500);
    await refresherOf(stack).refresh(now - 3 * HOUR_MS);
    const late = Array.from({ length: 40 }, () => click(account, { at: at() }));
    await withMaintenanceClient(stack.database.url, async (client) => {
      await client.query('select pg_advisory_lock(7271004)');
      const sorting = sortMonth(client, month);
      for (const [index, each] of late.entries()) {
        await stack.publisher.events(each);
        if (index === 10) await refresherOf(stack).refresh(now);
      }
      expect(await sorting).toBe(true);
    });
    await stored(account, 540);
    expect(await stack.as(account).count('perk_clicks.count')).toBe(540);
    await refresherOf(stack).refresh(now);
    expect(await stack.as(account).count('perk_clicks.count')).toBe(540);
  }
});

describe('the rollup watermark', () => {
  const at = (time: string): number => Date.parse(`2026-02-${time}Z`);
  const rows = (table: string, grain: string, account: string) =>
    stack.database.query<{ start: Date; events: string }>(
      `select ${grain} as start, events::text from ${table} where account_id = $1 order by 1`,
      [account],
    );
  const hoursOf = (account: string) => rows('event_hours', 'hour', account);
  const daysOf = (account: string) => rows('perk_days', 'day', account);
  const row = (time: string, events: string) => ({ start: new Date(at(time)), events });

  let stack: Stack;
  beforeAll(async () => {
    stack = await analyticsStack(SETTINGS);
    await waitFor(
      async () =>
        expect(
          await stack.database.query('select from rollup_state where closed_to > $1', [
            new Date(at('28T00:00')),
          ]),
        ).toHaveLength(1),
      'the first refresh',
    );
  });
  afterAll(() => stack.close());

  /** Sets the watermark. */
  const closeTo = (time: string) =>
    stack.database.query('update rollup_state set closed_to = $1, closing_to = $1', [new Date(at(time))]);
  const store = async (account: string, times: string[]) => {
    await stack.publisher.events(...times.map((time) => click(account, { at: at(time) })));
    await waitFor(
      async () =>
        expect(
          await stack.database.query(
            'select from tracking_events where account_id = $1 and occurred_at = any($2::timestamptz[])',
            [account, times.map((time) => new Date(at(time)).toISOString())],
          ),
        ).toHaveLength(times.length),
      'the events',
    );
  };

  it('counts an event exactly on the hour once, in the hour that it starts, which closes five minutes after its end', async () => {
    const account = anAccountId();
    const refresher = refresherOf(stack);
    await closeTo('10T09:00');
    await store(account, ['10T10:59:59.999', '10T11:00', '10T11:59:59.999', '10T12:00']);
    await refresher.refresh(at('10T11:05'));
    expect(await hoursOf(account)).toEqual([row('10T10:00', '1')]);
    await refresher.refresh(at('10T12:04:59.999'));
    expect(await hoursOf(account)).toEqual([row('10T10:00', '1')]);
    await refresher.refresh(at('10T12:05'));
    expect(await hoursOf(account)).toEqual([row('10T10:00', '1'), row('10T11:00', '2')]);
    await refresher.refresh(at('10T13:05'));
    expect(await hoursOf(account)).toEqual([
      row('10T10:00', '1'),
      row('10T11:00', '2'),
      row('10T12:00', '1'),
    ]);
    const { body } = await stack.as(account).load({
      measures: ['perk_clicks.count'],
      timeDimensions: [
        { dimension: 'perk_clicks.occurred_at', granularity: 'hour', dateRange: '2026-02-10' },
      ],
    });
    expect(body.data.map((row) => row['perk_clicks.count'])).toEqual(['1', '2', '1']);
  });

  it('adds a day to its rollup when it is closed, even if one of its hours was dirty before', async () => {
    const account = anAccountId();
    const refresher = refresherOf(stack);
    await closeTo('12T12:00');
    // Late for a closed hour of the day, exactly on the hour, and at midnight; 18:45 is the next day in time zones with
    // half-hour offsets.
    await store(account, ['12T00:00', '12T10:00', '12T13:00', '12T18:45', '13T00:00']);
    await refresher.refresh(at('12T12:10'));
    expect(await hoursOf(account)).toEqual([row('12T00:00', '1'), row('12T10:00', '1')]);
    expect(await daysOf(account)).toEqual([]);
    await refresher.refresh(at('13T00:05'));
    expect(await daysOf(account)).toEqual([row('12T00:00', '4')]);
    // A dirty hour of yesterday recomputes yesterday, and nothing of today.
    await store(account, ['12T23:59:59.999']);
    await refresher.refresh(at('13T00:06'));
    expect(await daysOf(account)).toEqual([row('12T00:00', '5')]);
    await refresher.refresh(at('14T00:05'));
    expect(await daysOf(account)).toEqual([row('12T00:00', '5'), row('13T00:00', '1')]);
    expect(await stack.as(account).count('perk_clicks.count')).toBe(6);
    for (const timezone of ['UTC', 'Asia/Kolkata', 'America/New_York', 'Pacific/Apia']) {
      const query = {
        measures: ['perk_clicks.count'],
        timeDimensions: [{ dimension: 'perk_clicks.occurred_at', granularity: 'day' }],
        timezone,
      };
      const byPerk = await stack.as(account).load({ ...query, dimensions: ['perk_clicks.perk_id'] });
      const whole = await stack.as(account).load(query);
      // Journeys are in no rollup, so this query reads raw rows.
      const raw = await stack
        .as(account)
        .load({ ...query, measures: ['perk_clicks.count', 'perk_clicks.journeys'] });
      const counts = ({ body }: typeof raw) =>
        body.data.map((row) => [row['perk_clicks.occurred_at'], row['perk_clicks.count']]);
      expect(counts(byPerk)).toEqual(counts(raw));
      expect(counts(whole)).toEqual(counts(raw));
    }
  });

  it('computes no rollup rows of an hour that is announced but not closed', async () => {
    const account = anAccountId();
    await closeTo('16T09:00');
    await stack.database.query(`update rollup_state set closing_to = $1`, [new Date(at('16T10:00'))]);
    // Another process is closing its hour, so the mark stays until then.
    await store(account, ['16T09:00']);
    expect(
      await stack.database.query('select from dirty_hours where account_id = $1', [account]),
    ).toHaveLength(1);
    await refresherOf(stack).refresh(at('16T10:04'));
    expect(await hoursOf(account)).toEqual([row('16T09:00', '1')]);
    expect(
      await stack.database.query('select from dirty_hours where account_id = $1', [account]),
    ).toHaveLength(0);
  });
});

describe('the shared lock of writers', () => {
  /**
   * Runs a writer that has stored its event but not committed when the hour is closed. With `withLock` false, the lock
   * function does nothing, and the writer's statements stay the same.
   */
  async function countAfterClosing(withLock: boolean): Promise<{ counted: number; stored: number }> {
    const database = await analyticsDatabase();
    if (!withLock) {
      await database.query(
        'create function pg_advisory_xact_lock_shared(bigint) returns void language sql as $$ select $$',
      );
      const [{ name }] = (await database.query('select current_database() as name')) as [{ name: string }];
      await database.query(
        `alter role analytics in database ${name} set search_path = analytics, pg_catalog`,
      );
    }
    const stack = await analyticsStack(SETTINGS, async () => database);
    const blocker = new pg.Client({ connectionString: database.urls.admin });
    try {
      const account = anAccountId();
      // Wait until the app's own first refresh is over.
      await waitFor(async () => {
        const [{ closed }] = (await database.query(
          "select closed_to = closing_to and closed_to > now() - interval '3 hours' as closed from rollup_state",
        )) as [{ closed: boolean }];
        expect(closed).toBe(true);
      }, 'the first refresh');
      await blocker.connect();
      await blocker.query('begin; lock table analytics.campaign_names in access exclusive mode');
      await stack.publisher.events(
        click(account),
        event({ type: 'campaign_named', account, campaign: 'spring', name: 'Spring' }),
      );
      const waiting = (kind: string) => async () => {
        const rows = await database.query(
          'select from pg_locks where not granted and locktype = $1 and database = (select oid from pg_database where datname = current_database())',
          [kind],
        );
        expect(rows.length).toBeGreaterThan(0);
      };
      // The event is stored, and its transaction waits for the names.
      await waitFor(waiting('relation'), 'a waiting transaction');
      const closing = refresherOf(stack).refresh(Date.now() + 3 * HOUR_MS);
      if (withLock) await waitFor(waiting('advisory'), 'a waiting refresh');
      else await closing;
      await blocker.query('commit');
      await closing;
      const stored = async () => {
        const [{ n }] = (await database.query('select count(*)::int as n from tracking_events')) as [
          { n: number },
        ];
        return n;
      };
      await waitFor(async () => expect(await stored()).toBe(1), '1 event');
      return { counted: await stack.as(account).count('perk_clicks.count'), stored: await stored() };
    } finally {
      await blocker.end();
      await stack.close();
    }
  }

  it('makes the closing of an hour wait for events in open transactions', async () => {
    expect(await countAfterClosing(true)).toEqual({ counted: 1, stored: 1 });
  });

  it('is necessary: without it the event is missed', async () => {
    expect(await countAfterClosing(false)).toEqual({ counted: 0, stored: 1 });
  });
});
