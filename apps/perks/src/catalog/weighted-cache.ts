/** Keeps what was used last, up to a total weight. */
export class WeightedCache<V> {
  private readonly entries = new Map<string, { value: V; weight: number }>();
  private total = 0;

  constructor(private readonly maxWeight: number) {}

  get size(): number {
    return this.entries.size;
  }

  get weight(): number {
    return this.total;
  }

  get(key: string): V | undefined {
    const entry = this.entries.get(key);
    if (!entry) return undefined;
    // A map keeps the order of insertion, so the first entry is the one that was not used for the longest time.
    this.entries.delete(key);
    this.entries.set(key, entry);
    return entry.value;
  }

  /** A single value heavier than everything allowed is kept until the next one comes. */
  set(key: string, value: V, weight: number): void {
    this.delete(key);
    this.entries.set(key, { value, weight });
    this.total += weight;
    for (const [oldest] of this.entries) {
      if (this.total <= this.maxWeight || oldest === key) break;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    const entry = this.entries.get(key);
    if (!entry) return;
    this.entries.delete(key);
    this.total -= entry.weight;
  }

  /** A copy, so that the cache may change while it is gone through. */
  values(): V[] {
    return [...this.entries.values()].map(({ value }) => value);
  }

  deleteWhere(predicate: (key: string) => boolean): void {
    for (const key of [...this.entries.keys()]) if (predicate(key)) this.delete(key);
  }
}
