/** Events that may be in neither the stream nor the outbox, oldest first. A full buffer drops the oldest. */
export class AtRiskBuffer {
  private events: string[] = [];
  /** Index of the oldest event; the array is compacted only occasionally. */
  private head = 0;
  private characters = 0;

  constructor(
    private readonly maxEvents: number,
    private readonly maxCharacters: number,
  ) {}

  get size(): number {
    return this.events.length - this.head;
  }

  /** @returns how many events were dropped to make room */
  push(events: readonly string[]): number {
    for (const event of events) {
      this.events.push(event);
      this.characters += event.length;
    }
    return this.dropOldest();
  }

  /** Puts taken events back that could not be stored; they are the oldest again. */
  putBack(events: readonly string[]): number {
    this.events = [...events, ...this.events.slice(this.head)];
    this.head = 0;
    for (const event of events) this.characters += event.length;
    return this.dropOldest();
  }

  /** Takes the oldest events: at least one, otherwise as many as fit both limits. */
  take(maxEvents: number, maxCharacters: number): string[] {
    const taken: string[] = [];
    let characters = 0;
    while (this.size > 0 && taken.length < maxEvents) {
      const next = this.events[this.head]!;
      if (taken.length > 0 && characters + next.length > maxCharacters) break;
      taken.push(next);
      characters += next.length;
      this.head += 1;
    }
    this.characters -= characters;
    this.compact();
    return taken;
  }

  private dropOldest(): number {
    let dropped = 0;
    while (this.size > this.maxEvents || (this.characters > this.maxCharacters && this.size > 1)) {
      this.characters -= this.events[this.head]!.length;
      this.head += 1;
      dropped += 1;
    }
    this.compact();
    return dropped;
  }

  private compact() {
    if (this.head < 1024 || this.head * 2 < this.events.length) return;
    this.events = this.events.slice(this.head);
    this.head = 0;
  }
}
