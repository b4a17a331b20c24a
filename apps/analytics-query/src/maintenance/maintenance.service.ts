import { Inject, Injectable } from '@nestjs/common';
import { ADVISORY_LOCKS } from '@perkway/domain';
import { ENV, LOGGER, Loops } from '@perkway/platform';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { AnalyticsQueryEnv } from '../env.js';
import { monthOf, partitionOf, Partitions } from '../partitions/partitions.js';
import { keptFrom } from '../retention.js';
import { dropExpired } from './drop-expired.js';
import { RollupRefresher } from './rollup-refresher.js';
import { sortMonth } from './sort-month.js';
import { isDistributed, partitionedMonths, withMaintenanceClient } from './maintenance-connection.js';

/** Partitions created ahead of their first event. */
const MONTHS_AHEAD = 2;
const DAY_MS = 24 * 3_600_000;
/** A month gets its final sort this long after its end, because late events would undo the order. */
const SORT_AFTER_MS = 3 * DAY_MS;
/** Interval between sorts before the final one. */
const RESORT_INTERVAL_MS = 7 * DAY_MS;
/** An unfinished month smaller than this is not sorted: it fits in memory anyway. */
const SMALL_BYTES = 32 * 1024 * 1024;

/**
 * Maintains the event store while ingest runs: refreshes rollups, creates partitions ahead, sorts months, applies
 * retention.
 */
@Injectable()
export class MaintenanceService {
  constructor(
    @Inject(ENV) private readonly env: AnalyticsQueryEnv,
    refresher: RollupRefresher,
    private readonly partitions: Partitions,
    @Inject(LOGGER) private readonly logger: Logger,
    loops: Loops,
  ) {
    const { ROLLUP_INTERVAL_MS: refreshMs, UPKEEP_INTERVAL_MS: everyMs } = env;
    const refresh = () => refresher.refresh(Date.now());
    loops.add({ task: 'refresh the rollups', everyMs: refreshMs, run: refresh });
    // One month at a time, because the rollups are not refreshed while a month is being sorted.
    const maintainMonths = async () => ((await this.maintainMonths(Date.now())) ? refreshMs : everyMs);
    loops.add({ task: 'maintain the months of events', everyMs, run: maintainMonths });
  }

  /** Creates partitions ahead, applies retention and sorts one month. @returns whether a month was sorted */
  async maintainMonths(now: number): Promise<boolean> {
    const today = new Date(now);
    for (let ahead = 0; ahead <= MONTHS_AHEAD; ahead += 1)
      await this.partitions.ensure(monthOf(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + ahead, 1)));
    return withMaintenanceClient(this.env.DATABASE_URL, async (client) => {
      // A session lock, because neither sorting nor detaching fits into one transaction.
      const { rows } = await client.query<{ mine: boolean }>(
        `select pg_try_advisory_lock(${ADVISORY_LOCKS.months}) as mine`,
      );
      if (!rows[0]!.mine) return false;
      const dropped = await dropExpired(client, keptFrom(this.env.RETENTION_MONTHS, now));
      if (dropped.length > 0) this.logger.info({ months: dropped }, 'dropped months that are no longer kept');
      return this.sortNext(client, now);
    });
  }

  private async sortNext(client: pg.Client, now: number): Promise<boolean> {
    if (await isDistributed(client)) return false;
    const { rows } = await client.query<{ month: string; sorted_at: Date }>(
      `select to_char(month, 'YYYY-MM') as month, sorted_at from sorted_months`,
    );
    const sorted = new Map(rows.map((each) => [each.month, each.sorted_at.getTime()]));
    const { rows: state } = await client.query<{ closed_to: Date }>('select closed_to from rollup_state');
    // Sorting copies the hours that are still open while writers wait, so there must be few of them.
    if (state[0]!.closed_to.getTime() < now - DAY_MS) return false;
    const unsorted = (await partitionedMonths(client)).filter((each) =>
      isDueForSort(each, sorted.get(each), now),
    );
    const [month] = await withoutSmallOpenMonths(client, unsorted, now);
    if (month === undefined) return false;
    // Held until the session ends, so that the marks of hours that get dirty meanwhile are not cleared.
    await client.query(`select pg_advisory_lock(${ADVISORY_LOCKS.rollups})`);
    const done = await sortMonth(client, month);
    this.logger.info({ month }, done ? 'sorted a month' : 'could not sort a month yet');
    return done;
  }
}

/** The time of a month's final sort. */
const finalSort = (month: string): number =>
  Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)), 1) + SORT_AFTER_MS;

/** Returns whether to sort the month now. @param sortedAt when it was last sorted */
export function isDueForSort(month: string, sortedAt: number | undefined, now: number): boolean {
  const final = finalSort(month);
  const start = Date.parse(`${month}-01T00:00:00Z`);
  return now >= final
    ? !(sortedAt! >= final)
    : now - Math.max(start, sortedAt ?? start) >= RESORT_INTERVAL_MS;
}

/** Leaves out unfinished months that are too small for their order to matter. */
async function withoutSmallOpenMonths(client: pg.Client, months: string[], now: number): Promise<string[]> {
  const { rows } = await client.query<{ month: string }>(
    `select month from unnest($1::text[], $2::text[]) as u (month, partition)
     where month = any($3) or pg_relation_size(partition::regclass) >= $4 order by month`,
    [months, months.map(partitionOf), months.filter((each) => now >= finalSort(each)), SMALL_BYTES],
  );
  return rows.map(({ month }) => month);
}
