/** Longer than it takes to notice that the database is gone: the poll of the relay, and its patience with a statement. */
const KEPT_MS = 10_000;
const MOST = 20_000;

/**
 * Events that were written to the outbox lately, oldest first. The database that has them may go and be followed by one that
 * never heard of them (a standby that was behind); what somebody was answered is still known here then.
 */
export class CommittedEvents {
  private groups: { at: number; events: readonly string[] }[] = [];
  private size = 0;

  constructor(
    private readonly keptMs = KEPT_MS,
    private readonly most = MOST,
  ) {}

  add(events: readonly string[], now = performance.now()): void {
    if (events.length === 0) return;
    this.groups.push({ at: now, events });
    this.size += events.length;
    this.forget(now);
  }

  /** Those that are kept still, once. */
  takeAll(now = performance.now()): string[] {
    this.forget(now);
    const events = this.groups.flatMap((group) => group.events);
    this.groups = [];
    this.size = 0;
    return events;
  }

  private forget(now: number): void {
    let gone = 0;
    for (; gone < this.groups.length; gone += 1) {
      const { at, events } = this.groups[gone]!;
      if (now - at <= this.keptMs && this.size <= this.most) break;
      this.size -= events.length;
    }
    if (gone > 0) this.groups.splice(0, gone);
  }
}
