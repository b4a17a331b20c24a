import type { OnModuleDestroy, OnModuleInit } from '@nestjs/common';
import type { KeyUses } from '@perkway/domain';
import type { Logger } from 'pino';
import type { KeyStore } from './key-store.js';

/** Records when keys were used. Must have a timeout. */
export type KeyUseRecorder = (uses: KeyUses) => Promise<unknown>;

const REPORT_MS = 5_000;
const MINUTE_MS = 60_000;
/** Keys per message. */
const MOST_KEYS = 5_000;

/**
 * Reports used keys to their owner, each at most once a minute. Requests do no extra work for this, because the key
 * cache already knows when each key was last used.
 */
export class KeyUseReporter implements OnModuleInit, OnModuleDestroy {
  private timer: NodeJS.Timeout | undefined;
  /** Last reported minute of each recently used key. */
  private told = new Map<string, number>();
  private since = 0;
  private isReporting = false;
  private isOwnerAway = false;

  constructor(
    private readonly keys: KeyStore,
    private readonly record: KeyUseRecorder,
    private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    this.timer = setInterval(() => void this.report(), REPORT_MS).unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  /** Never rejects: a failed report is repeated next time. */
  async report(): Promise<void> {
    if (this.isReporting) return;
    this.isReporting = true;
    // Taken before the scan, so that a use during the scan is in the next report.
    const started = Date.now();
    try {
      const news = new Map<string, number>();
      const told = new Map<string, number>();
      for (const { value, usedAt } of this.keys.usedSince(this.since)) {
        // A request with an expired key was rejected.
        if (value.expiresAt !== undefined && value.expiresAt <= usedAt) continue;
        const minute = Math.floor(usedAt / MINUTE_MS);
        const known = this.told.get(value.keyId);
        if (known === undefined || known < minute) news.set(value.keyId, minute);
        else told.set(value.keyId, known);
      }
      const all = [...news];
      for (let from = 0; from < all.length; from += MOST_KEYS)
        await this.record({ minutes: Object.fromEntries(all.slice(from, from + MOST_KEYS)) });
      this.told = new Map([...told, ...news]);
      this.since = started;
      this.isOwnerAway = false;
    } catch (err) {
      if (!this.isOwnerAway) this.logger.debug({ err }, 'cannot report used keys');
      this.isOwnerAway = true;
    } finally {
      this.isReporting = false;
    }
  }
}
