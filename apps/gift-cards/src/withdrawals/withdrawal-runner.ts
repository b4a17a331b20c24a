import { Inject, Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { LOGGER } from '@perkway/platform';
import { TrackingService } from '@perkway/tracking';
import type { Logger } from 'pino';
import { DataSource } from 'typeorm';

const INTERVAL_MS = 2_000;
/** Cards per transaction. Reservations and reveals wait meanwhile, so it must take only a few milliseconds. */
const AT_ONCE = 500;
/** Between two transactions, so that reservations get their turn. */
const PAUSE_MS = 10;

/**
 * Runs withdrawals step by step. Each step is one transaction that also stores how far it came, so any replica continues
 * after a crash. Also withdraws the cards of kept links that have ended.
 */
@Injectable()
export class WithdrawalRunner implements OnModuleInit, OnModuleDestroy {
  private timer: NodeJS.Timeout | undefined;
  private isRunning = false;
  private isWoken = false;
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

  /** Looks for a withdrawal now. */
  wake() {
    this.isWoken = true;
    if (!this.isRunning) this.runAfter(0);
  }

  private runAfter(delayMs: number) {
    clearTimeout(this.timer);
    if (!this.stopped) this.timer = setTimeout(() => void this.run(), delayMs).unref();
  }

  private async run() {
    this.isRunning = true;
    this.isWoken = false;
    let hasMore = false;
    try {
      hasMore = await this.step();
      if (hasMore) this.tracking.relaySoon();
    } catch (err) {
      // The database is busy or unavailable; try again later.
      this.logger.debug({ err }, 'could not withdraw cards');
    }
    this.isRunning = false;
    this.runAfter(hasMore || this.isWoken ? PAUSE_MS : INTERVAL_MS);
  }

  /** @returns whether it did something, so that there may be more to do */
  private async step(): Promise<boolean> {
    const [{ more }]: [{ more: boolean }] = await this.dataSource.query('select withdraw_cards($1) as more', [
      AT_ONCE,
    ]);
    const [{ settled }]: [{ settled: number }] = await this.dataSource.query(
      'select settle_recalled($1) as settled',
      [AT_ONCE],
    );
    return more || settled > 0;
  }
}
