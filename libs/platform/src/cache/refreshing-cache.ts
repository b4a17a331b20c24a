import type { ErrorCode } from '@perkway/domain';
import type { Logger } from 'pino';
import { toApiError } from '../errors/to-api-error.js';

export interface RefreshingCacheOptions<V> {
  /** Name used in logs and errors. */
  name: string;
  logger: Logger;
  /**
   * Loads values from the owner. Keys that the owner does not know are absent from the result. Must have a timeout.
   */
  load: (keys: string[]) => Promise<Record<string, V>>;
  /** Interval at which all active entries are refreshed together. */
  refreshMs?: number;
  /** How long an entry is served while the owner is unavailable. After that, `get` fails as `load` does. */
  staleForMs: number;
  /** How long an unknown key stays cached as unknown. */
  missingForMs?: number;
  /** Entries that were not read for this long are no longer refreshed. */
  idleAfterMs?: number;
  maxEntries?: number;
}

interface Entry<V> {
  value: V | undefined;
  /** When the owner last confirmed the entry. */
  confirmedAt: number;
  usedAt: number;
  /** True while a background refresh covers this entry, so readers need not wait for it. */
  isBeingRefreshed?: boolean;
}

/** How long a reader waits for a fresher value when a stale one may be served. */
const TIMEOUT_MS = 250;
/** How long a miss waits for the running load, to join the next one. */
const SHARE_MS = 100;
/** Maximum keys per call of `load`. */
const BATCH = 500;

/**
 * Caches values of another app or of the database and refreshes them in the background. No request waits for a
 * refresh, a change takes effect within seconds, and a short outage of the owner goes unnoticed.
 */
export class RefreshingCache<V> {
  private readonly entries = new Map<string, Entry<V>>();
  private readonly loading = new Map<string, Promise<V | undefined>>();
  private queued: string[] = [];
  private queue: Promise<Record<string, V>> | null = null;
  /** The latest load that has not finished. */
  private runningLoad: Promise<unknown> | undefined;
  /** Why the last load failed. */
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

  /** Returns a fresh value without waiting. If it returns undefined, call `get`. */
  peek(key: string): V | undefined {
    const entry = this.entries.get(key);
    if (!entry || entry.value === undefined) return undefined;
    const now = Date.now();
    if (now - entry.confirmedAt > this.refreshMs * 2) return undefined;
    entry.usedAt = now;
    return entry.value;
  }

  /** Returns the values that were read since the given time, with the time of the last read. */
  *usedSince(time: number): Iterable<{ value: V; usedAt: number }> {
    for (const { value, usedAt } of this.entries.values())
      if (value !== undefined && usedAt >= time) yield { value, usedAt };
  }

  /** Returns the value, or undefined if the owner does not know the key. Fails only if there is nothing to serve. */
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
      if (mayServeStale) return this.withinTimeout(this.load(key), entry.value);
    }
    return this.load(key);
  }

  /** Drops an entry that this process has just changed. */
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

  private withinTimeout(loading: Promise<V | undefined>, stale: V | undefined): Promise<V | undefined> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(stale), TIMEOUT_MS);
      void loading
        .catch(() => stale)
        .then((value) => {
          clearTimeout(timer);
          resolve(value);
        });
    });
  }

  /**
   * Batches misses: those of the same moment share one load, and those that come during a load share the next one. A
   * flood of unknown keys causes a few loads per second with many keys each.
   */
  private load(key: string): Promise<V | undefined> {
    const running = this.loading.get(key);
    if (running) return running;
    this.queued.push(key);
    this.queue ??= this.untilLoadEnds().then(() => {
      const keys = this.queued;
      this.queued = [];
      this.queue = null;
      const requested = this.request(keys);
      this.runningLoad = requested;
      const settle = () => {
        if (this.runningLoad === requested) this.runningLoad = undefined;
      };
      requested.then(settle, settle);
      return requested;
    });
    const loading: Promise<V | undefined> = this.queue
      .then((found) => {
        // After an invalidation during the load, the result goes to the waiting callers only.
        if (this.loading.get(key) === loading) this.store(key, found[key], Date.now());
        return found[key];
      })
      .finally(() => {
        if (this.loading.get(key) === loading) this.loading.delete(key);
      });
    this.loading.set(key, loading);
    return loading;
  }

  private untilLoadEnds(): Promise<void> {
    const { runningLoad } = this;
    if (!runningLoad) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, SHARE_MS);
      const done = () => {
        clearTimeout(timer);
        resolve();
      };
      runningLoad.then(done, done);
    });
  }

  private async request(keys: string[]): Promise<Record<string, V>> {
    try {
      const found: Record<string, V> = Object.create(null);
      for (let from = 0; from < keys.length; from += BATCH)
        Object.assign(found, await this.options.load(keys.slice(from, from + BATCH)));
      if (this.failure) this.options.logger.info({ cache: this.options.name }, 'owner is available again');
      this.failure = undefined;
      return found;
    } catch (err) {
      this.noteFailure(err);
      throw err;
    }
  }

  /** Logs the failure once. */
  private noteFailure(err: unknown) {
    const { code } = toApiError(err);
    if (code === this.failure) return;
    this.failure = code;
    const { logger, name: cache } = this.options;
    if (code === 'DEPENDENCY_UNAVAILABLE')
      logger.warn({ cache, err }, 'owner is unavailable, serving cached values');
    else logger.error({ cache, err }, 'owner responds with an error, serving cached values');
  }

  private store(key: string, value: V | undefined, usedAt: number) {
    // Re-inserting keeps the map ordered by confirmation, so the oldest entries come first.
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
      // While the owner is unavailable, one key is enough to detect its return.
      const keys = this.failure && active.length > 0 ? active.slice(0, 1) : active;
      if (keys.length === 0) {
        this.failure = undefined;
        return;
      }
      const before = new Map(keys.map((key) => [key, this.entries.get(key)]));
      for (const entry of before.values()) entry!.isBeingRefreshed = true;
      const found = await this.request(keys).finally(() => {
        for (const entry of before.values()) entry!.isBeingRefreshed = false;
      });
      for (const key of keys) {
        const entry = this.entries.get(key);
        // An entry that was changed or dropped meanwhile is newer than the response.
        if (entry && entry === before.get(key)) this.store(key, found[key], entry.usedAt);
      }
    } catch {
      // `request` has logged it; the next round retries.
    } finally {
      this.isRefreshing = false;
    }
  }
}
