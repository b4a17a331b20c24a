import { Injectable } from '@nestjs/common';
import { Loop, Loops } from '@perkway/platform';
import { TrackingService } from '@perkway/tracking';
import { DataSource } from 'typeorm';

/** Interval of checks for withdrawals that a crashed replica left unfinished, and for kept links that have ended. */
const INTERVAL_MS = 5_000;
/** Cards per transaction. Reservations and reveals wait meanwhile, so it must take only a few milliseconds. */
const CARDS_PER_TRANSACTION = 500;
/** Pause between two transactions, so that reservations can run. */
const PAUSE_MS = 20;

/**
 * Runs withdrawals step by step. Each step is one transaction that also stores how far it came, so any replica
 * continues after a crash. Also withdraws the cards of kept links that have ended. A kept link is one that a withdrawal
 * with `reserved: keep` left valid.
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

  /** Withdraws one batch. Returns the pause before the next one: short if there may be more to withdraw. */
  private async step(): Promise<number> {
    const [{ more }] = await this.dataSource.query<[{ more: boolean }]>('select withdraw_cards($1) as more', [
      CARDS_PER_TRANSACTION,
    ]);
    const [{ withdrawn }] = await this.dataSource.query<[{ withdrawn: number }]>(
      'select settle_recalled($1) as withdrawn',
      [CARDS_PER_TRANSACTION],
    );
    if (!more && withdrawn === 0) return INTERVAL_MS;
    this.tracking.relaySoon();
    return PAUSE_MS;
  }
}
