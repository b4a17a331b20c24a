import { request as httpRequest } from 'node:http';
import { waitFor } from '@perkway/testing';
import pg from 'pg';
import { anAccountId, analyticsStack, click, event, type Stack } from './support.js';

let stack: Stack;
beforeAll(async () => {
  stack = await analyticsStack({ QUERY_TIMEOUT_MS: '5000' });
});
afterAll(() => stack.close());

/** Rows that are copied inside the database: many, and of no interest. */
const fill = async (account: string, events: number) => {
  await stack.publisher.events(click(account));
  await waitFor(async () => expect(await stack.as(account).count('perk_clicks.count')).toBe(1), '1 of them');
  await stack.database.query(
    `insert into tracking_events (account_id, occurred_at, id, type, perk_id, journey_id)
     select $1, now() - n * interval '1 ms', 'n-' || n, 'perk_click', 'perk', 'journey-' || n from generate_series(1, $2::int) n`,
    [account, events - 1],
  );
};
const QUERY = { dimensions: ['perk_clicks.journey_id', 'perk_clicks.perk_id'], limit: 50_000 };

describe('large answers', () => {
  const account = anAccountId();
  beforeAll(() => fill(account, 30_000));

  it('are whole, in every form', async () => {
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

  it('are refused where the limits of one request add up to too much, with the limit', async () => {
    const queries = Array.from({ length: 50 }, () => ({
      measures: ['perk_clicks.count'],
      timeDimensions: [{ dimension: 'perk_clicks.occurred_at', granularity: 'day' }],
      limit: 50_000,
    }));
    const { status, body } = await stack.as(account).load(queries, 'multi');
    expect({ status, error: body.error }).toEqual({
      status: 400,
      error: 'The queries of one request may ask for at most 250000 rows together: give them smaller limits',
    });
    const few = await stack.as(account).load(queries.slice(0, 5), 'multi');
    expect([few.status, few.body.error]).toEqual([200, undefined]);
  });
});

describe('a client that hangs up', () => {
  it('ends its query', async () => {
    const account = anAccountId();
    await stack.publisher.events(click(account));
    await waitFor(
      async () => expect(await stack.as(account).count('perk_clicks.count')).toBe(1),
      '1 of them',
    );
    const blocked = async () =>
      (
        await stack.database.query(
          `select from pg_stat_activity where datname = current_database() and application_name = 'analytics-query-reader' and wait_event_type = 'Lock'`,
        )
      ).length;
    const lock = stack.database.query(
      `begin; lock table tracking_events in access exclusive mode; select pg_sleep(3); commit`,
    );
    const { token } = stack.as(account);
    const query = encodeURIComponent(JSON.stringify({ measures: ['perk_clicks.count'] }));
    // To be torn before the answer.
    const waiting = httpRequest(`${stack.app.url}/cubejs-api/v1/load?query=${query}`, {
      headers: { authorization: token },
    });
    waiting.on('error', () => undefined);
    waiting.end();
    await waitFor(async () => expect(await blocked()).toBe(1), '1 of them');
    waiting.destroy();
    // Long before the lock is given up.
    await waitFor(async () => expect(await blocked()).toBe(0), '0 of them', 2_000);
    await lock;
    expect(await stack.as(account).count('perk_clicks.count')).toBe(1);
  });
});

describe('equal queries at the same time', () => {
  it('share one run', async () => {
    const account = anAccountId();
    await stack.publisher.events(click(account));
    await waitFor(
      async () => expect(await stack.as(account).count('perk_clicks.count')).toBe(1),
      '1 of them',
    );
    const lock = stack.database.query(
      `begin; lock table tracking_events in access exclusive mode; select pg_sleep(1); commit`,
    );
    const asked = Array.from({ length: 20 }, () =>
      stack.as(account).load({ measures: ['perk_clicks.count'] }),
    );
    await waitFor(async () => {
      const rows = await stack.database.query(
        `select from pg_stat_activity where datname = current_database() and application_name = 'analytics-query-reader' and wait_event_type = 'Lock'`,
      );
      expect(rows).toHaveLength(1);
    }, 'one query that waits');
    await lock;
    const answers = await Promise.all(asked);
    expect(new Set(answers.map(({ body }) => JSON.stringify(body.data)))).toEqual(
      new Set([JSON.stringify([{ 'perk_clicks.count': '1' }])]),
    );
    expect(new Set(answers.map(({ body }) => body.lastRefreshTime as string)).size).toBe(1);
  });
});

describe('queries that are only looked at', () => {
  it('hold no more connections than those that are answered: another account goes on', async () => {
    const [account, other] = [anAccountId(), anAccountId()];
    const blocker = new pg.Client(stack.database.urls.admin);
    await blocker.connect();
    try {
      await blocker.query('begin');
      await blocker.query('lock table analytics.attribute_names in access exclusive mode');
      const asked = Array.from({ length: 40 }, (_, index) =>
        stack
          .as(account)
          .post('/cubejs-api/v1/dry-run', { query: { dimensions: [`perk_clicks.cmeta_n${index}`] } }),
      );
      await waitFor(async () => {
        const rows = await stack.database.query(
          `select from pg_stat_activity where datname = current_database() and application_name = 'analytics-query-reader' and wait_event_type = 'Lock'`,
        );
        expect(rows.length).toBeGreaterThan(0);
      }, 'those that wait');
      const { status, body } = await stack.as(other).load({ measures: ['perk_clicks.count'] });
      expect([status, body.error]).toEqual([200, undefined]);
      await blocker.query('rollback');
      // Nobody has used these attributes.
      for (const answer of await Promise.all(asked)) expect([400, 429]).toContain(answer.status);
    } finally {
      await blocker.end();
    }
  });
});

describe('attribute names', () => {
  it('are found by their key when there are more than are listed, those of keyed calls listed first', async () => {
    const account = anAccountId();
    const names = (from: number) =>
      Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`flood-${from + index}`, 'x']));
    await stack.publisher.events(
      ...[0, 500, 1_000, 1_500, 2_000].map((from) => click(account, { cmeta: names(from) })),
    );
    await waitFor(
      async () => expect(await stack.as(account).count('perk_clicks.count')).toBe(5),
      '5 of them',
    );
    await stack.publisher.events(
      click(account, { cmeta: { 'left-out': 'found', plain: 'too' } }),
      event({ type: 'perk_view', account, collection: 'main', perks: ['a'], cmeta: { 'from-key': 'yes' } }),
    );
    await waitFor(
      async () => expect(await stack.as(account).count('perk_clicks.count')).toBe(6),
      '6 of them',
    );
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
    expect(listed).toHaveLength(1_000);
    expect(listed).toContain('perk_clicks.cmeta_from_key');
  });

  it('that are new are in the next answer, also of a query that was answered before', async () => {
    const account = anAccountId();
    const names = ['user-id', 'user_id', 'last'];
    for (const [at, name] of names.entries()) {
      await stack.publisher.events(click(account, { cmeta: { [name]: 'x' } }));
      await waitFor(
        async () => expect(await stack.as(account).count('perk_clicks.count')).toBe(at + 1),
        `${at + 1} of them`,
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
