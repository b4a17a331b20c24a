import { Inject, Injectable } from '@nestjs/common';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { ADVISORY_LOCKS } from '@perkway/domain';
import { ENV } from '@perkway/platform';
import type { AnalyticsQueryEnv } from '../env.js';
import { monthOf } from '../partitions/partitions.js';
import { ROLLUPS, type Rollup } from '../model/rollups.js';
import {
  inMaintenanceTransaction,
  partitionedMonths,
  withMaintenanceClient,
} from './maintenance-connection.js';

const HOUR_MS = 3_600_000;
/** An hour is closed this long after its end; most late events have arrived by then. */
const GRACE_MS = 5 * 60_000;
/** Dirty hours recomputed in one transaction. */
const HOURS_PER_TRANSACTION = 500;
const IS_DUE = `
  select closing_to < $1 or closed_to < closing_to
    or exists (select from dirty_hours where hour < closed_to) as due
  from rollup_state`;

/**
 * Keeps the rollups equal to the raw rows. An hour is closed in two steps: first `closing_to` announces it, under a
 * lock that every writer shares, so that each later event marks the hour dirty; then its rollup rows are computed.
 * Queries read raw rows for dirty hours until they are recomputed.
 */
@Injectable()
export class RollupRefresher {
  constructor(
    @Inject(ENV) private readonly env: AnalyticsQueryEnv,
    private readonly dataSource: DataSource,
  ) {}

  /**
   * Closes all hours that are due at `now` (epoch milliseconds) and recomputes all dirty hours. Safe to run in any
   * number of processes at once.
   */
  async refresh(now: number): Promise<void> {
    const to = Math.floor((now - GRACE_MS) / HOUR_MS) * HOUR_MS;
    // On a connection of the pool, because a new one costs more than this query.
    const [state] = await this.dataSource.query<{ due: boolean }[]>(IS_DUE, [new Date(to)]);
    if (!state?.due) return;
    await withMaintenanceClient(this.env.DATABASE_URL, async (client) => {
      await this.announce(client, to);
      while (await inMaintenanceTransaction(client, ADVISORY_LOCKS.rollups, closeNextHours));
      while (await inMaintenanceTransaction(client, ADVISORY_LOCKS.rollups, recomputeDirtyHours));
    });
  }

  /**
   * Holds the lock only for this update. It waits up to 2 s for the writers that already have the lock. Later writers
   * wait behind it, hardly longer than those earlier transactions take.
   */
  private async announce(client: pg.Client, to: number): Promise<void> {
    const { rows } = await client.query<{ due: boolean }>('select closing_to < $1 as due from rollup_state', [
      new Date(to),
    ]);
    if (!rows[0]?.due) return;
    await client.query('begin');
    try {
      await client.query(`set local lock_timeout = '2s'`);
      await client.query(`select pg_advisory_xact_lock(${ADVISORY_LOCKS.ingest})`);
      await client.query('update rollup_state set closing_to = $1 where closing_to < $1', [new Date(to)]);
      await client.query('commit');
    } catch (error) {
      await client.query('rollback');
      throw error;
    }
  }
}

/** Computes the rollup rows of the next announced hours, at most one partition's. Returns false if there were none. */
async function closeNextHours(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ closed_to: Date; closing_to: Date }>(
    'select closed_to, closing_to from rollup_state where closed_to < closing_to',
  );
  const [state] = rows;
  if (!state) return false;
  const { closed_to: from, closing_to: limit } = state;
  const to = endOfRange(from, limit, await partitionedMonths(client));
  for (const rollup of ROLLUPS) {
    const [first, last] = [startOf(from, rollup), startOf(to, rollup)];
    if (first < last)
      await client.query(
        insertRollupRows(rollup, 'tracking_events e', 'e.occurred_at >= $1 and e.occurred_at < $2'),
        [first, last],
      );
  }
  await client.query('update rollup_state set closed_to = $1', [to]);
  return true;
}

/** Returns the end of the month, or the end of the months without a partition, which have no events. */
function endOfRange(from: Date, limit: Date, months: string[]): Date {
  const month = monthOf(from.getTime());
  const next = months.includes(month)
    ? Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + 1, 1)
    : Math.min(...months.filter((each) => each > month).map((each) => Date.parse(`${each}-01T00:00:00Z`)));
  return new Date(Math.min(next, limit.getTime()));
}

const startOf = (at: Date, { grain }: Rollup): Date => {
  const ms = grain === 'hour' ? HOUR_MS : 24 * HOUR_MS;
  return new Date(Math.floor(at.getTime() / ms) * ms);
};

/**
 * Recomputes the rollup rows of dirty hours and deletes the marks of those hours. Reads marks before rows: the
 * mark of an event that is stored after the rows were read stays. Returns false if no hour was dirty.
 */
async function recomputeDirtyHours(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ account_id: string; hour: Date }>(`
    with dirty as (
      select distinct account_id, hour from dirty_hours
      where hour < (select closed_to from rollup_state) order by account_id, hour limit ${HOURS_PER_TRANSACTION})
    delete from dirty_hours d using dirty where d.account_id = dirty.account_id and d.hour = dirty.hour
    returning d.account_id, d.hour`);
  if (rows.length === 0) return false;
  const { rows: state } = await client.query<{ closed_to: Date }>('select closed_to from rollup_state');
  // Force nested loops: with any other join the planner would read all months to find a few hours.
  await client.query('set local enable_hashjoin = off; set local enable_mergejoin = off');
  for (const rollup of ROLLUPS) {
    const closed = startOf(state[0]!.closed_to, rollup);
    const grains = new Map<string, [account: string, start: Date]>();
    for (const { account_id: account, hour } of rows) {
      const start = startOf(hour, rollup);
      if (start < closed) grains.set(`${account} ${start.getTime()}`, [account, start]);
    }
    if (grains.size === 0) continue;
    const params = [
      [...grains.values()].map(([account]) => account),
      [...grains.values()].map(([, start]) => start.toISOString()),
    ];
    const { table, grain } = rollup;
    await client.query(
      `delete from ${table} c using unnest($1::text[], $2::timestamptz[]) as u (account_id, start)
       where c.account_id = u.account_id and c.${grain} = u.start`,
      params,
    );
    await client.query(
      insertRollupRows(
        rollup,
        'unnest($1::text[], $2::timestamptz[]) as u (account_id, start), tracking_events e',
        `e.account_id = u.account_id and e.occurred_at >= u.start and e.occurred_at < u.start + interval '1 ${grain}'`,
      ),
      params,
    );
  }
  return true;
}

const typesOf = ({ eventTypes }: Rollup): string => eventTypes.map((type) => `'${type}'`).join(', ');

/** @param source SQL that provides the event rows as `e` */
const insertRollupRows = (rollup: Rollup, source: string, where = 'true'): string => {
  const { table, grain, columns, key, from = '' } = rollup;
  const groups = [1, 2, 3, ...key.map((name) => Object.keys(columns).indexOf(name) + 4)];
  return `
    insert into ${table} (account_id, type, ${grain}, ${Object.keys(columns).join(', ')})
    select e.account_id, e.type, date_trunc('${grain}', e.occurred_at, 'UTC'), ${Object.values(columns).join(', ')}
    from ${source} ${from}
    where ${where} and e.type in (${typesOf(rollup)})
    group by ${groups.join(', ')}
    order by 1, 2, 3`;
};
