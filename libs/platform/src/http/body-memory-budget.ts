interface Waiting {
  bytes: number;
  enter: () => void;
}
interface Source {
  used: number;
  waiting: Waiting[];
}

/**
 * Bounds the memory that large request bodies hold together. Each body holds its bytes from arrival to response;
 * bodies over the budget wait in their connections. A source has a limited share, and sources take turns, so a slow
 * sender delays only itself.
 */
export class BodyMemoryBudget {
  private used = 0;
  /** Sources with bodies, in turn order. */
  private readonly sources = new Map<string, Source>();

  /**
   * @param bytes budget of all bodies together; a single body may exceed it
   * @param share budget per source; a single body may exceed it
   */
  constructor(
    private readonly bytes: number,
    private readonly share: number,
  ) {}

  /**
   * @param enter called when the body fits, at once or later
   * @returns call it when the body is processed or no longer wanted
   */
  request(from: string, bytes: number, enter: () => void): () => void {
    const source = this.sources.get(from) ?? { used: 0, waiting: [] };
    this.sources.set(from, source);
    const place = { bytes, enter };
    source.waiting.push(place);
    this.admitWaiting();
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
      this.admitWaiting();
    };
  }

  private admitWaiting(): void {
    for (const [from, source] of this.sources) {
      const [next] = source.waiting;
      if (!next || (source.used > 0 && source.used + next.bytes > this.share)) continue;
      // Large bodies get their turn too.
      if (this.used > 0 && this.used + next.bytes > this.bytes) return;
      source.waiting.shift();
      source.used += next.bytes;
      this.used += next.bytes;
      // Moves the source to the end of the order.
      this.sources.delete(from);
      this.sources.set(from, source);
      next.enter();
    }
  }
}
