/** Collects parameters while SQL is written. */
export class Params {
  readonly values: unknown[] = [];
  private readonly added = new Map<object, string>();

  add(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }

  /** Adds a value once per key: a condition may occur several times in a statement, and its values may be long. */
  addOnce(key: object, make: () => unknown): string {
    let placeholder = this.added.get(key);
    if (placeholder === undefined) this.added.set(key, (placeholder = this.add(make())));
    return placeholder;
  }
}
