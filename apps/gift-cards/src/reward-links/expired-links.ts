import { Inject, Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { LOGGER } from '@perkway/platform';
import { TrackingService } from '@perkway/tracking';
import type { Logger } from 'pino';
import { DataSource } from 'typeorm';

const INTERVAL_MS = 5_000;
/** Nobody can reserve in the meantime, so it must be short: some milliseconds. */
const AT_ONCE = 1_000;
const PAUSE_MS = 50;

/**
 * Tells that links have expired unrevealed, within seconds of their time, and keeps reading the numbers fast where they are
 * many (docs/adr/0012-inventory-numbers.md). It changes no number and no link: without it all answers are the same,
 * only slower.
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

  /** @returns how many links were settled */
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
    } catch (err) {
      // Busy or away: later.
      this.logger.debug({ err }, 'expired links were not settled');
    }
    this.runAfter(pause);
  }
}
