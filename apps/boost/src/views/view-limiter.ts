/** Maximum number of keys remembered per second. Repeated views of keys beyond it are tracked, but still count once. */
const MAX_REMEMBERED = 100_000;

/**
 * Tracks at most one view per second and key in this process, so that floods of views do not reach the broker. If
 * several processes track the same view, their events have the same id and count once.
 */
export class ViewLimiter {
  private second = 0;
  private current = new Map<string, Promise<void>>();
  private previous = new Map<string, Promise<void>>();

  /**
   * Runs `track` for the first call per second and key; other calls get the same promise. Calls for keys beyond
   * `MAX_REMEMBERED`, and for a second before the previous one, all run it.
   */
  once(second: number, key: string, track: () => Promise<void>): Promise<void> {
    this.advanceTo(second);
    const seen =
      second === this.second ? this.current : second === this.second - 1 ? this.previous : undefined;
    const known = seen?.get(key);
    if (known) return known;
    const tracked = track();
    if (seen && seen.size < MAX_REMEMBERED) seen.set(key, tracked);
    return tracked;
  }

  private advanceTo(second: number) {
    if (second <= this.second) return;
    this.previous = second === this.second + 1 ? this.current : new Map();
    this.current = new Map();
    this.second = second;
  }
}
