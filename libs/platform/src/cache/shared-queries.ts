/** Lets equal requests share one query while it runs. */
export class SharedQueries<T> {
  private readonly running = new Map<string, Promise<T>>();

  run(parameters: unknown[], query: () => Promise<T>): Promise<T> {
    const key = JSON.stringify(parameters);
    let result = this.running.get(key);
    if (!result) {
      result = query().finally(() => this.running.delete(key));
      this.running.set(key, result);
    }
    return result;
  }
}
