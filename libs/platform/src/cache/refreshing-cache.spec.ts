import { setTimeout as sleep } from 'node:timers/promises';
import { createLogger } from '../logging/logger.js';
import { RefreshingCache, type RefreshingCacheOptions } from './refreshing-cache.js';

type Owner = 'there' | 'away' | 'hanging';

describe('RefreshingCache', () => {
  let owner: Owner;
  let known: Record<string, string>;
  let asked: string[][];
  let cache: RefreshingCache<string>;

  const make = (options: Partial<RefreshingCacheOptions<string>> = {}) =>
    (cache = new RefreshingCache<string>({
      name: 'test',
      logger: createLogger('test', 'silent'),
      refreshMs: 60,
      missingForMs: 30,
      staleForMs: Infinity,
      load: async (keys) => {
        asked.push(keys);
        if (owner === 'hanging') await sleep(700);
        if (owner !== 'there') throw new Error('away');
        return Object.fromEntries(keys.filter((key) => key in known).map((key) => [key, known[key]!]));
      },
      ...options,
    }));
  const timed = async (work: Promise<unknown>) => {
    const from = performance.now();
    await work;
    return performance.now() - from;
  };

  beforeEach(() => {
    owner = 'there';
    known = { a: '1', b: '2' };
    asked = [];
  });
  afterEach(() => cache.stop());

  test('misses of one moment share one request; a known value is not asked for again', async () => {
    make();
    expect(await Promise.all([cache.get('a'), cache.get('b'), cache.get('a'), cache.get('c')])).toEqual([
      '1',
      '2',
      '1',
      undefined,
    ]);
    expect(asked).toEqual([['a', 'b', 'c']]);
    expect(await cache.get('a')).toBe('1');
    expect(cache.peek('a')).toBe('1');
    expect(asked).toHaveLength(1);
  });

  test('misses while the owner is being asked go with the next request', async () => {
    let answer = () => {};
    const free = new Promise<void>((resolve) => (answer = resolve));
    make({
      load: async (keys) => {
        asked.push(keys);
        await free;
        return {};
      },
    });
    const flood: Promise<unknown>[] = [];
    for (let index = 0; index < 200; index += 1) {
      flood.push(cache.get(`unknown-${index}`));
      // Each at a moment of its own.
      await Promise.resolve();
      await Promise.resolve();
    }
    answer();
    await Promise.all(flood);
    expect(asked.flat()).toHaveLength(200);
    // One for each would be a flood for the owner too.
    expect(asked.length).toBeLessThanOrEqual(5);
  });

  test('a change arrives by itself, also one to nothing', async () => {
    make();
    await Promise.all([cache.get('a'), cache.get('b')]);
    known = { a: 'changed' };
    await sleep(150);
    expect(cache.peek('a')).toBe('changed');
    expect(await cache.get('b')).toBeUndefined();
  });

  test('an owner that is away or hangs is not noticed by those who ask for what is known', async () => {
    make();
    await cache.get('a');
    for (owner of ['hanging', 'away'] as const)
      for (let i = 0; i < 15; i += 1) {
        expect(await timed(cache.get('a'))).toBeLessThan(30);
        await sleep(20);
      }
  });

  test('an entry that nobody has asked for in a while is served after a short patience', async () => {
    make({ idleAfterMs: 1 });
    await cache.get('a');
    await sleep(200);
    owner = 'hanging';
    const ms = await timed(cache.get('a').then((value) => expect(value).toBe('1')));
    expect(ms).toBeGreaterThan(200);
    expect(ms).toBeLessThan(500);
  });

  test('past the time for stale values it fails as the owner does, and recovers', async () => {
    make({ staleForMs: 100 });
    await cache.get('a');
    owner = 'away';
    await sleep(250);
    await expect(cache.get('a')).rejects.toThrow('away');
    await expect(cache.get('never-seen')).rejects.toThrow('away');
    owner = 'there';
    expect(await cache.get('a')).toBe('1');
  });

  test('an invalidated entry is asked for anew, and an answer under way does not bring it back', async () => {
    make({ refreshMs: 10_000 });
    await cache.get('a');
    known.a = 'changed';
    cache.invalidate('a');
    expect(await cache.get('a')).toBe('changed');
  });

  test('the number of entries is bounded', async () => {
    make({ maxEntries: 1, refreshMs: 10_000 });
    await cache.get('a');
    await cache.get('b');
    expect(cache.peek('a')).toBeUndefined();
    expect(cache.peek('b')).toBe('2');
  });
});
