interface Waiting {
  bytes: number;
  enter: () => void;
}
interface Source {
  used: number;
  waiting: Waiting[];
}

/**
 * Bounds what large bodies take of the memory, whoever sends them and however slowly: each has its place from its arrival to its
 * answer, and those for which there is none wait in their connections. One source never has more than its share, and sources take
 * turns, so that whoever sends slowly keeps nobody else waiting.
 */
export class BodyRoom {
  private used = 0;
  /** Those with bodies, in the order of their turns. */
  private readonly sources = new Map<string, Source>();

  /**
   * @param bytes of all bodies together; one alone may have more
   * @param share of them for one source; a single body of it may have more
   */
  constructor(
    private readonly bytes: number,
    private readonly share: number,
  ) {}

  /**
   * @param enter called when there is a place, at once or later
   * @returns to be called when the place is free again, or not wanted any more
   */
  ask(from: string, bytes: number, enter: () => void): () => void {
    const source = this.sources.get(from) ?? { used: 0, waiting: [] };
    this.sources.set(from, source);
    const place = { bytes, enter };
    source.waiting.push(place);
    this.letIn();
    let hasLeft = false;
    return () => {
      if (hasLeft) return;
      hasLeft = true;
      const at = source.waiting.indexOf(place);
      if (at >= 0) source.waiting.splice(at, 1);
      else {
        source.used -= bytes;
        this.used -= bytes;
      }
      if (source.used === 0 && source.waiting.length === 0) this.sources.delete(from);
      this.letIn();
    };
  }

  private letIn(): void {
    for (const [from, source] of this.sources) {
      const [next] = source.waiting;
      if (!next || (source.used > 0 && source.used + next.bytes > this.share)) continue;
      // Also a large one has its turn.
      if (this.used > 0 && this.used + next.bytes > this.bytes) return;
      source.waiting.shift();
      source.used += next.bytes;
      this.used += next.bytes;
      // To the end of the turns, where it is met again.
      this.sources.delete(from);
      this.sources.set(from, source);
      next.enter();
    }
  }
}
