import { createLogger } from '../logging/logger.js';
import { RefreshingCache, type RefreshingCacheOptions } from './refreshing-cache.js';

type Owner = 'there' | 'unavailable' | 'hanging';

describe('RefreshingCache', () => {
  let owner: Owner;
  let known: Record<string, string>;
  let requested: string[][];
  let cache: RefreshingCache<string>;

  const make = (options: Partial<RefreshingCacheOptions<string>> = {}) =>
    (cache = new RefreshingCache<string>({
      name: 'test',
      logger: createLogger('test', 'silent'),
      refreshMs: 60,
      missingForMs: 30,
      staleForMs: Infinity,
      load: async (keys) => {
        requested.push(keys);
        if (owner === 'hanging') await new Promise((resolve) => setTimeout(resolve, 700));
        if (owner !== 'there') throw new Error('unavailable');
        return Object.fromEntries(keys.filter((key) => key in known).map((key) => [key, known[key]!]));
      },
      ...options,
    }));
  /** Lets the test decide when each load returns. */
  const makeWithHeldLoads = (options: Partial<RefreshingCacheOptions<string>> = {}) => {
    const loads: ((found: Record<string, string>) => void)[] = [];
    make({ load: () => new Promise((resolve) => loads.push(resolve)), ...options });
    return loads;
  };
  const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);
  /** Returns the result if it needs no time to pass, else `waits`. */
  const atOnce = async <T>(work: Promise<T>): Promise<T | 'waits'> =>
    Promise.race([work, pass(0).then(() => 'waits' as const)]);

  beforeEach(() => {
    jest.useFakeTimers();
    owner = 'there';
    known = { a: '1', b: '2' };
    requested = [];
  });
  afterEach(() => {
    cache.stop();
    jest.useRealTimers();
  });

  it('concurrent misses share one request; a cached value is not requested again', async () => {
    make();
    expect(await Promise.all([cache.get('a'), cache.get('b'), cache.get('a'), cache.get('c')])).toEqual([
      '1',
      '2',
      '1',
      undefined,
    ]);
    expect(requested).toEqual([['a', 'b', 'c']]);
    expect(await cache.get('a')).toBe('1');
    expect(cache.peek('a')).toBe('1');
    expect(requested).toHaveLength(1);
  });

  it('misses during a request share the next one', async () => {
    let reply = () => {};
    const free = new Promise<void>((resolve) => (reply = resolve));
    make({
      load: async (keys) => {
        requested.push(keys);
        await free;
        return {};
      },
    });
    const flood: Promise<unknown>[] = [];
    for (let index = 0; index < 200; index += 1) {
      flood.push(cache.get(`unknown-${index}`));
      // Let the event loop advance, so that the misses do not coincide.
      await Promise.resolve();
      await Promise.resolve();
    }
    reply();
    await Promise.all(flood);
    expect(requested.flat()).toHaveLength(200);
    // One request per miss would flood the owner, too.
    expect(requested.length).toBeLessThanOrEqual(5);
  });

  it('a changed or deleted value is refreshed in the background', async () => {
    make();
    await Promise.all([cache.get('a'), cache.get('b')]);
    known = { a: 'changed' };
    await pass(60);
    expect(cache.peek('a')).toBe('changed');
    expect(await cache.get('b')).toBeUndefined();
  });

  it('readers of cached values do not notice an owner that is unavailable or hangs', async () => {
    make();
    await cache.get('a');
    for (owner of ['hanging', 'unavailable'] as const)
      for (let ms = 0; ms < 2_000; ms += 20) {
        expect(await atOnce(cache.get('a'))).toBe('1');
        await pass(20);
      }
  });

  it('a stale entry that nobody has read for a while is served after a short wait', async () => {
    make({ idleAfterMs: 1 });
    await cache.get('a');
    await pass(200);
    owner = 'hanging';
    const asking = cache.get('a');
    await pass(249);
    expect(await atOnce(asking)).toBe('waits');
    await pass(1);
    expect(await atOnce(asking)).toBe('1');
  });

  it.each([61_000, 100_000, 119_000])(
    'a value revoked while nobody read it for %i ms is not served on its next use',
    async (idleMs) => {
      make({ refreshMs: 2_000, staleForMs: 60_000 });
      await cache.get('a');
      await pass(idleMs);
      known = {};
      // Past the last refresh of an idle entry.
      await pass(5_000);
      expect(cache.peek('a')).toBeUndefined();
      expect(await cache.get('a')).toBeUndefined();
    },
  );

  it('entries older than staleForMs fail like the owner, and recover', async () => {
    make({ staleForMs: 100 });
    await cache.get('a');
    owner = 'unavailable';
    await pass(250);
    await expect(cache.get('a')).rejects.toThrow('unavailable');
    await expect(cache.get('never-seen')).rejects.toThrow('unavailable');
    owner = 'there';
    expect(await cache.get('a')).toBe('1');
  });

  it('an invalidated entry is loaded again', async () => {
    make({ refreshMs: 10_000 });
    await cache.get('a');
    known.a = 'changed';
    cache.invalidate('a');
    expect(await cache.get('a')).toBe('changed');
  });

  it.each(['invalidate', 'clear'] as const)(
    'a load that was running at `%s` serves only the callers that wait for it',
    async (change) => {
      const loads = makeWithHeldLoads({ refreshMs: 10_000 });
      const before = cache.get('a');
      await pass(0);
      cache[change]('a');
      const after = cache.get('a');
      loads[0]!({ a: 'old' });
      expect(await atOnce(before)).toBe('old');
      expect(cache.peek('a')).toBeUndefined();
      loads[1]!({ a: 'new' });
      expect(await atOnce(after)).toBe('new');
      expect(cache.peek('a')).toBe('new');
    },
  );

  it('a load that was running at an invalidation does not replace what was loaded since', async () => {
    const loads = makeWithHeldLoads({ refreshMs: 10_000 });
    const before = cache.get('a');
    await pass(0);
    cache.invalidate('a');
    const after = cache.get('a');
    // The miss waits this long for the running load to end.
    await pass(100);
    loads[1]!({ a: 'new' });
    expect(await atOnce(after)).toBe('new');
    loads[0]!({ a: 'old' });
    expect(await atOnce(before)).toBe('old');
    expect(cache.peek('a')).toBe('new');
  });

  it('a refresh that was running at an invalidation does not bring the entry back', async () => {
    const loads = makeWithHeldLoads();
    const first = cache.get('a');
    await pass(0);
    loads[0]!({ a: 'old' });
    expect(await first).toBe('old');
    await pass(60);
    expect(loads).toHaveLength(2);
    cache.invalidate('a');
    loads[1]!({ a: 'old' });
    await pass(0);
    expect(cache.peek('a')).toBeUndefined();
  });

  it('the number of entries is bounded', async () => {
    make({ maxEntries: 1, refreshMs: 10_000 });
    await cache.get('a');
    await cache.get('b');
    expect(cache.peek('a')).toBeUndefined();
    expect(cache.peek('b')).toBe('2');
  });
});
