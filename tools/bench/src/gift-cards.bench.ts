import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { AccountSetup } from '@perkway/test-fleet';
import pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { LoadGenerator } from './children.js';
import { median } from './compare.js';
import type { Fleet } from './fleet.js';
import { cpuSeconds } from './process-usage.js';
import type { Scenario } from './scenario.js';
import type { SocketLoad, SocketLoadResult } from './socket-generator.js';
import { STATEMENT_CLIENT, statementRate } from './statement-rate.js';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 4);
const POOL_CARDS = 1_000_000;
const LARGE_CARDS = 5_000_000;
const LARGE_ENTRIES = 20;
const LISTED_LINKS = Number(process.env.BENCH_LINKS ?? 5_000_000);
const IN_FLIGHT = 16;
const MANY_IN_FLIGHT = 64;
const SCHEMA = 'gift_cards';
const ACCOUNT = 'bench-account';
const LARGE_ACCOUNT = 'bench-large';
const SMALL_ACCOUNT = 'bench-small';
const LISTED_ACCOUNT = 'bench-listed';

const write = (line: string): void => void process.stdout.write(`${line}\n`);
const progress = (line: string): void => void process.stderr.write(`${line}\n`);
const whole = (value: number): string => Math.round(value).toLocaleString('en');

/** @returns 1 if missed */
function judge(what: string, ratio: number, target: number, isFine = ratio >= target): number {
  write(`${what}: ${ratio.toFixed(2)}, target ${target.toFixed(2)}: ${isFine ? 'held' : 'MISSED'}`);
  return isFine ? 0 : 1;
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, options: `-c search_path=${SCHEMA}` });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

const newPool = (fleet: Fleet, owner: string) => new AccountSetup(fleet.admin, owner).aPool();

function* csvRows(prefix: string, count: number) {
  const head = 'code,pin,denomination,currency,country\n';
  for (let from = 0; from < count; from += 1_000) {
    let text = from === 0 ? head : '';
    for (let index = from; index < Math.min(count, from + 1_000); index += 1)
      text += `GIFT-${prefix}-${index}-${(index * 7_919) % 99_991},${1_000 + (index % 9_000)},25,EUR,FR\n`;
    yield Buffer.from(text);
  }
}

const socketGenerator = () => new LoadGenerator<SocketLoad, SocketLoadResult>('socket-generator.ts');

function expected(result: SocketLoadResult): SocketLoadResult {
  if (Object.keys(result.unexpected).length > 0)
    throw new Error(`unexpected responses ${JSON.stringify(result.unexpected)}`);
  return result;
}

/** Loads cards through the API, and copies the stored rows into empty tables of the same structure. */
async function measureLoading(fleet: Fleet, pool: string): Promise<number> {
  const part = Math.ceil(POOL_CARDS / ROUNDS);
  const rates = { load: [] as number[], copy: [] as number[] };
  await withClient(fleet.databaseUrl, async (client) => {
    await client.query(`
      create table copied_cards (like cards including all);
      create table copied_free_cards (like free_cards including all)`);
    for (let round = 0; round < ROUNDS; round += 1) {
      const [{ last }] = (await client.query('select coalesce(max(id), 0) as last from cards')).rows as [
        { last: string },
      ];
      let startedAt = performance.now();
      const response = await fetch(`${fleet.urls['gift-cards']}/admin/pools/${pool}/cards`, {
        method: 'POST',
        headers: { 'x-api-key': fleet.secrets.adminKey, 'content-type': 'text/csv' },
        body: Readable.toWeb(Readable.from(csvRows(`${pool.slice(0, 8)}-${round}`, part))) as ReadableStream,
        duplex: 'half',
      } as RequestInit);
      const { imported } = (await response.json()) as { imported: number };
      if (imported !== part) throw new Error(`${imported} of ${part} cards were loaded`);
      rates.load.push(part / ((performance.now() - startedAt) / 1_000));

      const dump = async (sql: string) => Buffer.concat(await client.query(copyTo(sql)).toArray());
      const cards = await dump(`copy (select * from cards where id > ${last} order by id) to stdout`);
      const free = await dump(
        `copy (select * from free_cards where card_id > ${last} order by card_id) to stdout`,
      );
      startedAt = performance.now();
      await client.query('begin');
      await pipeline(Readable.from([cards]), client.query(copyFrom('copy copied_cards from stdin')));
      await pipeline(Readable.from([free]), client.query(copyFrom('copy copied_free_cards from stdin')));
      await client.query('commit');
      rates.copy.push(part / ((performance.now() - startedAt) / 1_000));
    }
    await client.query('drop table copied_cards, copied_free_cards');
  });
  write(
    `loading ${whole(POOL_CARDS)} cards: ${whole(median(rates.load))} rows/s; COPY of the rows as stored, into the same tables ` +
      `with their keys: ${whole(median(rates.copy))} rows/s`,
  );
  const ratio = median(rates.load.map((rate, round) => rate / rates.copy[round]!));
  return judge('loading / COPY', ratio, 0.15);
}

/**
 * Inserts cards that cannot be decrypted directly into the tables. To queries they look like a real pool of this size.
 */
async function fill(client: pg.Client, pool: string, cards: number, entries: number): Promise<number[]> {
  const { rows } = await client.query<{ id: number }>(
    `insert into inventories (pool_id, denomination, currency, country)
     select $1, n, 'EUR', 'FR' from generate_series(1, $2::integer) n returning id`,
    [pool, entries],
  );
  // Far from the ids of loaded cards.
  const [{ base }] = (await client.query('select greatest(max(id), 1e12) + 1 as base from cards')).rows as [
    { base: string },
  ];
  for (const [index, { id }] of rows.entries()) {
    progress(`filling entry ${index + 1} of ${entries}`);
    const each = cards / entries;
    await client.query(
      `with made as (
         insert into cards (id, inventory_id, code_hash, sealed)
         select $1::bigint + n, $2, gen_random_uuid(), decode(repeat('5a', 60), 'hex')
         from generate_series($3::bigint, $4) n returning id
       ), stocked as (
         insert into free_cards select $2, floor(random() * 4294967296 - 2147483648)::integer, id from made
       ) insert into inventory_counts (inventory_id, slot, loaded) select $2, 16, count(*) from made`,
      [base, id, index * each, (index + 1) * each - 1],
    );
  }
  return rows.map(({ id }) => id);
}

async function measureGenerating(fleet: Fleet, pool: string, apiKey: string): Promise<number> {
  const yardstickPool = await newPool(fleet, ACCOUNT);
  const expiresAt = Math.floor(Date.now() / 1_000) + 86_400;
  const [yardstick] = await withClient(fleet.databaseUrl, async (client) => {
    const inventories = await fill(client, yardstickPool, POOL_CARDS, 1);
    await client.query('vacuum analyze');
    return inventories;
  });
  const asFunction = `
    select * from reserve_links(jsonb_build_array(jsonb_build_object('link', gen_random_uuid(), 'account', '${ACCOUNT}',
      'pool', '${pool}', 'denomination', 25, 'currency', 'EUR', 'expires_at', ${expiresAt}, 'created_by', 'bench',
      'idempotency_key', gen_random_uuid(), 'body_digest', repeat('ab', 32), 'token_key', 'k1')), false)`;
  // Only takes a card and creates a link: no idempotency, no counters, no event. The numbers of its pool become wrong.
  const asCte = `
    with taken as (
      delete from free_cards where ctid = (
        select ctid from free_cards where inventory_id = ${yardstick}
          and pick >= (select floor(random() * 4294967296 - 2147483648)::integer)
        order by pick limit 1 for update skip locked
      ) returning card_id
    )
    insert into reward_links (id, inventory_id, card_id, account, idempotency_key, body_digest, token_key, created_by, expires_at)
    select gen_random_uuid(), ${yardstick}, card_id, '${ACCOUNT}', gen_random_uuid(), decode(repeat('ab', 32), 'hex'), 'k1',
      'bench', to_timestamp(${expiresAt}) from taken`;
  let missed = 0;
  for (const inFlight of [IN_FLIGHT, MANY_IN_FLIGHT])
    missed += await compareGenerating(fleet, pool, apiKey, { asFunction, asCte, expiresAt }, inFlight);
  return missed;
}

async function compareGenerating(
  fleet: Fleet,
  pool: string,
  apiKey: string,
  { asFunction, asCte, expiresAt }: { asFunction: string; asCte: string; expiresAt: number },
  inFlight: number,
): Promise<number> {
  const generator = socketGenerator();
  const load: Omit<SocketLoad, 'seconds'> = {
    url: fleet.urls['gift-cards'],
    method: 'POST',
    path: `/pool/${pool}/reward-links?idempotencyKey={uuid}`,
    headers: { 'x-api-key': apiKey, 'x-created-by': 'bench', 'content-type': 'application/json' },
    body: JSON.stringify({ denomination: 25, currency: 'EUR', expires_at: expiresAt }),
    expect: 201,
    connections: inFlight,
  };
  const repeat = (sql: string) =>
    statementRate({ url: fleet.databaseUrl, schema: SCHEMA, sql, clients: inFlight, seconds: SECONDS });
  const rates = { http: [] as number[], statement: [] as number[], cte: [] as number[] };
  const latencies: SocketLoadResult[] = [];
  try {
    await generator.run({ ...load, seconds: 4 });
    for (let round = 0; round < ROUNDS; round += 1) {
      const result = expected(await generator.run({ ...load, seconds: SECONDS }));
      latencies.push(result);
      rates.http.push(result.rate);
      rates.statement.push(await repeat(asFunction));
      rates.cte.push(await repeat(asCte));
    }
  } finally {
    generator.stop();
  }
  write(
    `${inFlight} in flight, a pool of ${whole(POOL_CARDS)} cards: ${whole(median(rates.http))} links/s over HTTP ` +
      `(p50 ${median(latencies.map(({ p50 }) => p50)).toFixed(1)} ms, p99 ${median(latencies.map(({ p99 }) => p99)).toFixed(1)} ms); ` +
      `${STATEMENT_CLIENT} with the same statement: ${whole(median(rates.statement))}/s, with a bare CTE: ${whole(median(rates.cte))}/s`,
  );
  const against = (reference: number[]) => median(rates.http.map((rate, round) => rate / reference[round]!));
  return (
    judge(`${inFlight} in flight: generating / the same statement`, against(rates.statement), 0.6) +
    judge(
      `${inFlight} in flight: generating / a bare CTE (no idempotency, numbers or event)`,
      against(rates.cte),
      0.6,
    )
  );
}

/** Compares generating with three limits that are never reached with generating without a limit. */
async function measureLimits(fleet: Fleet): Promise<number> {
  const owners = { without: 'bench-unlimited', with: 'bench-limited' } as const;
  const expiresAt = Math.floor(Date.now() / 1_000) + 86_400;
  const keys = { without: await fleet.account(owners.without), with: await fleet.account(owners.with) };
  for (const per of ['account', 'pool_id', 'created_by'])
    await fleet.admin('gift-cards', 'PUT', `/admin/limits/bench-${per}`, {
      owner: owners.with,
      links: 1_000_000_000,
      period: 'month',
      per,
    });
  const generator = socketGenerator();
  const samples = { without: [] as LinkCost[], with: [] as LinkCost[] };
  try {
    const loads: [keyof typeof owners, Omit<SocketLoad, 'seconds'>][] = [];
    for (const kind of ['without', 'with'] as const) {
      const pool = await newPool(fleet, owners[kind]);
      // The denomination that the requests ask for.
      await withClient(fleet.databaseUrl, async (client) => {
        const [entry] = await fill(client, pool, POOL_CARDS / 4, 1);
        await client.query('update inventories set denomination = 25 where id = $1', [entry]);
      });
      loads.push([
        kind,
        {
          url: fleet.urls['gift-cards'],
          method: 'POST',
          path: `/pool/${pool}/reward-links?idempotencyKey={uuid}`,
          headers: { 'x-api-key': keys[kind], 'x-created-by': 'bench', 'content-type': 'application/json' },
          body: JSON.stringify({ denomination: 25, currency: 'EUR', expires_at: expiresAt }),
          expect: 201,
          connections: IN_FLIGHT,
        },
      ]);
    }
    await withClient(fleet.databaseUrl, (client) => client.query('vacuum analyze'));
    for (let round = 0; round < ROUNDS; round += 1)
      for (const [kind, load] of loads) samples[kind].push(await costOfLinks(fleet, generator, load));
  } finally {
    generator.stop();
  }
  for (const [kind, costs] of Object.entries(samples))
    write(
      `${IN_FLIGHT} in flight, ${kind} three limits: ${whole(median(costs.map(({ rate }) => rate)))} links/s, CPU per link: ` +
        `app ${whole(median(costs.map(({ app }) => app)))} us, Postgres ${whole(median(costs.map(({ database }) => database)))} us`,
    );
  const ratioBy = (cost: (sample: LinkCost) => number) =>
    median(samples.with.map((sample, round) => cost(sample) / cost(samples.without[round]!)));
  const byTime = ratioBy(({ rate }) => 1 / rate);
  const byCpu = ratioBy(({ app, database }) => app + database);
  write(`cost of a link with three limits / without, by time: ${byTime.toFixed(2)}`);
  // Other processes of the machine change the time, but not the CPU time, which is unknown without /proc.
  const ratio = Number.isNaN(byCpu) ? byTime : byCpu;
  return judge('cost of a link with three limits / without, by CPU (at most)', ratio, 1.3, ratio <= 1.3);
}

/** CPU times in microseconds per link, NaN if unknown. */
interface LinkCost {
  rate: number;
  app: number;
  database: number;
}

async function costOfLinks(
  fleet: Fleet,
  generator: ReturnType<typeof socketGenerator>,
  load: Omit<SocketLoad, 'seconds'>,
): Promise<LinkCost> {
  const cpu = () => [cpuSeconds(fleet.pid('gift-cards')) ?? NaN, fleet.databaseCpuSeconds() ?? NaN] as const;
  const before = cpu();
  const { rate } = expected(await generator.run({ ...load, seconds: SECONDS }));
  const [app, database] = cpu().map((after, index) => ((after - before[index]!) / (rate * SECONDS)) * 1e6);
  return { rate, app: app!, database: database! };
}

/** Returns the median time of sequential calls in milliseconds. */
async function medianTime(call: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (const end = performance.now() + SECONDS * 500; performance.now() < end;) {
    const startedAt = performance.now();
    await call();
    times.push(performance.now() - startedAt);
  }
  return median(times);
}

async function readPools(fleet: Fleet, apiKey: string) {
  const response = await fetch(`${fleet.urls['gift-cards']}/pools`, { headers: { 'x-api-key': apiKey } });
  return (await response.json()) as {
    inventories: { available: number; reserved: number; redeemed: number }[];
  }[];
}

async function measureNumbers(fleet: Fleet, apiKey: string, smallKey: string): Promise<number> {
  const pool = await newPool(fleet, LARGE_ACCOUNT);
  return withClient(fleet.databaseUrl, async (client) => {
    const entries = await fill(client, pool, LARGE_CARDS, LARGE_ENTRIES);
    progress('reserving, revealing and expiring a fifth of them');
    for (const entry of entries)
      await client.query(
        `with taken as (
           delete from free_cards where inventory_id = $1 and pick < -1288490189 returning card_id
         ), linked as (
           insert into reward_links (id, inventory_id, card_id, account, idempotency_key, body_digest, token_key, created_by,
             expires_at, revealed_at)
           select gen_random_uuid(), $1, card_id, '${LARGE_ACCOUNT}', gen_random_uuid(), '', 'k1', 'bench',
             now() + make_interval(secs => case when card_id % 5 = 0 then -86400 else 86400 end * random()),
             case when card_id % 5 in (1, 2) then now() end
           from taken returning revealed_at
         ) insert into inventory_counts (inventory_id, slot, holding, redeemed)
           select $1, 0, count(*) filter (where revealed_at is null), count(revealed_at) from linked`,
        [entry],
      );
    await client.query('vacuum analyze');
    const due = async () =>
      Number(
        (
          await client.query(
            `select count(*) as n from reward_links l join inventories i on i.id = l.inventory_id
             where l.revealed_at is null and l.expires_at <= now() and (l.expires_at, l.id) > (i.settled_until, i.settled_link)`,
          )
        ).rows[0].n,
      );
    const settlingSince = performance.now();
    while ((await due()) >= 20 * LARGE_ENTRIES) await sleep(500);
    const settledIn = (performance.now() - settlingSince) / 1_000;

    const sum = (await readPools(fleet, apiKey))
      .flatMap(({ inventories }) => inventories)
      .reduce((all, entry) => all + entry.available + entry.reserved + entry.redeemed, 0);
    if (sum !== LARGE_CARDS) throw new Error(`the numbers add up to ${sum}`);

    const generator = socketGenerator();
    const get = async (key: string) =>
      expected(
        await generator.run({
          url: fleet.urls['gift-cards'],
          method: 'GET',
          path: '/pools',
          headers: { 'x-api-key': key },
          expect: 200,
          connections: 1,
          seconds: SECONDS / 2,
        }),
      ).p50;
    const statement = 'select * from pools_with_numbers(array(select id from pools where owner = $1))';
    const times = {
      all: [] as number[],
      one: [] as number[],
      statement: [] as number[],
      row: [] as number[],
    };
    try {
      for (let round = 0; round < ROUNDS; round += 1) {
        times.all.push(await get(apiKey));
        times.one.push(await get(smallKey));
        times.statement.push(await medianTime(() => client.query(statement, [LARGE_ACCOUNT])));
        times.row.push(await medianTime(() => client.query('select * from pools where id = $1', [pool])));
      }
    } finally {
      generator.stop();
    }
    const ms = (of: number[]) => `${median(of).toFixed(2)} ms`;
    write(
      `GET /pools over ${whole(LARGE_CARDS)} cards in ${LARGE_ENTRIES} entries: ${ms(times.all)}, of which its statement ` +
        `${ms(times.statement)}; GET /pools over one pool without cards: ${ms(times.one)}; a query for one row by its key: ` +
        `${ms(times.row)} (expired links were settled in ${settledIn.toFixed(1)} s)`,
    );
    const against = (measured: number[], reference: number[]) =>
      median(measured.map((time, round) => time / reference[round]!));
    const atMost = (what: string, ratio: number) => judge(`${what} (at most)`, ratio, 10, ratio <= 10);
    return (
      atMost('GET /pools / GET /pools that reads one row', against(times.all, times.one)) +
      atMost('its statement / one row', against(times.statement, times.row)) +
      atMost('GET /pools with all of HTTP / a bare query for one row', against(times.all, times.row))
    );
  });
}

/** Compares pages of a list of millions of links with one link by id. */
async function measureLists(fleet: Fleet, apiKey: string): Promise<number> {
  const pool = await newPool(fleet, LISTED_ACCOUNT);
  const id = await withClient(fleet.databaseUrl, async (client) => {
    const [entry] = await fill(client, pool, 0, 1);
    progress(`making ${whole(LISTED_LINKS)} links`);
    for (let from = 0; from < LISTED_LINKS; from += 500_000)
      await client.query(
        `insert into reward_links (id, inventory_id, card_id, account, idempotency_key, body_digest, token_key, created_by,
           created_at, expires_at, revealed_at, campaign_id, journey_id, reference)
         select gen_random_uuid(), $1, -n, '${LISTED_ACCOUNT}', gen_random_uuid(), '', 'k1', 'crm-' || n % 10,
           now() - n * interval '0.5 s', now() + interval '60 days', case when n % 3 = 0 then now() end,
           'campaign-' || n % 100, 'journey-' || n, 'order-' || n / 3
         from generate_series($2::integer, $3) n`,
        [entry, from, Math.min(LISTED_LINKS, from + 500_000) - 1],
      );
    await client.query('vacuum analyze reward_links');
    const { rows } = await client.query<{ id: string }>(
      `select id from reward_links where account = '${LISTED_ACCOUNT}' limit 1`,
    );
    return rows[0]!.id;
  });
  const middle = LISTED_LINKS >> 1;
  const pages = {
    'the first page': '',
    'a page of one campaign': '?campaign_id=campaign-7',
    'links of one reference': `?reference=order-${Math.floor(middle / 3)}`,
    'a page of one state and creator': '?state=REVEALED&created_by=crm-4',
  };
  const generator = socketGenerator();
  const get = async (path: string) =>
    expected(
      await generator.run({
        url: fleet.urls['gift-cards'],
        method: 'GET',
        path: `/reward-links${path}`,
        headers: { 'x-api-key': apiKey },
        expect: 200,
        connections: 1,
        seconds: SECONDS / 2,
      }),
    ).p50;
  const times: Record<string, number[]> = {};
  const one: number[] = [];
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      one.push(await get(`/${id}`));
      for (const [what, query] of Object.entries(pages)) (times[what] ??= []).push(await get(query));
    }
  } finally {
    generator.stop();
  }
  write(`${whole(LISTED_LINKS)} links; one link by id: ${median(one).toFixed(2)} ms`);
  return Object.entries(times).reduce((missed, [what, of]) => {
    const ratio = median(of.map((time, round) => time / one[round]!));
    return (
      missed +
      judge(`${what} (${median(of).toFixed(2)} ms) / one link by id (at most)`, ratio, 10, ratio <= 10)
    );
  }, 0);
}

const PARTS = {
  links: async (fleet: Fleet) => {
    const apiKey = await fleet.account(ACCOUNT);
    const pool = await newPool(fleet, ACCOUNT);
    return (await measureLoading(fleet, pool)) + (await measureGenerating(fleet, pool, apiKey));
  },
  limits: measureLimits,
  numbers: async (fleet: Fleet) => {
    const [largeKey, smallKey] = [await fleet.account(LARGE_ACCOUNT), await fleet.account(SMALL_ACCOUNT)];
    await newPool(fleet, SMALL_ACCOUNT);
    return measureNumbers(fleet, largeKey, smallKey);
  },
  lists: async (fleet: Fleet) => measureLists(fleet, await fleet.account(LISTED_ACCOUNT)),
};
/** BENCH_PARTS: parts to run, separated by commas. */
const wanted = (process.env.BENCH_PARTS?.split(',') ?? Object.keys(PARTS)) as (keyof typeof PARTS)[];

async function run(fleet: Fleet): Promise<number> {
  // The app under test runs without analytics-query, which would compete for CPU. The stream that it created remains.
  await fleet.halt('analytics-query');
  let missed = 0;
  for (const part of wanted) missed += await PARTS[part](fleet);
  return missed;
}

export const scenario: Scenario = {
  title:
    'Gift cards: loading, generating links, reading the numbers and listing links, compared with bare Postgres',
  apps: ['token-issuer', 'analytics-query', 'gift-cards'],
  run,
};
