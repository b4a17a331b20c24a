import { once } from 'node:events';
import { ADVISORY_LOCKS } from '@perkway/domain';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import {
  accounts,
  ATTRIBUTES,
  campaigns,
  COPY_COLUMNS,
  copyLines,
  MARK,
  perks,
  planMonths,
  type MonthPlan,
  type SeedPlan,
} from './synthetic-events.js';

const WORKERS = 2;

export class SeedError extends Error {}

export interface SeedOptions {
  /** Connects as the owner of the schema, or as a superuser. */
  databaseUrl: string;
  plan: SeedPlan;
  onProgress: (events: number) => void;
}

const connect = async (databaseUrl: string): Promise<pg.Client> => {
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: 'seed-events',
    connectionTimeoutMillis: 10_000,
    options: '-c search_path=analytics -c synchronous_commit=off -c maintenance_work_mem=256MB',
  });
  await client.connect();
  // The app must own the new partitions.
  await client.query('set role analytics');
  return client;
};

/**
 * Fills a migrated event store. Each month is one transaction, and existing months are skipped, so an interrupted run
 * can be continued.
 * @returns the number of events added
 */
export async function seed({ databaseUrl, plan, onProgress }: SeedOptions): Promise<number> {
  const client = await connect(databaseUrl);
  try {
    const agreed = await agreePlan(client, plan);
    await keepNames(client, agreed);
    const months = planMonths(agreed);
    const waiting = [...months];
    let added = 0;
    const worker = async () => {
      const own = await connect(databaseUrl);
      try {
        for (let month = waiting.shift(); month; month = waiting.shift()) {
          const ofMonth = await seedMonth(own, month, agreed, onProgress);
          added += ofMonth;
        }
      } finally {
        await own.end();
      }
    };
    await Promise.all(Array.from({ length: WORKERS }, worker));
    return added;
  } finally {
    await client.end();
  }
}

/** Reads the stored plan of an earlier run, or stores this one, so that repeated runs produce the same hours. */
async function agreePlan(client: pg.Client, plan: SeedPlan): Promise<SeedPlan> {
  await client.query(
    'create table if not exists synthetic_events (events bigint not null, seed bigint not null, until timestamptz not null)',
  );
  const { rows } = await client.query<{ events: string; seed: string; until: Date }>(
    'select events, seed, until from synthetic_events',
  );
  const [known] = rows;
  if (!known) {
    await client.query('insert into synthetic_events values ($1, $2, $3)', [
      plan.events,
      plan.seed,
      new Date(plan.until),
    ]);
    return plan;
  }
  if (Number(known.events) !== plan.events || Number(known.seed) !== plan.seed)
    throw new SeedError(
      `this database has ${known.events} synthetic events with seed ${known.seed}. Remove them with --remove first.`,
    );
  return { ...plan, until: known.until.getTime() };
}

async function keepNames(client: pg.Client, { until }: SeedPlan): Promise<void> {
  const at = new Date(until);
  await client.query(
    `insert into perk_names (perk_id, title, partner_id, updated_at)
     select u.id, u.title, u.partner, $4 from unnest($1::text[], $2::text[], $3::text[]) as u (id, title, partner)
     on conflict do nothing`,
    [perks.map(({ id }) => id), perks.map(({ title }) => title), perks.map(({ partner }) => partner), at],
  );
  await client.query(
    `insert into campaign_names (account_id, campaign_id, name, updated_at)
     select account, u.id, u.name, $4 from unnest($1::text[]) as account, unnest($2::text[], $3::text[]) as u (id, name)
     on conflict do nothing`,
    [accounts, campaigns.map(({ id }) => id), campaigns.map(({ name }) => name), at],
  );
  await client.query(
    `insert into attribute_names (account_id, name)
     select account, name from unnest($1::text[]) as account, unnest($2::text[]) as name on conflict do nothing`,
    [accounts, ATTRIBUTES],
  );
}

const ofMonth = ({ from, to }: MonthPlan): string =>
  `occurred_at >= '${new Date(from).toISOString()}' and occurred_at < '${new Date(to).toISOString()}'`;

async function seedMonth(
  client: pg.Client,
  month: MonthPlan,
  plan: SeedPlan,
  onProgress: (events: number) => void,
): Promise<number> {
  const partition = `tracking_events_${month.name}`;
  const { rows } = await client.query<{ exists: boolean }>('select to_regclass($1) is not null as exists', [
    partition,
  ]);
  const exists = rows[0]!.exists;
  if (exists && (await seededEvents(client, month)) === month.events) {
    onProgress(month.events);
    return 0;
  }
  await client.query('begin');
  try {
    await client.query(`select pg_advisory_xact_lock_shared(${ADVISORY_LOCKS.ingest})`);
    if (exists)
      await client.query(`delete from tracking_events where account_id = any($1) and ${ofMonth(month)}`, [
        accounts,
      ]);
    // A new month is filled before its indexes are created, which takes a third of the time.
    else
      await client.query(`create table ${partition} (like tracking_events including all excluding indexes)`);
    await copy(client, exists ? 'tracking_events' : partition, copyLines(month, plan), month, onProgress);
    if (!exists)
      await client.query(`
        alter table ${partition} add primary key (account_id, occurred_at, id);
        alter table tracking_events attach partition ${partition}
          for values from ('${new Date(month.from).toISOString()}') to ('${new Date(month.to).toISOString()}')`);
    await client.query(
      `insert into dirty_hours (account_id, hour)
       select account, hour from unnest($1::text[]) as account,
         generate_series($2::timestamptz, $3::timestamptz - interval '1 hour', interval '1 hour') as hour
       where hour < (select closing_to from rollup_state)`,
      [accounts, new Date(month.from), new Date(month.to)],
    );
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
  await client.query(`vacuum (analyze) ${partition}`);
  return month.events;
}

async function seededEvents(client: pg.Client, month: MonthPlan): Promise<number> {
  const { rows } = await client.query<{ n: string }>(
    `select count(*) as n from tracking_events where account_id = any($1) and ${ofMonth(month)}`,
    [accounts],
  );
  return Number(rows[0]!.n);
}

async function copy(
  client: pg.Client,
  table: string,
  chunks: Iterable<string>,
  { events }: MonthPlan,
  onProgress: (events: number) => void,
): Promise<void> {
  const stream = client.query(copyFrom(`copy ${table} (${COPY_COLUMNS.join(', ')}) from stdin`));
  const failed = new Promise<never>((_, reject) => stream.once('error', reject));
  failed.catch(() => undefined);
  let told = 0;
  for (const chunk of chunks) {
    const lines = chunk.split('\n').length - 1;
    told += lines;
    onProgress(lines);
    if (!stream.write(chunk)) await Promise.race([once(stream, 'drain'), failed]);
  }
  if (told !== events) throw new Error(`generated ${told} lines for ${events} events`);
  stream.end();
  await Promise.race([once(stream, 'finish'), failed]);
}

/** Removes the synthetic events with their rollup rows and names, and nothing else. */
export async function removeSeeded(databaseUrl: string): Promise<void> {
  const client = await connect(databaseUrl);
  try {
    await client.query('begin');
    await client.query(`select pg_advisory_xact_lock_shared(${ADVISORY_LOCKS.ingest})`);
    for (const table of [
      ...['tracking_events', 'event_hours', 'perk_days', 'campaign_days', 'dirty_hours'],
      ...['campaign_names', 'attribute_names'],
    ])
      await client.query(`delete from ${table} where account_id = any($1)`, [accounts]);
    await client.query(`delete from perk_names where perk_id like '${MARK}-perk-%'`);
    await client.query('drop table if exists synthetic_events');
    await client.query('commit');
  } finally {
    await client.end();
  }
}
