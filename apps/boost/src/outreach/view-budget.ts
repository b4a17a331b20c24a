/** Distinct views of one second that are remembered; beyond them the identity of the event still counts them once. */
const REMEMBERED = 100_000;

/**
 * Sheds floods before they reach the broker: what was tracked in this second is not tracked again by this process. The
 * budget itself is kept by the identity of the event, across processes.
 */
export class ViewBudget {
  private second = 0;
  private current = new Map<string, Promise<void>>();
  private previous = new Map<string, Promise<void>>();

  /** Runs `track` for the first of a second and key; the others wait for the same result. */
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
