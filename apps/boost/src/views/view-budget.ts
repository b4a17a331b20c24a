/** Maximum number of views remembered per second. Beyond it, equal event ids still make them count once. */
const REMEMBERED = 100_000;

/**
 * Sheds floods before they reach the broker: this process tracks a view at most once per second. Across processes,
 * equal
 * event ids make the views of a second count once.
 */
export class ViewBudget {
  private second = 0;
  private current = new Map<string, Promise<void>>();
  private previous = new Map<string, Promise<void>>();

  /** Runs `track` for the first call per second and key; other calls get the same promise. */
  once(second: number, key: string, track: () => Promise<void>): Promise<void> {
    this.turnTo(second);
    const seen =
      second === this.second ? this.current : second === this.second - 1 ? this.previous : undefined;
    const known = seen?.get(key);
    if (known) return known;
    const tracked = track();
    if (seen && seen.size < REMEMBERED) seen.set(key, tracked);
    return tracked;
  }

  private turnTo(second: number) {
    if (second <= this.second) return;
    this.previous = second === this.second + 1 ? this.current : new Map();
    this.current = new Map();
    this.second = second;
  }
}
