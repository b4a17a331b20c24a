interface Waiting {
  bytes: number;
  enter: () => void;
}

/**
 * Bounds what large bodies take of the memory, whoever sends them and however slowly: each has its place from its arrival to its
 * answer, and those for which there is none wait in their connections.
 */
export class BodyRoom {
  private used = 0;
  private readonly waiting: Waiting[] = [];

  /** @param bytes of all bodies together; one alone may have more */
  constructor(private readonly bytes: number) {}

  /**
   * @param enter called when there is a place, at once or later, in the order of arrival
   * @returns to be called when the place is free again, or not wanted any more
   */
  ask(bytes: number, enter: () => void): () => void {
    const place = { bytes, enter };
    this.waiting.push(place);
    this.letIn();
    let hasLeft = false;
    return () => {
      if (hasLeft) return;
      hasLeft = true;
      const at = this.waiting.indexOf(place);
      if (at >= 0) this.waiting.splice(at, 1);
      else this.used -= bytes;
      this.letIn();
    };
  }

  private letIn(): void {
    for (let [next] = this.waiting; next; [next] = this.waiting) {
      if (this.used > 0 && this.used + next.bytes > this.bytes) return;
      this.waiting.shift();
      this.used += next.bytes;
      next.enter();
    }
  }
}
