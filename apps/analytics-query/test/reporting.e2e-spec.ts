import { deriveJourneyId, REPORTING, type TrackingEvent } from '@perkway/domain';
import { rolePassword } from '@perkway/fleet';
import { provisionDatabase, startPostgres, type LocalServer } from '@perkway/local-servers';
import { runNode, waitFor, type TestDatabase } from '@perkway/testing';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { CUBES } from '../src/model/cubes.js';
import { ReportingGuard } from '../src/reporting/reporting-guard.js';
import { anAccountId, analyticsStack, event, migrate, type Stack } from './support.js';

const folder = mkdtempSync(join(tmpdir(), 'perkway-reporting-'));
const logFile = join(folder, 'postgres.log');
const account = anAccountId();
const other = anAccountId();
const DAY_MS = 86_400_000;
const FROM = Date.parse('2026-03-26T00:00Z');

let server: LocalServer;
let adminUrl: string;
let stack: Stack;

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  // A test may have it terminated.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}
const sendRequest = async (url: string, sql: string): Promise<unknown[][]> =>
  withClient(url, async (client) => (await client.query<unknown[]>({ text: sql, rowMode: 'array' })).rows);

const inDatabase = (url: string, database: string): string =>
  Object.assign(new URL(url), { pathname: `/${database}` }).href;

/** With passwords, and an owner that is not a superuser, as in managed databases. */
async function managedDatabase(): Promise<TestDatabase> {
  const url = new URL(server.url);
  await sendRequest(server.url, `create role owner login createrole password 'owner'`);
  await sendRequest(server.url, 'create database perkway owner owner');
  adminUrl = Object.assign(new URL(url), { username: 'owner', password: 'owner', pathname: '/perkway' }).href;
  const urls = await provisionDatabase(adminUrl, {
    database: 'perkway',
    passwordOf: rolePassword('top secret'),
  });
  await migrate(urls.apps['analytics-query']);
  const pool = new pg.Pool({
    connectionString: Object.assign(new URL(url), { pathname: '/perkway' }).href,
    options: '-c search_path=analytics',
  });
  return {
    url: urls.apps['analytics-query'],
    readerUrl: urls.reader,
    urls,
    query: async (sql, params) => (await pool.query(sql, params)).rows,
    close: () => pool.end(),
  };
}

/** Runs the command like an operator. */
const commandBy = (DATABASE_ADMIN_URL: string, ...args: string[]) =>
  runNode(['--import', 'tsx', 'tools/perkway/src/reporting-role.ts', ...args], {
    env: { DATABASE_ADMIN_URL },
  });
const command = (...args: string[]) => commandBy(adminUrl, ...args);
async function roleFor(of: string, operatorUrl = adminUrl): Promise<string> {
  const { exitCode, output } = await commandBy(operatorUrl, of);
  const url = /^postgres:\S+$/m.exec(output)?.[0];
  expect({ exitCode, url }).toEqual({ exitCode: 0, url: expect.any(String) });
  // Nothing else, except for the sentence for operators without superuser rights.
  const sentences = output.split('\n').filter((line) => line !== '' && line !== url);
  expect(sentences).toEqual(
    operatorUrl === adminUrl
      ? [
          expect.stringContaining(
            `Until a superuser runs the SQL of docs/bi-tools.md for ${new URL(url!).username}, `,
          ),
        ]
      : [],
  );
  return url!;
}

/** Pseudo-random, the same on every run. */
let state = 20_261_122;
const pick = (limit: number): number => {
  state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
  return Math.floor((state / 0x80000000) * limit);
};
const of = <T>(values: readonly T[]): T => values[pick(values.length)]!;
const some = <T>(values: readonly T[]): T[] => values.filter(() => pick(3) === 0);

function someEvent(owner: string): TrackingEvent {
  const campaign = `campaign-${pick(3)}`;
  const common = {
    account: owner,
    at: FROM + pick(6 * DAY_MS),
    utm: pick(2) ? { utm_source: of(['mail', 'app']) } : undefined,
    cmeta: { plan: of(['basic', 'gold']), 'not-a-number': `secret of ${owner}` },
  };
  const traffic = of([
    undefined,
    { class: 'human', reason: 'default' },
    { class: 'bot', reason: 'user-agent:x' },
  ] as const);
  const journey = pick(4) ? `j-${pick(6)}` : deriveJourneyId(campaign);
  const perk = `perk-${pick(4)}`;
  const type = of([
    'perk_view',
    'perk_click',
    'teaser_view',
    'reward_view',
    'incentive_click',
    'conversion',
    'reward_link',
  ] as const);
  const drafts: Record<typeof type, object> = {
    perk_view: {
      collection: 'main',
      perks: Array.from({ length: pick(4) }, (_, index) => `perk-${index}`),
    },
    perk_click: { collection: 'main', perk, journey, traffic },
    teaser_view: { campaign, journey, channel: 'outreach', traffic },
    reward_view: { campaign, journey, channel: 'journey', traffic },
    incentive_click: { campaign, journey, channel: 'outreach', perk, traffic },
    conversion: { campaign, journey, value: pick(2) ? pick(1_000) / 100 : undefined, currency: 'EUR' },
    reward_link: {
      state: of(['generated', 'revealed', 'cancelled', 'expired']),
      pool: 'pool',
      denomination: 25,
      currency: 'EUR',
      createdBy: 'ann',
      ...(pick(3) ? { campaign, journey } : {}),
    },
  };
  const draft: object = { ...common, type, ...drafts[type] };
  return event(draft as Parameters<typeof event>[0]);
}

beforeAll(async () => {
  server = await startPostgres({
    port: 0,
    dataDir: join(folder, 'data'),
    superuserPassword: 'top secret',
    durable: false,
    logFile,
    dieWithParent: true,
  });
  stack = await analyticsStack({}, managedDatabase);
  const events = [account, other].flatMap((owner) => [
    event({ type: 'campaign_named', account: owner, campaign: 'campaign-1', name: `Spring of ${owner}` }),
    ...Array.from({ length: 300 }, () => someEvent(owner)),
  ]);
  await stack.publisher.events(
    event({ type: 'perk_named', account: '', perk: 'perk-1', title: 'Coffee', partner: 'partner' }),
    ...events,
  );
  await waitFor(async () => {
    const [row] = await stack.database.query<{ n: number }>('select count(*)::int as n from tracking_events');
    expect(row!.n).toBe(600);
  }, 'all events');
});
afterAll(async () => {
  await stack?.close();
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe('a reporting role', () => {
  let url: string;
  beforeAll(async () => {
    url = await roleFor(account);
  });
  const sql = (text: string) => sendRequest(url, text);
  const refused = (text: string) => expect(sql(text)).rejects.toThrow(/permission denied|must be/);

  it('counts the same as the query host, for any slice', async () => {
    const analytics = stack.as(account);
    let compared = 0;
    for (let round = 0; round < 60; round += 1) {
      const cube = of(CUBES);
      const measures = some(
        Object.keys(cube.measures).filter(
          (name) => !cube.measures[name]!.rate && !cube.measures[name]!.hasOnlyBit,
        ),
      );
      if (measures.length === 0) continue;
      const dimensions = some(
        Object.keys(cube.dimensions).filter((name) => !['occurred_at', 'cmeta'].includes(name)),
      ).slice(0, 2);
      const timezone = of(['UTC', 'Europe/Berlin', 'Australia/Lord_Howe']);
      const granularity = of([undefined, 'hour', 'day']);
      const dateRange = [FROM + pick(2 * DAY_MS), FROM + 3 * DAY_MS].map((at) =>
        new Date(at).toISOString().slice(0, -1),
      );
      const query = {
        measures: measures.map((name) => `${cube.name}.${name}`),
        dimensions: dimensions.map((name) => `${cube.name}.${name}`),
        timeDimensions: [{ dimension: `${cube.name}.occurred_at`, granularity, dateRange }],
        timezone,
        limit: 50_000,
      };
      const { status, body } = await analytics.load(query);
      expect([status, body.error]).toEqual([200, undefined]);
      const groups = [
        ...dimensions,
        ...(granularity
          ? [
              `to_char(date_trunc('${granularity}', occurred_at at time zone '${timezone}'), 'YYYY-MM-DD"T"HH24:MI:SS.000')`,
            ]
          : []),
      ];
      const aggregates = measures.map((name) => {
        const { aggType } = cube.measures[name]!;
        if (aggType === 'countDistinct') return `count(distinct ${name})`;
        return aggType === 'count' ? `coalesce(sum(${name}), 0)` : `sum(${name})`;
      });
      const [from, to] = dateRange.map((stamp) => `timestamp '${stamp}' at time zone '${timezone}'`);
      const rows = await sql(
        `select ${[...groups, ...aggregates].map((each) => `(${each})::text`).join(', ')} from ${cube.name}
         where occurred_at >= ${from} and occurred_at <= ${to}
         ${groups.length > 0 ? `group by ${groups.map((_, index) => index + 1).join(', ')}` : ''}`,
      );
      const keys = [
        ...query.dimensions,
        ...(granularity ? [`${cube.name}.occurred_at.${granularity}`] : []),
        ...query.measures,
      ];
      const lines = (table: unknown[][]) => table.map((row) => JSON.stringify(row)).sort();
      expect({ query, rows: lines(rows) }).toEqual({
        query,
        rows: lines(body.data.map((row) => keys.map((key) => row[key]))),
      });
      compared += rows.length;
    }
    expect(compared).toBeGreaterThan(100);
  });

  it('has the attributes as JSON, and uses an index', async () => {
    const plans = await sql(`select cmeta->>'plan', count(*) from perk_clicks group by 1 order by 1`);
    expect(plans.map(([plan]) => plan)).toEqual(['basic', 'gold']);
    const plan = await sql(
      `explain select sum(count) from perk_clicks where occurred_at >= '2026-03-27Z' and occurred_at < '2026-03-28Z'`,
    );
    expect(plan.flat().join('\n')).toMatch(/Index Cond: .*account_id.*occurred_at >=/);
  });

  it('sees no other account, whatever it tries', async () => {
    const theirs = await roleFor(other);
    for (const { name } of CUBES) {
      const [[mine], [all]] = await Promise.all([
        sql(`select count(*)::int from ${name}`),
        sendRequest(
          Object.assign(new URL(server.url), { pathname: '/perkway' }).href,
          `select count(*)::int from reporting.${name}`,
        ),
      ]);
      expect(mine![0]).toBeGreaterThan(0);
      // A superuser has no account, either.
      expect(all![0]).toBe(0);
    }
    // An error raised by a condition must only contain the account's own values.
    const error = await sql(`select count(*) from perk_clicks where (cmeta->>'not-a-number')::int = 1`).catch(
      (reason: Error) => reason.message,
    );
    expect(error).toContain(`secret of ${account}`);
    expect(
      await sql(
        `select count(*)::int from perk_clicks where case when cmeta->>'not-a-number' like '%${other}%' then 1 / (length(cmeta::text) - length(cmeta::text)) else 0 end = 0`,
      ),
    ).not.toEqual([[0]]);
    await refused('select * from analytics.tracking_events');
    await refused('select * from analytics.campaign_names');
    await refused(`select * from ${REPORTING.roles}`);
    await refused(`begin read write; insert into ${REPORTING.roles} values ('x', session_user)`);
    for (const role of ['analytics', 'analytics_reader', REPORTING.group, new URL(theirs).username, 'owner'])
      await refused(`set role ${role}`);
    await refused(`set session authorization ${new URL(theirs).username}`);
    expect(
      await sql(
        `select set_config('perkway.account_id', '${other}', false), (select count(*)::int from perk_clicks where campaign_id is null and cmeta->>'not-a-number' like '%${other}%')`,
      ).catch((reason: Error) => reason.message),
    ).toMatch(/campaign_id/);
    for (const catalogue of ['pg_stats', 'pg_stats_ext'])
      expect(
        await sql(`select * from ${catalogue} where schemaname in ('analytics', 'reporting')`),
      ).toHaveLength(0);
    await refused('select * from pg_statistic');
    await refused('select * from pg_authid');
    // Names, comments and running statements reveal nothing about another account.
    for (const catalogue of [
      'pg_roles',
      'pg_namespace',
      'pg_views',
      'pg_description',
      'pg_shdescription',
      'pg_stat_activity',
    ])
      expect((await sql(`select c::text from ${catalogue} c`)).flat().join()).not.toContain(other);
  });

  it('can only read', async () => {
    for (const statement of [
      'create temp table mine (id int)',
      'create table reporting.mine (id int)',
      'create table public.mine (id int)',
      'create schema mine',
      'insert into perk_clicks (count) values (1)',
      'delete from perk_clicks',
      'drop view perk_clicks',
      `create function reporting.leak(text) returns boolean cost 0.0001 language sql as 'select true'`,
      `copy perk_clicks to '/tmp/mine'`,
    ])
      await expect(sql(`begin read write; ${statement}; commit`)).rejects.toThrow(
        /permission denied|must be owner|cannot (insert|delete|copy)/,
      );
  });

  it('has its sessions terminated at the time limit, even if it lifts its own timeout', async () => {
    expect(await sql('show statement_timeout')).toEqual([['30s']]);
    await expect(sql(`set statement_timeout = 100; select pg_sleep(20)`)).rejects.toThrow(
      /statement timeout/,
    );
    const guard = stack.app.app.get(ReportingGuard);
    const ended = sql(`set statement_timeout = 0; select pg_sleep(30)`).catch(
      (reason: Error) => reason.message,
    );
    await waitFor(async () => expect(await guard.endSessions(100)).toBe(1), 'a terminated session');
    expect(await ended).toMatch(/terminating connection/);
    // A lock that could block ingest.
    await withClient(url, async (client) => {
      await client.query('select pg_advisory_lock(7271003)');
      await waitFor(
        () => expect(client.query('select 1')).rejects.toThrow(/terminat|not queryable|closed/),
        'the end of the session',
      );
    });
    // A session within the limits is left alone.
    await withClient(url, async (client) => {
      await client.query('begin');
      expect(await guard.endSessions()).toBe(0);
      await client.query('select 1');
    });
  });

  it('has its sessions in other databases terminated, if the database lets it connect', async () => {
    const guard = stack.app.app.get(ReportingGuard);
    for (const database of ['postgres', 'template1'])
      await withClient(inDatabase(url, database), async (client) => {
        await client.query('select 1');
        await guard.endSessions();
        await expect(client.query('select 1')).rejects.toThrow(/terminat|not queryable|closed/);
      });
  });

  it('gets a new password and its default settings when it is created again', async () => {
    const { username } = new URL(url);
    await sql(`begin read write; alter role ${username} set statement_timeout = 0; commit`);
    expect(await sql('show statement_timeout')).toEqual([['0']]);
    const file = join(folder, 'url');
    const { exitCode, output } = await command(account, '--file', file);
    expect({ exitCode, output }).toEqual({
      exitCode: 0,
      output: expect.stringContaining(`Written to ${file}.\n`),
    });
    await expect(sql('select 1')).rejects.toThrow(/password authentication failed/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    url = readFileSync(file, 'utf8').trim();
    expect(new URL(url).username).toBe(username);
    expect(await sql('show statement_timeout')).toEqual([['30s']]);
    expect(readFileSync(logFile, 'utf8')).not.toContain(new URL(url).password);
  });

  it('keeps working while the views are recreated', async () => {
    await stack.database.query(`comment on view reporting.perk_clicks is 'of an older release'`);
    const before = await sql('select count(*) from perk_clicks');
    await migrate(stack.database.url);
    expect(await sql('select count(*) from perk_clicks')).toEqual(before);
    const [row] = await stack.database.query<{ comment: string }>(
      `select obj_description('reporting.perk_clicks'::regclass) as comment`,
    );
    expect(row!.comment).toMatch(/^[0-9a-f]{64}$/);
  });

  it('can be dropped while in use, and created again', async () => {
    const { username } = new URL(url);
    await withClient(url, async () => {
      expect(await command(account, '--drop')).toEqual({ exitCode: 0, output: 'The role was dropped.\n' });
    });
    await expect(sql('select 1')).rejects.toThrow(/password authentication failed/);
    expect(await command(account, '--drop')).toEqual({ exitCode: 0, output: 'The account has no role.\n' });
    url = await roleFor(account);
    expect(new URL(url).username).not.toBe(username);
    expect(await sql('select count(*) > 0 from perk_clicks')).toEqual([[true]]);
  });
});

async function expectTempFileLimit(url: string): Promise<void> {
  expect(await sendRequest(url, 'show temp_file_limit')).toEqual([['1GB']]);
  await expect(sendRequest(url, 'set temp_file_limit = -1')).rejects.toThrow(/permission denied/);
}

it('cannot connect to other databases or write if a superuser creates the role', async () => {
  const url = await roleFor(anAccountId(), inDatabase(server.url, 'perkway'));
  expect(await sendRequest(url, 'select count(*) from perk_clicks')).toEqual([['0']]);
  for (const database of ['postgres', 'template1'])
    await expect(sendRequest(inDatabase(url, database), 'select 1')).rejects.toThrow(
      /permission denied for database/,
    );
  for (const statement of [
    `select pg_logical_emit_message(false, 'a', 'b')`,
    'select lo_create(0)',
    'create temp table mine (id int)',
  ])
    await expect(sendRequest(url, `begin read write; ${statement}; commit`)).rejects.toThrow(
      /permission denied/,
    );
  await expectTempFileLimit(url);
});

it('cannot do so either after a superuser runs the SQL of docs/bi-tools.md', async () => {
  const superuserUrl = inDatabase(server.url, 'perkway');
  await sendRequest(
    superuserUrl,
    `grant connect on database postgres, template1 to public;
     grant execute on function lo_create(oid), pg_logical_emit_message(boolean, text, text, boolean) to public`,
  );
  const url = await roleFor(anAccountId());
  const emit = `begin read write; select pg_logical_emit_message(false, 'a', 'b'); commit`;
  await sendRequest(url, emit);
  const page = readFileSync('docs/bi-tools.md', 'utf8');
  const [, documented] = /let a superuser run.*?```sql\n(.*?)```/s.exec(page)!;
  await sendRequest(superuserUrl, documented!.replace('<role>', new URL(url).username));
  await expect(sendRequest(url, emit)).rejects.toThrow(/permission denied/);
  await expect(sendRequest(url, 'begin read write; select lo_create(0); commit')).rejects.toThrow(
    /permission denied/,
  );
  for (const database of ['postgres', 'template1'])
    await expect(sendRequest(inDatabase(url, database), 'select 1')).rejects.toThrow(/permission denied/);
  await expectTempFileLimit(url);
});

it('reports what is missing', async () => {
  expect(await command('not an account')).toEqual({
    exitCode: 1,
    output: expect.stringContaining('Give one account'),
  });
  await sendRequest(adminUrl, 'select 1');
  const empty = await runNode(['--import', 'tsx', 'tools/perkway/src/reporting-role.ts', account], {
    env: { DATABASE_ADMIN_URL: server.url },
  });
  expect(empty).toEqual({ exitCode: 1, output: expect.stringContaining('Run `perkway provision`') });
});
