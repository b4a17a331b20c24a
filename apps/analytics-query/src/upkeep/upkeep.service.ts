import { Inject, Injectable, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { ADVISORY_LOCKS } from '@perkway/domain';
import { ENV, isDatabaseAway, LOGGER } from '@perkway/platform';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { AnalyticsQueryEnv } from '../env.js';
import { monthOf, Partitions } from '../partitions/partitions.js';
import { keptFrom } from '../retention.js';
import { dropExpired } from './drop-expired.js';
import { RollupRefresher } from './rollup-refresher.js';
import { sortMonth } from './sort-month.js';
import { partitionedMonths, withUpkeepClient } from './upkeep-connection.js';

/** Partitions that are there before their first event. */
const MONTHS_AHEAD = 2;
/** A month is sorted when it has been over for this long, because late events would undo the order. */
const SORT_AFTER_MS = 3 * 24 * 3_600_000;
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
    const { rows } = await client.query<{ month: string }>(
      `select to_char(month, 'YYYY-MM') as month from sorted_months`,
    );
    const sorted = new Set(rows.map(({ month }) => month));
    const { rows: state } = await client.query<{ closed_to: Date }>('select closed_to from rollup_state');
    const before = monthOf(Math.min(now - SORT_AFTER_MS, state[0]!.closed_to.getTime()));
    const month = (await partitionedMonths(client)).find((each) => each < before && !sorted.has(each));
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
