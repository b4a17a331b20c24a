import { Injectable } from '@nestjs/common';
import { Loops } from '@perkway/platform';
import { TrackingService } from '@perkway/tracking';
import { DataSource } from 'typeorm';

const INTERVAL_MS = 5_000;
const FORGET_INTERVAL_MS = 10 * 60_000;
/** Links settled per transaction. Reservations wait meanwhile, so it must take only a few milliseconds. */
const LINKS_PER_TRANSACTION = 1_000;
const PAUSE_MS = 50;
/**
 * Nothing reads the counters of a period that is over. They stay for a day, because transactions may still be running.
 */
const FORGET_COUNTERS = `delete from limit_counts where resets_at < now() - interval '1 day'`;

/**
 * Writes the expired event of unrevealed links within seconds of their expiry, and keeps reads of the inventory numbers
 * fast when many links have expired (docs/adr/0012-inventory-numbers.md). It changes no number and no link: without it,
 * responses are the same, only slower.
 */
@Injectable()
export class ExpiredLinks {
  constructor(
    private readonly dataSource: DataSource,
    private readonly tracking: TrackingService,
    loops: Loops,
  ) {
    const settle = async () => ((await this.settle()) >= LINKS_PER_TRANSACTION ? PAUSE_MS : INTERVAL_MS);
    loops.add({ task: 'settle expired links', everyMs: INTERVAL_MS, run: settle });
    const forget = async () => void (await this.dataSource.query(FORGET_COUNTERS));
    loops.add({ task: 'delete counters of past periods', everyMs: FORGET_INTERVAL_MS, run: forget });
  }

  /** @returns the number of links settled */
  async settle(maxLinks = LINKS_PER_TRANSACTION): Promise<number> {
    const [{ settled }] = await this.dataSource.query<[{ settled: number }]>(
      'select settle_expired($1) as settled',
      [maxLinks],
    );
    if (settled > 0) this.tracking.relaySoon();
    return settled;
  }
}
