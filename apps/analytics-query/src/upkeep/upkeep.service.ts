import { Inject, Injectable, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { ADVISORY_LOCKS } from '@perkway/domain';
import { ENV, isDatabaseAway, LOGGER } from '@perkway/platform';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { AnalyticsQueryEnv } from '../env.js';
import { monthOf, partitionOf, Partitions } from '../partitions/partitions.js';
import { keptFrom } from '../retention.js';
import { dropExpired } from './drop-expired.js';
import { RollupRefresher } from './rollup-refresher.js';
import { sortMonth } from './sort-month.js';
import { isDistributed, partitionedMonths, withUpkeepClient } from './upkeep-connection.js';

/** Partitions that are there before their first event. */
const MONTHS_AHEAD = 2;
const DAY_MS = 24 * 3_600_000;
/** A month is sorted for good when it has been over for this long, because late events would undo the order. */
const SORT_AFTER_MS = 3 * DAY_MS;
/** Before that each time when so much of it may be out of order again. */
const UNSORTED_MS = 7 * DAY_MS;
/** Of a month that goes on: less is in memory anyway. */
const SMALL_BYTES = 32 * 1024 * 1024;
const STOP_LIMIT_MS = 2_000;

/** Keeps the event store in order beside the ingest: rollups, partitions ahead, order of closed months, retention. */
@Injectable()
export class UpkeepService implements OnModuleInit, BeforeApplicationShutdown {
  private readonly stop = new AbortController();
  private running: Promise<unknown> = Promise.resolve();

  constructor(
    @Inject(ENV) private readonly env: AnalyticsQueryEnv,
    @Inject(RollupRefresher) private readonly refresher: RollupRefresher,
    @Inject(Partitions) private readonly partitions: Partitions,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onModuleInit() {
    this.running = this.runForEver();
  }

  async beforeApplicationShutdown() {
    this.stop.abort();
    await Promise.race([this.running, sleep(STOP_LIMIT_MS, undefined, { ref: false })]);
  }

  /** One after the other: nobody may clear marks while a month is being sorted. */
  private async runForEver() {
    let nextUpkeep = 0;
    while (!this.stop.signal.aborted) {
      await this.attempt('refresh the rollups', () => this.refresher.refresh(Date.now()));
      if (Date.now() >= nextUpkeep && !this.stop.signal.aborted) {
        nextUpkeep = Date.now() + this.env.UPKEEP_INTERVAL_MS;
        await this.attempt('keep the partitions', async () => {
          // A month at a time, so that the rollups do not wait for all of them.
          if (await this.keepMonths(Date.now())) nextUpkeep = 0;
        });
      }
      await sleep(this.env.ROLLUP_INTERVAL_MS, undefined, { signal: this.stop.signal }).catch(
        () => undefined,
      );
    }
  }

  /** Partitions ahead, retention, and the order of one closed month. @returns whether a month was sorted */
  async keepMonths(now: number): Promise<boolean> {
    const today = new Date(now);
    for (let ahead = 0; ahead <= MONTHS_AHEAD; ahead += 1)
      await this.partitions.ensure(monthOf(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + ahead, 1)));
    return withUpkeepClient(this.env.DATABASE_URL, async (client) => {
      // A session's lock, because neither sorting nor detaching fits into one transaction.
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
    // Hours that are not closed are copied while writers wait: there may be a few of them.
    if (state[0]!.closed_to.getTime() < now - DAY_MS) return false;
    const unsorted = (await partitionedMonths(client)).filter((each) =>
      isUnsorted(each, sorted.get(each), now),
    );
    const [month] = await largeOrOver(client, unsorted, now);
    if (month === undefined) return false;
    // Until the session ends: marks stay, so that what arrives meanwhile is found.
    await client.query(`select pg_advisory_lock(${ADVISORY_LOCKS.rollups})`);
    const done = await sortMonth(client, month);
    this.logger.info(
      { month },
      done ? 'brought a month into order' : 'a month could not be brought into order yet',
    );
    return done;
  }

  private async attempt(what: string, work: () => Promise<void>) {
    try {
      await work();
    } catch (err) {
      if (isDatabaseAway(err)) this.logger.debug({ err }, `cannot ${what} yet`);
      else this.logger.error({ err }, `cannot ${what}`);
    }
  }
}

/** When a month is sorted for good. */
const finalSort = (month: string): number =>
  Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)), 1) + SORT_AFTER_MS;

/** @param sortedAt when it was brought into order the last time */
export function isUnsorted(month: string, sortedAt: number | undefined, now: number): boolean {
  const final = finalSort(month);
  const start = Date.parse(`${month}-01T00:00:00Z`);
  return now >= final ? !(sortedAt! >= final) : now - Math.max(start, sortedAt ?? start) >= UNSORTED_MS;
}

/** Without those that go on and are so small that their order does not matter yet. */
async function largeOrOver(client: pg.Client, months: string[], now: number): Promise<string[]> {
  const { rows } = await client.query<{ month: string }>(
    `select month from unnest($1::text[], $2::text[]) as u (month, partition)
     where month = any($3) or pg_relation_size(partition::regclass) >= $4 order by month`,
    [months, months.map(partitionOf), months.filter((each) => now >= finalSort(each)), SMALL_BYTES],
  );
  return rows.map(({ month }) => month);
}
