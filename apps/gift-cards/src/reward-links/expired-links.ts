import { Inject, Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { LOGGER } from '@perkway/platform';
import { TrackingService } from '@perkway/tracking';
import type { Logger } from 'pino';
import { DataSource } from 'typeorm';

const INTERVAL_MS = 5_000;
/** Links settled per transaction. Reservations wait meanwhile, so it must take only a few milliseconds. */
const AT_ONCE = 1_000;
const PAUSE_MS = 50;
/** Nothing reads the counters of a period that is over. They stay for a day, because transactions may still be running. */
const FORGET_COUNTERS = `delete from limit_counts where resets_at < now() - interval '1 day'`;

/**
 * Writes the expired event of unrevealed links within seconds of their expiry, and keeps reading the inventory numbers
 * fast
 * when many links have expired (docs/adr/0012-inventory-numbers.md). It changes no number and no link: without it,
 * responses
 * are the same, only slower.
 */
@Injectable()
export class ExpiredLinks implements OnModuleInit, OnModuleDestroy {
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;

  constructor(
    private readonly dataSource: DataSource,
    private readonly tracking: TrackingService,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onModuleInit() {
    this.runAfter(INTERVAL_MS);
  }

  onModuleDestroy() {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  /** @returns the number of links settled */
  async settle(atOnce = AT_ONCE): Promise<number> {
    const [{ settled }]: [{ settled: number }] = await this.dataSource.query(
      'select settle_expired($1) as settled',
      [atOnce],
    );
    if (settled > 0) this.tracking.relaySoon();
    return settled;
  }

  private runAfter(delayMs: number) {
    if (this.stopped) return;
    this.timer = setTimeout(() => void this.run(), delayMs).unref();
  }

  private async run() {
    let pause = INTERVAL_MS;
    try {
      if ((await this.settle()) >= AT_ONCE) pause = PAUSE_MS;
      else await this.dataSource.query(FORGET_COUNTERS);
    } catch (err) {
      // The database is busy or unavailable; try again later.
      this.logger.debug({ err }, 'could not settle expired links');
    }
    this.runAfter(pause);
  }
}
