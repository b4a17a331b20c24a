import { setTimeout as sleep } from 'node:timers/promises';
import { ADVISORY_LOCKS } from '@perkway/domain';
import type pg from 'pg';
import { boundsOf, PARTITION_OPTIONS, partitionOf } from '../partitions/partitions.js';

/**
 * The swap waits for running queries, and later queries queue behind it, so it gives up after this time and is retried.
 */
const LOCK_TIMEOUT_MS = 300;
const SWAP_ATTEMPTS = 20;
const BETWEEN_ATTEMPTS_MS = 500;
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Rewrites a month in the order of account, type and time, so that a query reads adjacent rows instead of one page per
 * row. The rows are copied while the table is in use. Then, while writers wait, the hours marked dirty meanwhile (see
 * rollup-refresher.ts) are copied again, the hours that were open at the start are copied for the first time, and the
 * tables are swapped. Dirty marks must not be cleared until this is done.
 * @param month `2026-01`
 * @returns false if the swap could not get its locks in time: try again later
 */
export async function sortMonth(client: pg.Client, month: string): Promise<boolean> {
  const partition = partitionOf(month);
  const copy = `${partition}_sorted`;
  const { from, to } = boundsOf(month);
  await client.query(`drop table if exists ${copy}`);
  await client.query(
    `create table ${copy} (like tracking_events including all excluding indexes) with (${PARTITION_OPTIONS})`,
  );
  try {
    const columns = await storedColumns(client);
    const open = await firstOpenHour(client);
    await client.query(
      `insert into ${copy} (${columns}) select ${columns} from ${partition}
       where occurred_at < ${open} order by account_id, type, occurred_at`,
    );
    // Indexes built over finished rows are half as large as ones that grew with them. The check constraint saves a scan
    // when attaching.
    await client.query(`
      alter table ${copy} add primary key (account_id, occurred_at, id);
      create index on ${copy} (account_id, type, occurred_at) include (campaign_id, perk_id, traffic_class, perk_count);
      create index on ${copy} using brin (occurred_at) with (autosummarize = on);
      alter table ${copy} add constraint of_month check (occurred_at >= ${from} and occurred_at < ${to})`);
    await client.query(`vacuum (analyze) ${copy}`);
    for (let attempt = 0; attempt < SWAP_ATTEMPTS; attempt += 1) {
      if (await swap(client, month, columns, open)) return true;
      await sleep(BETWEEN_ATTEMPTS_MS);
    }
    return false;
  } finally {
    await client.query(`drop table if exists ${copy}`);
  }
}

async function swap(client: pg.Client, month: string, columns: string, open: string): Promise<boolean> {
  const partition = partitionOf(month);
  const copy = `${partition}_sorted`;
  const { from, to } = boundsOf(month);
  await client.query('begin');
  try {
    await client.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
    await client.query(`select pg_advisory_xact_lock(${ADVISORY_LOCKS.ingest})`);
    const marked = `(select distinct account_id, hour from dirty_hours where hour >= ${from} and hour < least(${to}, ${open})) d`;
    const ofMarked = `e.account_id = d.account_id and e.occurred_at >= d.hour and e.occurred_at < d.hour + interval '1 hour'`;
    await client.query(`delete from ${copy} e using ${marked} where ${ofMarked}`);
    await client.query(
      `insert into ${copy} (${columns})
       select ${columns.replaceAll(/\w+/g, 'e.$&')} from ${marked} join ${partition} e on ${ofMarked}`,
    );
    await client.query(
      `insert into ${copy} (${columns}) select ${columns} from ${partition} where occurred_at >= ${open}`,
    );
    await client.query('lock table only tracking_events in access exclusive mode');
    await client.query(`
      alter table tracking_events detach partition ${partition};
      drop table ${partition};
      alter table ${copy} rename to ${partition};
      alter table tracking_events attach partition ${partition} for values from (${from}) to (${to});
      alter table ${partition} drop constraint of_month`);
    await client.query(
      `insert into sorted_months (month) values (${from}::date) on conflict (month) do update set sorted_at = now()`,
    );
    await client.query('commit');
    return true;
  } catch (error) {
    await client.query('rollback');
    if ((error as { code?: string }).code === LOCK_NOT_AVAILABLE) return false;
    throw error;
  }
}

/** Returns the first open hour as an SQL literal. From now on, storing an event of an earlier hour marks it dirty. */
async function firstOpenHour(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ closing_to: Date }>('select closing_to from rollup_state');
  return `'${rows[0]!.closing_to.toISOString()}'::timestamptz`;
}

/** Returns the columns that are written; the others are generated. */
async function storedColumns(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ name: string }>(
    `select attname as name from pg_attribute
     where attrelid = 'tracking_events'::regclass and attnum > 0 and not attisdropped and attgenerated = ''
     order by attnum`,
  );
  return rows.map(({ name }) => name).join(', ');
}
