import type { OnModuleDestroy } from '@nestjs/common';
import type { ResolvedKey } from '@perkway/domain';
import { RefreshingCache } from '@perkway/platform';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { hashApiKey } from './hash-api-key.js';

/**
 * Answers for key hashes whose key it is; a hash that belongs to no valid key is absent from the answer. Must have
 * a timeout and fails as a DomainError of 503 or as a database error.
 */
export type KeyResolver = (hashes: string[]) => Promise<Record<string, ResolvedKey>>;

/** A revoked key is refused everywhere within 5 s: two turns of this and the time of an answer. */
const REFRESH_MS = 2_000;
/** While the owner is away, keys already known stay valid this long. */
const STALE_FOR_MS = 60_000;
/** Spellings of valid keys whose hash is remembered. */
const MAX_HASHES = 10_000;

/** The valid keys that this process has seen, refreshed in the background (docs/adr/0006-api-keys-in-memory.md). */
export class KeyStore implements OnModuleDestroy {
  private readonly cache: RefreshingCache<ResolvedKey>;
  /** The hash of each valid key as it was written: hashing costs more than the rest of the check together. */
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

  /** Whose key this is, if that is known without asking. */
  peek(key: string): ResolvedKey | undefined {
    const hash = this.hashes.get(key);
    return hash === undefined ? undefined : this.cache.peek(hash);
  }

  /** Whose key this is; undefined for an unknown or revoked one. Fails with 503 when that cannot be found out. */
  async find(key: string): Promise<ResolvedKey | undefined> {
    const hash = hashApiKey(this.pepper, key);
    const found = await this.cache.get(hash);
    if (found) this.hashes.set(key, hash);
    return found;
  }

  /** Valid keys that came with a request since then, and when the last one did (epoch milliseconds). */
  usedSince(time: number): Iterable<{ value: ResolvedKey; usedAt: number }> {
    return this.cache.usedSince(time);
  }

  /** Forgets a key that this process has just made, revoked or changed. */
  invalidate(hash: string): void {
    this.cache.invalidate(hash);
  }

  onModuleDestroy(): void {
    this.cache.stop();
  }
}
