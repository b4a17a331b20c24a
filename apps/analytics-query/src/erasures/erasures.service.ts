import { Inject, Injectable } from '@nestjs/common';
import type { ErasedPart, Erasure } from '@perkway/domain';
import { LOGGER } from '@perkway/platform';
import { LRUCache } from 'lru-cache';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { EventEraser } from './event-eraser.js';
import { StreamEraser } from './stream-eraser.js';

/** Time after which the RPC responds, whether or not the erasure is done. */
const TIMEOUT_MS = 500;
const MAX_REMEMBERED = 10_000;

const keyOf = ({ id, round }: Erasure): string => `${id}/${round}`;

/**
 * Runs erasures in batches, because each run reads all stored data: erasures requested during a batch wait for the next
 * one. Stores no state: token-issuer repeats its request until a replica has finished and remembers that in memory.
 * Repeating an erasure changes nothing.
 */
@Injectable()
export class ErasuresService {
  private readonly waiting = new Map<string, Erasure>();
  private readonly done = new LRUCache<string, true>({ max: MAX_REMEMBERED });
  private working: Promise<void> | undefined;

  constructor(
    private readonly events: EventEraser,
    private readonly streams: StreamEraser,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  async erase(erasure: Erasure): Promise<ErasedPart> {
    const key = keyOf(erasure);
    if (!this.done.has(key)) {
      this.waiting.set(key, erasure);
      this.working ??= this.work().finally(() => (this.working = undefined));
      const end = new AbortController();
      await Promise.race([
        this.working,
        sleep(TIMEOUT_MS, undefined, { signal: end.signal }).catch(() => undefined),
      ]);
      end.abort();
    }
    return { isDone: this.done.has(key) };
  }

  private async work(): Promise<void> {
    while (this.waiting.size > 0) {
      const batch = [...this.waiting.values()];
      try {
        for (const account of new Set(batch.map((each) => each.account)))
          await this.events.erase(
            account,
            batch.filter((each) => each.account === account),
          );
        await this.streams.erase(batch);
        for (const erasure of batch) this.done.set(keyOf(erasure), true);
      } catch (err) {
        this.logger.warn({ err }, 'cannot erase yet');
      }
      // Failed erasures will be requested again.
      for (const erasure of batch) this.waiting.delete(keyOf(erasure));
    }
  }
}
