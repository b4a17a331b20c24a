import type { ErrorCode } from '@perkway/domain';
import type { Logger } from 'pino';
import { toDomainError } from '../errors/to-domain-error.js';

export interface RefreshingCacheOptions<V> {
  /** For logs and errors. */
  name: string;
  logger: Logger;
  /** Asks the owner; a key that the owner does not know is absent from the answer. Must have a timeout. */
  load: (keys: string[]) => Promise<Record<string, V>>;
  /** All active entries are asked for again, in one request, this often. */
  refreshMs?: number;
  /** How long an entry is served while the owner is away; after that `get` fails as `load` does. */
  staleForMs: number;
  /** How long "the owner does not know it" is believed. */
  missingForMs?: number;
  /** An entry nobody has asked for during this time is no longer refreshed. */
  idleAfterMs?: number;
  maxEntries?: number;
}

interface Entry<V> {
  value: V | undefined;
  /** When the owner last confirmed it. */
  confirmedAt: number;
  usedAt: number;
  /** True while a background refresh asks about it: nobody else needs to wait for that answer. */
  isBeingRefreshed?: boolean;
}

/** How long a caller waits for a fresher value than one that may be served. */
const PATIENCE_MS = 250;
/** How long a miss waits for the question that is under way, to go with the next one. */
const SHARE_MS = 100;
/** Most keys in one call of `load`. */
const BATCH = 500;

/**
 * Answers of another app, or of the database, kept in this process and refreshed in the background, so that no
 * customer waits for a refresh, a change is in force within seconds, and an owner that is away is not noticed.
 */
export class RefreshingCache<V> {
  private readonly entries = new Map<string, Entry<V>>();
  private readonly loading = new Map<string, Promise<V | undefined>>();
  private queued: string[] = [];
  private queue: Promise<Record<string, V>> | null = null;
  /** The last question to the owner that has no answer yet. */
  private underWay: Promise<unknown> | undefined;
  /** Why the owner did not answer the last time. */
  private failure: ErrorCode | undefined;
  private isRefreshing = false;
  private readonly timer: NodeJS.Timeout;
  private readonly refreshMs: number;
  private readonly missingForMs: number;
  private readonly idleAfterMs: number;
  private readonly maxEntries: number;

  constructor(private readonly options: RefreshingCacheOptions<V>) {
    this.refreshMs = options.refreshMs ?? 2_000;
    this.missingForMs = options.missingForMs ?? 1_000;
    this.idleAfterMs = options.idleAfterMs ?? 60_000;
    this.maxEntries = options.maxEntries ?? 50_000;
    this.timer = setInterval(() => void this.refresh(), this.refreshMs).unref();
  }

  /** The value without waiting, if the entry is fresh; undefined says "ask with get". */
  peek(key: string): V | undefined {
    const entry = this.entries.get(key);
    if (!entry || entry.value === undefined) return undefined;
    const now = Date.now();
    if (now - entry.confirmedAt > this.refreshMs * 2) return undefined;
    entry.usedAt = now;
    return entry.value;
  }

  /** Values that somebody has asked for since then, and when that was. */
  *usedSince(time: number): Iterable<{ value: V; usedAt: number }> {
    for (const { value, usedAt } of this.entries.values())
      if (value !== undefined && usedAt >= time) yield { value, usedAt };
  }

  /** The value, or undefined where the owner does not know the key. Fails only when there is nothing to serve. */
  async get(key: string): Promise<V | undefined> {
    const now = Date.now();
    const entry = this.entries.get(key);
    if (entry) {
      entry.usedAt = now;
      const age = now - entry.confirmedAt;
      const isMissing = entry.value === undefined;
      if (age <= (isMissing ? this.missingForMs : this.refreshMs * 2)) return entry.value;
      const mayServeStale = !isMissing && age <= this.options.staleForMs;
      if (mayServeStale && (this.failure || entry.isBeingRefreshed)) return entry.value;
      if (mayServeStale) return this.withinPatience(this.load(key), entry.value);
    }
    return this.load(key);
  }

  /** Forgets an entry that this process has just changed. */
  invalidate(key: string): void {
    this.entries.delete(key);
    this.loading.delete(key);
  }

  clear(): void {
    this.entries.clear();
    this.loading.clear();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private withinPatience(loading: Promise<V | undefined>, stale: V | undefined): Promise<V | undefined> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(stale), PATIENCE_MS);
      void loading
        .catch(() => stale)
        .then((value) => {
          clearTimeout(timer);
          resolve(value);
        });
    });
  }

  /**
   * Callers that miss at the same moment share one request to the owner, and so do those that miss while it is being asked: a
   * flood of unknown keys asks it a few times a second, with many keys each, and not once for each of them.
   */
  private load(key: string): Promise<V | undefined> {
    const running = this.loading.get(key);
    if (running) return running;
    this.queued.push(key);
    this.queue ??= this.untilAnswered().then(() => {
      const keys = this.queued;
      this.queued = [];
      this.queue = null;
      const asking = this.ask(keys);
      this.underWay = asking;
      const settle = () => {
        if (this.underWay === asking) this.underWay = undefined;
      };
      asking.then(settle, settle);
      return asking;
    });
    const loading: Promise<V | undefined> = this.queue
      .then((found) => {
        // An invalidation in the meantime makes this answer one for its waiting callers only.
        if (this.loading.get(key) === loading) this.store(key, found[key], Date.now());
        return found[key];
      })
      .finally(() => {
        if (this.loading.get(key) === loading) this.loading.delete(key);
      });
    this.loading.set(key, loading);
    return loading;
  }

  private untilAnswered(): Promise<void> {
    const { underWay } = this;
    if (!underWay) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, SHARE_MS);
      const done = () => {
        clearTimeout(timer);
        resolve();
      };
      underWay.then(done, done);
    });
  }

  private async ask(keys: string[]): Promise<Record<string, V>> {
    try {
      const found: Record<string, V> = Object.create(null);
      for (let from = 0; from < keys.length; from += BATCH)
        Object.assign(found, await this.options.load(keys.slice(from, from + BATCH)));
      if (this.failure) this.options.logger.info({ cache: this.options.name }, 'owner is back');
      this.failure = undefined;
      return found;
    } catch (err) {
      this.noteFailure(err);
      throw err;
    }
  }

  /** Says it once. */
  private noteFailure(err: unknown) {
    const { code } = toDomainError(err);
    if (code === this.failure) return;
    this.failure = code;
    const { logger, name: cache } = this.options;
    if (code === 'DEPENDENCY_UNAVAILABLE')
      logger.warn({ cache, err }, 'owner is away, serving what is known');
    else logger.error({ cache, err }, 'owner fails to answer, serving what is known');
  }

  private store(key: string, value: V | undefined, usedAt: number) {
    // Re-inserting keeps the map in order of confirmation, so the first entries are the ones to drop.
    this.entries.delete(key);
    this.entries.set(key, { value, confirmedAt: Date.now(), usedAt });
    while (this.entries.size > this.maxEntries) this.entries.delete(this.entries.keys().next().value!);
  }

  private async refresh() {
    if (this.isRefreshing) return;
    this.isRefreshing = true;
    try {
      const now = Date.now();
      const active: string[] = [];
      for (const [key, entry] of this.entries) {
        if (entry.value === undefined) {
          if (now - entry.confirmedAt > this.missingForMs) this.entries.delete(key);
        } else if (now - entry.usedAt <= this.idleAfterMs) active.push(key);
        else if (now - entry.confirmedAt > this.options.staleForMs) this.entries.delete(key);
      }
      // While the owner is away one key is enough to find out that it is back.
      const keys = this.failure && active.length > 0 ? active.slice(0, 1) : active;
      if (keys.length === 0) {
        this.failure = undefined;
        return;
      }
      const before = new Map(keys.map((key) => [key, this.entries.get(key)]));
      for (const entry of before.values()) entry!.isBeingRefreshed = true;
      const found = await this.ask(keys).finally(() => {
        for (const entry of before.values()) entry!.isBeingRefreshed = false;
      });
      for (const key of keys) {
        const entry = this.entries.get(key);
        // Changed or forgotten meanwhile: the newer knowledge stands.
        if (entry && entry === before.get(key)) this.store(key, found[key], entry.usedAt);
      }
    } catch {
      // Said once by `ask`; the next turn tries again.
    } finally {
      this.isRefreshing = false;
    }
  }
}
