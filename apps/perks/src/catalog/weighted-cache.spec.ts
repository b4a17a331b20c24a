import { WeightedCache } from './weighted-cache.js';

describe('WeightedCache', () => {
  it('drops what was not used for the longest time when it gets too heavy', () => {
    const cache = new WeightedCache<number>(10);
    cache.set('a', 1, 4);
    cache.set('b', 2, 4);
    expect(cache.get('a')).toBe(1);
    cache.set('c', 3, 4);
    expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual([1, undefined, 3]);
    expect(cache.weight).toBe(8);
  });

  it('replaces a value with its weight', () => {
    const cache = new WeightedCache<number>(10);
    cache.set('a', 1, 8);
    cache.set('a', 2, 3);
    expect([cache.get('a'), cache.size, cache.weight]).toEqual([2, 1, 3]);
  });

  it('keeps a value that is too heavy by itself until the next one comes', () => {
    const cache = new WeightedCache<number>(10);
    cache.set('small', 1, 1);
    cache.set('huge', 2, 100);
    expect([cache.get('small'), cache.get('huge')]).toEqual([undefined, 2]);
    cache.set('small', 1, 1);
    expect([cache.get('small'), cache.get('huge'), cache.weight]).toEqual([1, undefined, 1]);
  });

  it('forgets by key', () => {
    const cache = new WeightedCache<number>(10);
    cache.set('a 1', 1, 1);
    cache.set('a 2', 2, 1);
    cache.set('b 1', 3, 1);
    cache.deleteWhere((key) => key.startsWith('a '));
    expect(cache.values()).toEqual([3]);
    cache.delete('unknown');
    expect(cache.weight).toBe(1);
  });
});
