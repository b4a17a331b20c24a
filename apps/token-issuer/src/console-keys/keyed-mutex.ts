import { unavailable } from '@perkway/domain';

/** After this time the caller has given up. */
const WAIT_LIMIT_MS = 1_000;

/**
 * Runs work with the same key one after the other, so that callers do not each hold a connection while they wait for
 * the same database lock. Work that has waited too long is rejected, because its caller is gone.
 */
export class KeyedMutex {
  private readonly last = new Map<string, Promise<unknown>>();

  /** @throws ApiError DEPENDENCY_UNAVAILABLE after waiting too long */
  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const arrivedAt = performance.now();
    const before = this.last.get(key) ?? Promise.resolve();
    const mine = before
      .catch(() => undefined)
      .then(() => {
        if (performance.now() - arrivedAt > WAIT_LIMIT_MS) throw unavailable('The API key service');
        return work();
      });
    this.last.set(key, mine);
    const forget = () => {
      if (this.last.get(key) === mine) this.last.delete(key);
    };
    mine.then(forget, forget);
    return mine;
  }
}
