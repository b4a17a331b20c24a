import type { OnModuleDestroy, OnModuleInit } from '@nestjs/common';
import type { KeyUses } from '@perkway/domain';
import type { Logger } from 'pino';
import type { KeyStore } from './key-store.js';

/** Takes down when keys were used. Must have a timeout. */
export type KeyUseRecorder = (uses: KeyUses) => Promise<unknown>;

const REPORT_MS = 5_000;
const MINUTE_MS = 60_000;
/** Keys in one message. */
const MOST_KEYS = 5_000;

/**
 * Tells the owner of the keys which were used, each at most once a minute. Nothing is noted while a request is answered:
 * the memory of the keys knows when each was asked for.
 */
export class KeyUseReporter implements OnModuleInit, OnModuleDestroy {
  private timer: NodeJS.Timeout | undefined;
  /** The minute that was told last of each key; of the last turns only. */
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

  /** Never rejects: what was not heard is told again with the next turn. */
  async report(): Promise<void> {
    if (this.isReporting) return;
    this.isReporting = true;
    // A key used in the millisecond of a turn is looked at in both.
    const started = Date.now();
    try {
      const news = new Map<string, number>();
      const told = new Map<string, number>();
      for (const { value, usedAt } of this.keys.usedSince(this.since)) {
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
      if (!this.isOwnerAway) this.logger.debug({ err }, 'cannot tell which keys were used');
      this.isOwnerAway = true;
    } finally {
      this.isReporting = false;
    }
  }
}
