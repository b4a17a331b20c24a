import { Injectable } from '@nestjs/common';
import { Loop, Loops } from '@perkway/platform';
import { TrackingService } from '@perkway/tracking';
import { DataSource } from 'typeorm';

/** Interval of checks for withdrawals of dead replicas and for kept links that have ended. */
const INTERVAL_MS = 5_000;
/** Cards per transaction. Reservations and reveals wait meanwhile, so it must take only a few milliseconds. */
const CARDS_PER_TRANSACTION = 500;
/** Between two transactions, so that reservations get their turn. */
const PAUSE_MS = 20;

/**
 * Runs withdrawals step by step. Each step is one transaction that also stores how far it came, so any replica
 * continues after a crash. Also withdraws the cards of kept links that have ended.
 */
@Injectable()
export class WithdrawalRunner {
  private readonly loop: Loop;

  constructor(
    private readonly dataSource: DataSource,
    private readonly tracking: TrackingService,
    loops: Loops,
  ) {
    this.loop = loops.add({ task: 'withdraw cards', everyMs: INTERVAL_MS, run: () => this.step() });
  }

  /** Looks for a withdrawal now. */
  wake() {
    this.loop.wake();
  }

  /** @returns the pause before the next step, which may have more to do if this one did something */
  private async step(): Promise<number> {
    const [{ more }] = await this.dataSource.query<[{ more: boolean }]>('select withdraw_cards($1) as more', [
      CARDS_PER_TRANSACTION,
    ]);
    const [{ settled }] = await this.dataSource.query<[{ settled: number }]>(
      'select settle_recalled($1) as settled',
      [CARDS_PER_TRANSACTION],
    );
    if (!more && settled === 0) return INTERVAL_MS;
    this.tracking.relaySoon();
    return PAUSE_MS;
  }
}
