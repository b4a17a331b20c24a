import type { KeyUses } from '@perkway/domain';
import type { Loops } from '@perkway/platform';
import type { KeyStore } from './key-store.js';

/** Records when keys were used. Must have a timeout. */
export type KeyUseRecorder = (uses: KeyUses) => Promise<unknown>;

const REPORT_MS = 5_000;
const MINUTE_MS = 60_000;
/** Keys per message. */
const MAX_KEYS = 5_000;

/**
 * Reports used keys to their owner, each at most once a minute. Requests do no extra work for this, because the key
 * cache already knows when each key was last used.
 */
export class KeyUseReporter {
  /** Last reported minute of each recently used key. */
  private reported = new Map<string, number>();
  private since = 0;

  constructor(
    private readonly keys: KeyStore,
    private readonly record: KeyUseRecorder,
    loops: Pick<Loops, 'add'>,
  ) {
    loops.add({ task: 'report used keys', everyMs: REPORT_MS, run: () => this.report() });
  }

  /** Reports the uses since the last report. If that fails, the next report contains them again. */
  async report(): Promise<void> {
    // Taken before the scan, so that a use during the scan is in the next report.
    const started = Date.now();
    const unreported = new Map<string, number>();
    const reported = new Map<string, number>();
    for (const { value, usedAt } of this.keys.usedSince(this.since)) {
      // A request with an expired key was rejected.
      if (value.expiresAt !== undefined && value.expiresAt <= usedAt) continue;
      const minute = Math.floor(usedAt / MINUTE_MS);
      const known = this.reported.get(value.keyId);
      if (known === undefined || known < minute) unreported.set(value.keyId, minute);
      else reported.set(value.keyId, known);
    }
    const all = [...unreported];
    for (let from = 0; from < all.length; from += MAX_KEYS)
      await this.record({ minutes: Object.fromEntries(all.slice(from, from + MAX_KEYS)) });
    this.reported = new Map([...reported, ...unreported]);
    this.since = started;
  }
}
