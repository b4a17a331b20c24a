import { unavailable } from '@perkway/domain';

/** Whoever asked has given up by then. */
const WAIT_LIMIT_MS = 1_000;

/**
 * Work that would wait for the same lock of the database, one after the other: those who wait do it here, and hold no connection that
 * others could use. What has waited for too long is not begun, so that nobody's time goes into answers that nobody hears.
 */
export class Turns {
  private readonly last = new Map<string, Promise<unknown>>();

  /** @throws DomainError DEPENDENCY_UNAVAILABLE when its turn comes too late */
  take<T>(key: string, work: () => Promise<T>): Promise<T> {
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
