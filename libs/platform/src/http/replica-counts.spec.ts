import { SharedCounter } from './replica-counts.js';

const WINDOWS = { ms: 1_000 };

/** Creates replicas that receive each other's messages at once or, with `late`, when `deliver` is called. */
function replicas(count: number, limit: number, { late = false } = {}) {
  const waiting: (() => void)[] = [];
  const counters: SharedCounter[] = [];
  let messages = 0;
  for (let index = 0; index < count; index += 1)
    counters.push(
      new SharedCounter(WINDOWS, limit, (shared) => {
        messages += 1;
        for (const other of counters)
          if (other !== counters[index])
            waiting.push(() => other.receive(`replica-${index}`, { counter: 'x', ...shared }));
        if (!late) deliver();
      }),
    );
  const deliver = () => waiting.splice(0).forEach((receive) => receive());
  const admits = (index: number, now: number) => counters[index]!.add('key', now) <= limit;
  return { admits, deliver, messages: () => messages };
}

describe('a limit across replicas', () => {
  it.each([1, 2, 3, 10])('holds for %s of them, however the requests are distributed', (count) => {
    for (const spread of [
      (round: number) => round % count,
      (round: number) => Math.floor(round / 1_000) % count,
    ]) {
      const { admits } = replicas(count, 1_000);
      let admitted = 0;
      for (let round = 0; round < 10_000; round += 1) if (admits(spread(round), 5_000)) admitted += 1;
      // Each replica may have up to 2 % of the limit unpublished.
      expect(admitted).toBeGreaterThanOrEqual(1_000);
      expect(admitted).toBeLessThanOrEqual(1_000 + (count - 1) * 20);
    }
  });

  it('is fully available to one replica while the others are idle', () => {
    const { admits } = replicas(5, 60);
    const admitted = Array.from({ length: 100 }, () => admits(3, 5_000)).filter(Boolean);
    expect(admitted).toHaveLength(60);
  });

  it('starts again in each window, in all replicas', () => {
    const { admits } = replicas(2, 2);
    expect([admits(0, 5_999), admits(0, 5_999), admits(1, 5_999)]).toEqual([true, true, false]);
    expect([admits(1, 6_000), admits(0, 6_000), admits(1, 6_999)]).toEqual([true, true, false]);
  });

  it('counts a message once, and ignores an older one that arrives later', () => {
    const counter = new SharedCounter(WINDOWS, 100, () => undefined);
    for (const count of [4, 8, 8, 6]) counter.receive('other', { counter: 'x', window: 5, id: 'key', count });
    expect(counter.add('key', 5_000)).toBe(9);
    expect(counter.add('key', 6_000)).toBe(1);
  });

  it('is granted by each replica separately until messages arrive, and needs few messages', () => {
    const { admits, deliver, messages } = replicas(2, 1_000, { late: true });
    let admitted = 0;
    for (let round = 0; round < 5_000; round += 1) if (admits(round % 2, 5_000)) admitted += 1;
    expect(admitted).toBe(2_000);
    deliver();
    expect([admits(0, 5_500), admits(1, 5_500)]).toEqual([false, false]);
    expect(messages()).toBeLessThanOrEqual(100);
  });
});

describe('a sliding window', () => {
  const LIMIT = 60;
  const MINUTE_MS = 60_000;
  const counterOf = (limit = LIMIT) =>
    new SharedCounter({ ms: MINUTE_MS, slide: true }, limit, () => undefined);
  const admitted = (counter: SharedCounter, tries: number, now: number) =>
    Array.from({ length: tries }, () => counter.add('address', now) <= LIMIT).filter(Boolean).length;

  it('allows no second limit right after the minute, and more as the minute passes', () => {
    const counter = counterOf();
    expect(admitted(counter, 200, 2 * MINUTE_MS - 1)).toBe(LIMIT);
    expect(admitted(counter, 200, 2 * MINUTE_MS)).toBe(0);
    expect(admitted(counter, 200, 2 * MINUTE_MS + 15_000)).toBe(15);
    expect(admitted(counter, 200, 2 * MINUTE_MS + 30_000)).toBe(15);
    expect(admitted(counter, 200, 4 * MINUTE_MS)).toBe(LIMIT);
  });

  it('allows the limit in each minute to a caller who never stops, since rejected attempts do not count', () => {
    const counter = counterOf();
    const inMinutes = [2, 3, 4, 5].map((minute) => {
      let sum = 0;
      for (let ms = 0; ms < MINUTE_MS; ms += 100) sum += admitted(counter, 1, minute * MINUTE_MS + ms);
      return sum;
    });
    for (const sum of inMinutes) expect(Math.abs(sum - LIMIT)).toBeLessThanOrEqual(1);
  });

  it('counts what other replicas published in the previous minute', () => {
    const counter = counterOf();
    counter.receive('other', { counter: 'x', window: 1, id: 'address', count: 40 });
    expect(admitted(counter, 200, 2 * MINUTE_MS)).toBe(20);
    // Together the replicas may have admitted more than the limit; the excess does not count against the caller.
    for (const other of ['a', 'b'])
      counter.receive(other, { counter: 'x', window: 3, id: 'address', count: LIMIT });
    expect(admitted(counter, 200, 4.5 * MINUTE_MS)).toBe(30);
  });

  it.each([1, 2, 7, 60])('returns how long to wait, and not more than needed (limit %s)', (limit) => {
    for (const at of [0, 1, 20_000, 59_999]) {
      const counter = counterOf(limit);
      const start = 10 * MINUTE_MS + at;
      for (let tries = 0; tries < 200; tries += 1) counter.add('address', start);
      let now = start;
      for (let round = 0; round < 5; round += 1) {
        const wait = counter.waitMs('address', now);
        expect(wait).toBeGreaterThan(0);
        expect(counter.add('address', now + Math.floor(wait) - 2)).toBeGreaterThan(limit);
        now += Math.ceil(wait) + 1;
        expect(counter.waitMs('address', now)).toBe(0);
        while (counter.add('address', now) <= limit);
      }
    }
  });
});
