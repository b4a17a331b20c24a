import type pg from 'pg';
import { partitionOf } from '../partitions/partitions.js';
import { isDistributed, partitionedMonths } from './maintenance-connection.js';

/**
 * Drops the months before `keptFrom` (epoch milliseconds), which queries already ignore. Detaches partitions
 * concurrently, so that queries are not blocked. That cannot run in a transaction, so this first finishes detaches that
 * a crash interrupted, and drops their tables.
 *
 * @returns the months that were dropped, without those whose detach a crash had interrupted
 */
export async function dropExpired(client: pg.Client, keptFrom: number): Promise<string[]> {
  if (!Number.isFinite(keptFrom)) return [];
  const firstKept = new Date(keptFrom).toISOString().slice(0, 7);
  const { rows: halfDetached } = await client.query<{ name: string }>(
    `select relname as name from pg_inherits join pg_class on pg_class.oid = inhrelid
     where inhparent = 'tracking_events'::regclass and inhdetachpending`,
  );
  for (const { name } of halfDetached) {
    await client.query(`alter table tracking_events detach partition ${name} finalize`);
    await client.query(`drop table ${name}`);
  }
  const expired = (await partitionedMonths(client)).filter((month) => month < firstKept);
  // Citus cannot detach concurrently.
  const concurrently = (await isDistributed(client)) ? '' : 'concurrently';
  for (const month of expired) {
    const partition = partitionOf(month);
    await client.query(`alter table tracking_events detach partition ${partition} ${concurrently}`);
    await client.query(`drop table ${partition}`);
    await client.query('delete from sorted_months where month = $1', [`${month}-01`]);
  }
  const limit = [new Date(keptFrom).toISOString()];
  for (const [table, column] of [
    ['event_hours', 'hour'],
    ['perk_days', 'day'],
    ['campaign_days', 'day'],
    ['dirty_hours', 'hour'],
  ] as const)
    if (expired.length > 0) await client.query(`delete from ${table} where ${column} < $1`, limit);
  return expired;
}
