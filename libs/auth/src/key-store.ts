import type { OnModuleDestroy } from '@nestjs/common';
import type { ResolvedKey } from '@perkway/domain';
import { RefreshingCache } from '@perkway/platform';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { hashApiKey } from './hash-api-key.js';

/**
 * Resolves key hashes; those of unknown and revoked keys are absent from the result. Expired keys may be in it. Must
 * have a timeout, and fail with an ApiError of 503 or a database error.
 */
export type KeyResolver = (hashes: string[]) => Promise<Record<string, ResolvedKey>>;

/** A revoked key must be rejected everywhere within 5 s: two refreshes plus one response. */
const REFRESH_MS = 2_000;
/** How long known keys remain valid while the owner is unavailable. */
const STALE_FOR_MS = 60_000;
/** Number of key spellings whose hash is cached. */
const MAX_HASHES = 10_000;

/**
 * Caches the known keys that this process has seen and refreshes them in the background
 * (docs/adr/0006-api-keys-in-memory.md).
 */
export class KeyStore implements OnModuleDestroy {
  private readonly cache: RefreshingCache<ResolvedKey>;
  /** Hash by key as written, because hashing costs more than the rest of the check. */
  private readonly hashes = new LRUCache<string, string>({ max: MAX_HASHES });

  constructor(
    private readonly pepper: string,
    resolve: KeyResolver,
    logger: Logger,
  ) {
    this.cache = new RefreshingCache<ResolvedKey>({
      name: 'api-keys',
      logger,
      load: resolve,
      refreshMs: REFRESH_MS,
      staleForMs: STALE_FOR_MS,
    });
  }

  /** Returns the key if a fresh copy is in the cache. */
  peek(key: string): ResolvedKey | undefined {
    const hash = this.hashes.get(key);
    return hash === undefined ? undefined : this.cache.peek(hash);
  }

  /**
   * Returns the key, which may have expired; undefined if it is unknown or revoked. Fails with 503 if it cannot be
   * looked up.
   */
  async find(key: string): Promise<ResolvedKey | undefined> {
    const hash = hashApiKey(this.pepper, key);
    const found = await this.cache.get(hash);
    if (found) this.hashes.set(key, hash);
    return found;
  }

  /** Returns the cached keys used since `time`, with the time of their last use (epoch milliseconds). */
  usedSince(time: number): Iterable<{ value: ResolvedKey; usedAt: number }> {
    return this.cache.usedSince(time);
  }

  /** Removes a key from the cache after this process has created, revoked or changed it. */
  invalidate(hash: string): void {
    this.cache.invalidate(hash);
  }

  onModuleDestroy(): void {
    this.cache.stop();
  }
}
