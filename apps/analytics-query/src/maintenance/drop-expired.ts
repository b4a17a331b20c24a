import type pg from 'pg';
import { partitionOf } from '../partitions/partitions.js';
import { isDistributed, partitionedMonths } from './maintenance-connection.js';

/**
 * Drops the months before `keptFrom` (epoch milliseconds), which queries already ignore. Detaches partitions
 * concurrently, so that queries are not blocked. That cannot run in a transaction, so this first finishes detaches that
 * a crash interrupted.
 *
 * @returns the months that were dropped
 */
export async function dropExpired(client: pg.Client, keptFrom: number): Promise<string[]> {
  if (!Number.isFinite(keptFrom)) return [];
  const firstKept = new Date(keptFrom).toISOString().slice(0, 7);
  const interrupted = await partitionedMonths(client, true);
  for (const month of interrupted)
    await client.query(`alter table tracking_events detach partition ${partitionOf(month)} finalize`);
  const expired = (await partitionedMonths(client)).filter((month) => month < firstKept);
  const dropped = [...interrupted, ...expired];
  if (dropped.length === 0) return [];
  // First, because a crash after the drop would leave them: the next call would find no month to drop.
  const limit = [new Date(keptFrom).toISOString()];
  for (const [table, column] of [
    ['event_hours', 'hour'],
    ['perk_days', 'day'],
    ['campaign_days', 'day'],
    ['dirty_hours', 'hour'],
  ] as const)
    await client.query(`delete from ${table} where ${column} < $1`, limit);
  // Citus cannot detach concurrently.
  const concurrently = (await isDistributed(client)) ? '' : 'concurrently';
  for (const month of dropped) {
    const partition = partitionOf(month);
    if (expired.includes(month))
      await client.query(`alter table tracking_events detach partition ${partition} ${concurrently}`);
    await client.query(`drop table ${partition}`);
    await client.query('delete from sorted_months where month = $1', [`${month}-01`]);
  }
  return dropped;
}
