import type pg from 'pg';
import { partitionOf } from '../partitions/partitions.js';
import { isDistributed } from './maintenance-connection.js';

/**
 * Drops the months before `keptFrom` (epoch milliseconds), which queries already ignore. Detaches partitions
 * concurrently, so that queries are not blocked. That cannot run in a transaction, so a crash may leave a month whose
 * detach was interrupted, or one that is detached but not dropped. This finishes both.
 *
 * @returns the months that were dropped
 */
export async function dropExpired(client: pg.Client, keptFrom: number): Promise<string[]> {
  if (!Number.isFinite(keptFrom)) return [];
  const firstKept = new Date(keptFrom).toISOString().slice(0, 7);
  const months = await monthsToDetach(client, firstKept);
  if (months.length === 0) return [];
  // Before the drop: after a crash between the two, the next call would find no month to drop and leave these rows.
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
  for (const { month, state } of months) {
    const partition = partitionOf(month);
    if (state !== 'detached')
      await client.query(
        `alter table tracking_events detach partition ${partition} ${state === 'interrupted' ? 'finalize' : concurrently}`,
      );
    // Its detach was interrupted, and RETENTION_MONTHS was raised since: the next event of the month attaches it again.
    if (month >= firstKept) continue;
    await client.query(`drop table ${partition}`);
    await client.query('delete from sorted_months where month = $1', [`${month}-01`]);
  }
  return months.map(({ month }) => month).filter((month) => month < firstKept);
}

interface Month {
  /** Such as `2026-01`. */
  month: string;
  state: 'attached' | 'interrupted' | 'detached';
}

/** Returns the expired months, and first those with an interrupted detach: until it is finished, Postgres detaches no other concurrently. */
async function monthsToDetach(client: pg.Client, firstKept: string): Promise<Month[]> {
  const { rows } = await client.query<Month>(
    `select * from (
       select translate(right(relname, 7), '_', '-') as month,
         case when inhdetachpending then 'interrupted' when inhrelid is null then 'detached' else 'attached' end as state
       from pg_class left join pg_inherits on inhrelid = pg_class.oid
       where relkind = 'r' and relname ~ '^tracking_events_[0-9]{4}_[0-9]{2}$'
         and relnamespace = (select relnamespace from pg_class where oid = 'tracking_events'::regclass)) months
     where state = 'interrupted' or month < $1
     order by state = 'interrupted' desc, month`,
    [firstKept],
  );
  return rows;
}
