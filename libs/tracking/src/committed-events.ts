/** Longer than it takes to notice that the database is down: the relay's poll interval and statement timeout. */
const KEPT_MS = 10_000;
const MAX_EVENTS = 20_000;

/**
 * Events recently written to the outbox, oldest first. If the database fails over to a standby that was behind, its
 * outbox may lack them although their requests were acknowledged; this process still has them.
 */
export class CommittedEvents {
  private groups: { at: number; events: readonly string[] }[] = [];
  private size = 0;

  constructor(
    private readonly keptMs = KEPT_MS,
    private readonly maxEvents = MAX_EVENTS,
  ) {}

  add(events: readonly string[], now = performance.now()): void {
    if (events.length === 0) return;
    this.groups.push({ at: now, events });
    this.size += events.length;
    this.forget(now);
  }

  /** Returns the remembered events and forgets them. */
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
      if (now - at <= this.keptMs && this.size <= this.maxEvents) break;
      this.size -= events.length;
    }
    if (gone > 0) this.groups.splice(0, gone);
  }
}
