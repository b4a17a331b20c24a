interface Entry<V> {
  value: V;
  weight: number;
  /** When it was used last, in uses of the cache. */
  usedAt: number;
}

/** What is dropped at once, so that not every new value has to look for the oldest one. */
const DROP_TO = 0.9;

/** Keeps what was used last, up to a total weight. */
export class WeightedCache<V> {
  private readonly entries = new Map<string, Entry<V>>();
  private total = 0;
  private uses = 0;

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
    entry.usedAt = ++this.uses;
    return entry.value;
  }

  /** A single value heavier than everything allowed is kept until the next one comes. */
  set(key: string, value: V, weight: number): void {
    this.delete(key);
    this.entries.set(key, { value, weight, usedAt: ++this.uses });
    this.total += weight;
    if (this.total > this.maxWeight) this.dropOldest(key);
  }

  delete(key: string): void {
    const entry = this.entries.get(key);
    if (!entry) return;
    this.entries.delete(key);
    this.total -= entry.weight;
  }

  values(): V[] {
    return [...this.entries.values()].map(({ value }) => value);
  }

  deleteWhere(predicate: (key: string) => boolean): void {
    for (const key of [...this.entries.keys()]) if (predicate(key)) this.delete(key);
  }

  private dropOldest(except: string) {
    const byAge = [...this.entries].sort(([, a], [, b]) => a.usedAt - b.usedAt);
    for (const [key] of byAge) {
      if (this.total <= this.maxWeight * DROP_TO) break;
      if (key !== except) this.delete(key);
    }
  }
}
