import { Inject, Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { LOGGER } from '@perkway/platform';
import type { Logger } from 'pino';
import { DataSource } from 'typeorm';

const INTERVAL_MS = 5_000;
/** Fewer than this many are counted in no time. */
const WORTHWHILE = 20;
/** Nobody can reserve in the meantime, so it must be short: a few milliseconds. */
const AT_ONCE = 5_000;
const PAUSE_MS = 50;

/**
 * Keeps reading the numbers fast where many links have expired unrevealed (docs/adr/0012-inventory-numbers.md). It
 * changes no number and no link: without it all answers are the same, only slower.
 */
@Injectable()
export class ExpiredLinks implements OnModuleInit, OnModuleDestroy {
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;

  constructor(
    private readonly dataSource: DataSource,
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
  async settle(atLeast = WORTHWHILE, atOnce = AT_ONCE): Promise<number> {
    const [{ settled }]: [{ settled: number }] = await this.dataSource.query(
      'select settle_expired($1, $2) as settled',
      [atLeast, atOnce],
    );
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
