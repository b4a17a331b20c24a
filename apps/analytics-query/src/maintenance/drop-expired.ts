import type pg from 'pg';
import { partitionOf } from '../partitions/partitions.js';
import { isDistributed, partitionedMonths } from './maintenance-connection.js';

/**
 * Drops the months before `keptFrom` (epoch milliseconds), which no query shows any more. Partitions are detached
 * concurrently, so queries are not blocked, and not in a transaction; a half-detached partition is finished first.
 * @returns the months that were dropped
 */
export async function dropExpired(client: pg.Client, keptFrom: number): Promise<string[]> {
  if (!Number.isFinite(keptFrom)) return [];
  const first = new Date(keptFrom).toISOString().slice(0, 7);
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_inherits join pg_class on pg_class.oid = inhrelid
     where inhparent = 'tracking_events'::regclass and inhdetachpending`,
  );
  for (const { name } of rows) {
    await client.query(`alter table tracking_events detach partition ${name} finalize`);
    await client.query(`drop table ${name}`);
  }
  const expired = (await partitionedMonths(client)).filter((month) => month < first);
  const how = (await isDistributed(client)) ? '' : 'concurrently';
  for (const month of expired) {
    const partition = partitionOf(month);
    await client.query(`alter table tracking_events detach partition ${partition} ${how}`);
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
