/** Results of queries that took longer are kept. */
const SLOW_MS = 100;
/** A slow result is kept for this multiple of the time it took, so its query uses at most 5 % of a connection. */
const KEEP = 19;

/** Lets equal requests share one query while it runs and, if it was slow, for a while afterwards. */
export class SharedQueries<T> {
  private readonly results = new Map<string, Promise<T>>();

  run(parameters: unknown[], query: () => Promise<T>): Promise<T> {
    const key = JSON.stringify(parameters);
    const known = this.results.get(key);
    if (known) return known;
    const began = Date.now();
    const result = query();
    this.results.set(key, result);
    const drop = () => this.results.delete(key);
    result.then(() => {
      const took = Date.now() - began;
      if (took > SLOW_MS) setTimeout(drop, took * KEEP).unref();
      else drop();
    }, drop);
    return result;
  }
}
