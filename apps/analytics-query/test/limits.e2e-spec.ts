import { request as httpRequest } from 'node:http';
import { isStored } from '@perkway/domain';
import { waitFor } from '@perkway/testing';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { SharedResponses } from '../src/api/shared-responses.js';
import { AttributeNames } from '../src/ingest/attribute-names.js';
import { AccountModels } from '../src/reader/account-models.js';
import { anAccountId, analyticsStack, click, event, onOnePostgres, type Stack } from './support.js';

let stack: Stack;
beforeAll(async () => {
  // Queries that a test blocks end when the test lets them, also on a busy machine.
  stack = await analyticsStack({ QUERY_TIMEOUT_MS: '120000' });
});
afterAll(() => stack.close());

/** Copies rows inside the database, to have many. */
const fill = async (account: string, events: number) => {
  await stack.publisher.events(click(account));
  await waitFor(async () => expect(await stack.as(account).count('perk_clicks.count')).toBe(1), '1 event');
  await stack.database.query(
    `insert into tracking_events (account_id, occurred_at, id, type, perk_id, journey_id)
     select $1, now() - n * interval '1 ms', 'n-' || n, 'perk_click', 'perk', 'journey-' || n from generate_series(1, $2::int) n`,
    [account, events - 1],
  );
};
const QUERY = { dimensions: ['perk_clicks.journey_id', 'perk_clicks.perk_id'], limit: 50_000 };

describe('large responses', () => {
  const account = anAccountId();
  beforeAll(() => fill(account, 30_000));

  it('are complete in every format', async () => {
    const { body } = await stack.as(account).load(QUERY);
    expect(body.data).toHaveLength(30_000);
    expect(new Set(body.data.map((row) => row['perk_clicks.journey_id'])).size).toBe(30_000);
    const compact = await stack.as(account).load({ ...QUERY, responseFormat: 'compact' });
    expect((compact.body.data as unknown as { dataset: unknown[] }).dataset).toHaveLength(30_000);
    const columnar = await stack.as(account).load({ ...QUERY, responseFormat: 'columnar' });
    const { members, columns } = columnar.body.data as unknown as { members: string[]; columns: unknown[][] };
    expect(members).toEqual(QUERY.dimensions);
    expect(columns.map(({ length }) => length)).toEqual([30_000, 30_000]);
  });

  it('are rejected if the limits of one request add up to too much', async () => {
    const queries = Array.from({ length: 50 }, () => ({
      measures: ['perk_clicks.count'],
      timeDimensions: [{ dimension: 'perk_clicks.occurred_at', granularity: 'day' }],
      limit: 50_000,
    }));
    const { status, body } = await stack.as(account).load(queries, 'multi');
    expect({ status, error: body.error }).toEqual({
      status: 400,
      error: 'The queries of one request may ask for at most 250000 rows in total: use smaller limits',
    });
    const few = await stack.as(account).load(queries.slice(0, 5), 'multi');
    expect([few.status, few.body.error]).toEqual([200, undefined]);
  });
});

describe('a client that disconnects', () => {
  it('cancels its query', async () => {
    const account = anAccountId();
    await stack.publisher.events(click(account));
    await waitFor(async () => expect(await stack.as(account).count('perk_clicks.count')).toBe(1), '1 event');
    const blocked = async () =>
      (
        await stack.database.query(
          `select from pg_stat_activity where datname = current_database() and application_name = 'analytics-query-reader' and wait_event_type = 'Lock'`,
        )
      ).length;
    const locker = new pg.Client(stack.database.urls.admin);
    await locker.connect();
    await locker.query('begin; lock table analytics.tracking_events in access exclusive mode');
    const { token } = stack.as(account);
    const query = encodeURIComponent(JSON.stringify({ measures: ['perk_clicks.count'] }));
    // Closed before the response.
    const waiting = httpRequest(`${stack.app.url}/cubejs-api/v1/load?query=${query}`, {
      headers: { authorization: token },
    });
    waiting.on('error', () => undefined);
    waiting.end();
    try {
      await waitFor(async () => expect(await blocked()).toBe(1), '1 blocked query');
      waiting.destroy();
      await waitFor(async () => expect(await blocked()).toBe(0), 'no blocked query');
    } finally {
      await locker.query('rollback');
      await locker.end();
    }
    expect(await stack.as(account).count('perk_clicks.count')).toBe(1);
  });
});

describe('equal concurrent queries', () => {
  it('share one run', async () => {
    const account = anAccountId();
    await stack.publisher.events(click(account));
    await waitFor(async () => expect(await stack.as(account).count('perk_clicks.count')).toBe(1), '1 event');
    const locker = new pg.Client(stack.database.urls.admin);
    await locker.connect();
    await locker.query('begin; lock table analytics.tracking_events in access exclusive mode');
    const joined = jest.spyOn(SharedResponses.prototype, 'get');
    const requested = Array.from({ length: 20 }, () =>
      stack.as(account).load({ measures: ['perk_clicks.count'] }),
    );
    await waitFor(async () => {
      const rows = await stack.database.query(
        `select from pg_stat_activity where datname = current_database() and application_name = 'analytics-query-reader' and wait_event_type = 'Lock'`,
      );
      expect([joined.mock.calls.length, rows.length]).toEqual([20, 1]);
    }, 'one waiting query for 20 requests').finally(() => {
      joined.mockRestore();
      return locker.end();
    });
    const responses = await Promise.all(requested);
    expect(new Set(responses.map(({ body }) => JSON.stringify(body.data)))).toEqual(
      new Set([JSON.stringify([{ 'perk_clicks.count': '1' }])]),
    );
    expect(new Set(responses.map(({ body }) => body.lastRefreshTime as string)).size).toBe(1);
  });
});

describe('a query that waits for the swap of a month', () => {
  onOnePostgres('counts the rows that were copied in the transaction of the swap', async () => {
    const account = anAccountId();
    await stack.publisher.events(click(account));
    await waitFor(async () => expect(await stack.as(account).count('perk_clicks.count')).toBe(1), '1 event');
    const swap = new pg.Client(stack.database.urls.admin);
    await swap.connect();
    try {
      await swap.query(`begin; lock table only analytics.tracking_events in access exclusive mode;
        insert into analytics.tracking_events (account_id, occurred_at, id, type) values ('${account}', now(), 'copied', 'perk_click')`);
      const requested = stack.as(account).count('perk_clicks.count');
      await waitFor(async () => {
        const rows = await stack.database.query(
          `select from pg_stat_activity where datname = current_database() and application_name = 'analytics-query-reader' and wait_event_type = 'Lock'`,
        );
        expect(rows).toHaveLength(1);
      }, 'the waiting query');
      await swap.query('commit');
      expect(await requested).toBe(2);
    } finally {
      await swap.end();
    }
  });
});

describe('dry-run queries', () => {
  it('use no more connections than real ones, so that another account can query', async () => {
    const [account, other] = [anAccountId(), anAccountId()];
    const blocker = new pg.Client(stack.database.urls.admin);
    await blocker.connect();
    try {
      await blocker.query('begin');
      await blocker.query('lock table analytics.attribute_names in access exclusive mode');
      const requested = Array.from({ length: 40 }, (_, index) =>
        stack
          .as(account)
          .post('/cubejs-api/v1/dry-run', { query: { dimensions: [`perk_clicks.cmeta_n${index}`] } }),
      );
      await waitFor(async () => {
        const rows = await stack.database.query(
          `select from pg_stat_activity where datname = current_database() and application_name = 'analytics-query-reader' and wait_event_type = 'Lock'`,
        );
        expect(rows.length).toBeGreaterThan(0);
      }, 'the blocked queries');
      const { status, body } = await stack.as(other).load({ measures: ['perk_clicks.count'] });
      expect([status, body.error]).toEqual([200, undefined]);
      await blocker.query('rollback');
      // No event has these attributes.
      for (const response of await Promise.all(requested)) expect([400, 429]).toContain(response.status);
    } finally {
      await blocker.end();
    }
  });
});

describe('three accounts that query at the same time', () => {
  /** Returns false without a verdict if the machine was too slow for the times below. */
  const query = async (): Promise<boolean> => {
    const shared = await analyticsStack({ READER_POOL_SIZE: '6', QUERY_CONCURRENCY: '6' });
    const [heavy, other, active] = [anAccountId(), anAccountId(), anAccountId()];
    const read = (account: string, dimension: string) =>
      shared.as(account).load({ dimensions: [`perk_clicks.${dimension}`], limit: 7 });
    const blocked = async () => {
      const [row] = await shared.database.query<{ queries: number; shortest: number }>(
        `select count(*)::int as queries,
           coalesce(extract(epoch from clock_timestamp() - max(xact_start)), 0)::float as shortest
         from pg_stat_activity
         where datname = current_database() and application_name = 'analytics-query-reader' and wait_event_type = 'Lock'`,
      );
      return row!;
    };
    const untilBlocked = (queries: number, seconds: number) =>
      waitFor(async () => {
        const now = await blocked();
        expect(now.queries).toBe(queries);
        expect(now.shortest).toBeGreaterThan(seconds);
      }, `${queries} queries that are blocked for ${seconds} s`);
    const blocker = new pg.Client(shared.database.urls.admin);
    await blocker.connect();
    try {
      await shared.publisher.events(click(heavy), click(other), click(active));
      await waitFor(
        async () => expect(await shared.as(active).count('perk_clicks.count')).toBe(1),
        'the events',
      );
      // Only one month: every transaction locks the whole table for a moment.
      const [stored] = await shared.database.query<{ month: string }>(
        'select tableoid::regclass::text as month from tracking_events limit 1',
      );
      await blocker.query(`begin; lock table analytics.${stored!.month} in access exclusive mode`);
      const requested = ['journey_id', 'perk_id', 'collection_id'].map((name) => read(heavy, name));
      await untilBlocked(3, 0);
      requested.push(...['utm_source', 'utm_medium', 'utm_campaign'].map((name) => read(heavy, name)));
      // Leads to the longest cooldown. The heavy account gets no more than half of the connections.
      await untilBlocked(3, 2.5);
      // The second request uses no database, so it is certainly a small query.
      for (let call = 0; call < 3; call += 1)
        expect((await shared.as(active).get('/cubejs-api/v1/meta')).status).toBe(200);
      const sentAt = performance.now();
      let blockedMs = 0;
      const ofOther = read(other, 'journey_id').finally(() => (blockedMs = performance.now() - sentAt));
      requested.push(ofOther);
      // Long enough to make this a heavy query, but too short for a cooldown, which follows 1 s of heavy queries.
      await untilBlocked(4, 0.05);
      const cooledFrom = performance.now();
      await blocker.query('rollback');
      for (const { status } of await Promise.all(requested)) expect(status).toBe(200);

      let isCooling = true;
      const cooling = read(heavy, 'journey_id').finally(() => (isCooling = false));
      for (let call = 0; call < 3; call += 1) expect((await read(other, 'journey_id')).status).toBe(200);
      const wasCooling = isCooling;
      // The cooldown of the heavy account takes 5 s.
      const isInTime = blockedMs < 900 && performance.now() - cooledFrom < 4_500;
      expect((await cooling).status).toBe(200);
      if (isInTime) expect(wasCooling).toBe(true);
      return isInTime;
    } finally {
      await blocker.end();
      await shared.close();
    }
  };

  onOnePostgres('wait neither for the connections nor for the cooldown of each other', async () => {
    let isInTime = false;
    for (let attempt = 1; !isInTime && attempt <= 5; attempt += 1) isInTime = await query();
    expect(isInTime).toBe(true);
  });
});

describe('/v1/meta', () => {
  it('is built once for all requests of an account', async () => {
    const account = anAccountId();
    const get = async () => (await stack.as(account).get('/cubejs-api/v1/meta')).body.cubes as unknown;
    const modelOf = jest.spyOn(stack.app.app.get(AccountModels), 'modelOf');
    try {
      const first = await get();
      expect(await get()).toEqual(first);
      expect(modelOf).toHaveBeenCalledTimes(1);
    } finally {
      modelOf.mockRestore();
    }
  });
});

describe('attribute names', () => {
  it('work in queries even if /v1/meta does not list them, and those of keyed calls are listed first', async () => {
    const account = anAccountId();
    const names = (from: number) =>
      Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`flood-${from + index}`, 'x']));
    await stack.publisher.events(
      ...[0, 500, 1_000, 1_500, 2_000].map((from) => click(account, { cmeta: names(from) })),
    );
    await waitFor(async () => expect(await stack.as(account).count('perk_clicks.count')).toBe(5), '5 events');
    await stack.publisher.events(
      click(account, { cmeta: { 'left-out': 'found', plain: 'too' } }),
      event({ type: 'perk_view', account, collection: 'main', perks: ['a'], cmeta: { 'from-key': 'yes' } }),
    );
    await waitFor(async () => expect(await stack.as(account).count('perk_clicks.count')).toBe(6), '6 events');
    const [{ kept }] = (await stack.database.query(
      'select count(*)::int as kept from attribute_names where account_id = $1',
      [account],
    )) as [{ kept: number }];
    expect(kept).toBe(2_001);
    for (const [member, value] of [
      ['cmeta_left_out', 'found'],
      ['cmeta_plain', 'too'],
    ]) {
      const { body } = await stack.as(account).load({
        measures: ['perk_clicks.count'],
        filters: [{ member: `perk_clicks.${member}`, operator: 'equals', values: [value] }],
      });
      expect(body.data).toEqual([{ 'perk_clicks.count': '1' }]);
    }
    const { body } = await stack.as(account).get('/cubejs-api/v1/meta');
    const clicks = (body.cubes as { name: string; dimensions: { name: string }[] }[]).find(
      ({ name }) => name === 'perk_clicks',
    )!;
    const listed = clicks.dimensions.map(({ name }) => name).filter((name) => name.includes('.cmeta_'));
    // The name of the keyed call, and a few of the names that anyone can make up.
    expect(listed).toHaveLength(51);
    expect(listed).toContain('perk_clicks.cmeta_from_key');
  });

  it('never deadlock replicas that find the same new names in calls with and without a key', async () => {
    const dataSource = stack.app.app.get(DataSource);
    for (let round = 0; round < 50; round += 1) {
      const account = anAccountId();
      const batchOf = (keyed: string, unkeyed: string) =>
        [
          event({ type: 'perk_view', account, collection: 'main', perks: ['a'], cmeta: { [keyed]: 'x' } }),
          click(account, { cmeta: { [unkeyed]: 'x' } }),
        ].filter(isStored);
      await Promise.all(
        [batchOf('z', 'a'), batchOf('a', 'z')].map((batch) => {
          const names = new AttributeNames();
          return dataSource.transaction((manager) => names.keep(manager, names.unknownNames(batch)));
        }),
      );
      expect(
        await stack.database.query(
          'select name, keyed from attribute_names where account_id = $1 order by 1',
          [account],
        ),
      ).toEqual([
        { name: 'a', keyed: true },
        { name: 'z', keyed: true },
      ]);
    }
  });

  it('are limited for calls with public keys as they are for clicks', async () => {
    const account = anAccountId();
    const cmeta = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`made-up-${index}`, 'x']));
    const browser = { traffic: { class: 'human', reason: 'browser' } } as const;
    await stack.publisher.events(
      event({
        type: 'teaser_view',
        account,
        campaign: 'c',
        journey: 'j',
        channel: 'journey',
        cmeta,
        ...browser,
      }),
    );
    await waitFor(
      async () => expect(await stack.as(account).count('teaser_views.count')).toBe(1),
      'the event',
    );
    const { body } = await stack.as(account).get('/cubejs-api/v1/meta?extended');
    expect((JSON.stringify(body).match(/"teaser_views\.cmeta_made_up/g) ?? []).length).toBe(50);
  });

  it('work in the next query after they first occur, even if that query ran before', async () => {
    const account = anAccountId();
    const names = ['user-id', 'user_id', 'last'];
    for (const [at, name] of names.entries()) {
      await stack.publisher.events(click(account, { cmeta: { [name]: 'x' } }));
      await waitFor(
        async () => expect(await stack.as(account).count('perk_clicks.count')).toBe(at + 1),
        `${at + 1} events`,
      );
      const { body } = await stack.as(account).load({
        measures: ['perk_clicks.count'],
        filters: [{ member: 'perk_clicks.cmeta_user_id', operator: 'equals', values: ['x'] }],
      });
      expect(body.data).toEqual([{ 'perk_clicks.count': String(Math.min(at + 1, 2)) }]);
      const last = await stack.as(account).load({ dimensions: ['perk_clicks.cmeta_last'] });
      expect(last.status).toBe(name === 'last' ? 200 : 400);
    }
  });
});

describe('the rate limit of an account', () => {
  it('is sent in headers, and rejects further requests of that account until the next second', async () => {
    const limited = await analyticsStack({ RATE_LIMIT_PER_ACCOUNT: '4' });
    try {
      const [account, other] = [anAccountId(), anAccountId()];
      const path = '/cubejs-api/v1/meta?onlyViews=true';
      const { headers } = await limited.as(account).get(path);
      expect(headers).toMatchObject({ 'ratelimit-limit': '4', 'ratelimit-reset': '1' });
      expect(Number(headers['ratelimit-remaining'])).toBe(3);
      // A slow machine takes several seconds for them.
      const responses = await Promise.all(Array.from({ length: 100 }, () => limited.as(account).get(path)));
      const refused = responses.filter(({ status }) => status === 429);
      expect(refused.length).toBeGreaterThan(0);
      expect(refused[0]!.headers).toMatchObject({ 'ratelimit-remaining': '0', 'retry-after': '1' });
      expect(typeof refused[0]!.body.error).toBe('string');
      expect((await limited.as(other).get(path)).status).toBe(200);
      await waitFor(
        async () => expect((await limited.as(account).get(path)).status).toBe(200),
        'the next second',
      );
    } finally {
      await limited.close();
    }
  });
});
