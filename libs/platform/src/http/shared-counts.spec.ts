import { SharedCounter } from './shared-counts.js';

const WINDOW_MS = 1_000;

/** Replicas that hear one another at once, or what they said when `deliver` is called. */
function replicas(count: number, limit: number, { late = false } = {}) {
  const waiting: (() => void)[] = [];
  const counters: SharedCounter[] = [];
  let messages = 0;
  for (let index = 0; index < count; index += 1)
    counters.push(
      new SharedCounter(WINDOW_MS, limit, (told) => {
        messages += 1;
        for (const other of counters)
          if (other !== counters[index])
            waiting.push(() => other.hear(`replica-${index}`, { counter: 'x', ...told }));
        if (!late) deliver();
      }),
    );
  const deliver = () => waiting.splice(0).forEach((hear) => hear());
  const admits = (index: number, now: number) => counters[index]!.add('key', now) <= limit;
  return { admits, deliver, messages: () => messages };
}

describe('a limit over replicas', () => {
  it.each([1, 2, 3, 10])('is held by %s of them, however the requests are spread', (count) => {
    for (const spread of [
      (turn: number) => turn % count,
      (turn: number) => Math.floor(turn / 1_000) % count,
    ]) {
      const { admits } = replicas(count, 1_000);
      let admitted = 0;
      for (let turn = 0; turn < 10_000; turn += 1) if (admits(spread(turn), 5_000)) admitted += 1;
      // Up to 2 % of the limit is untold by each.
      expect(admitted).toBeGreaterThanOrEqual(1_000);
      expect(admitted).toBeLessThanOrEqual(1_000 + (count - 1) * 20);
    }
  });

  it('is all there for one of them when the others have nothing to do', () => {
    const { admits } = replicas(5, 60);
    const admitted = Array.from({ length: 100 }, () => admits(3, 5_000)).filter(Boolean);
    expect(admitted).toHaveLength(60);
  });

  it('begins anew in each window, in all of them', () => {
    const { admits } = replicas(2, 2);
    expect([admits(0, 5_999), admits(0, 5_999), admits(1, 5_999)]).toEqual([true, true, false]);
    expect([admits(1, 6_000), admits(0, 6_000), admits(1, 6_999)]).toEqual([true, true, false]);
  });

  it('counts a message once, and an older one that comes later not at all', () => {
    const counter = new SharedCounter(WINDOW_MS, 100, () => undefined);
    for (const count of [4, 8, 8, 6]) counter.hear('other', { counter: 'x', window: 5, id: 'key', count });
    expect(counter.current('key', 5_000)).toBe(8);
    expect(counter.current('key', 6_000)).toBe(0);
  });

  it('is admitted once more by each that has heard nothing yet, and costs few messages', () => {
    const { admits, deliver, messages } = replicas(2, 1_000, { late: true });
    let admitted = 0;
    for (let turn = 0; turn < 5_000; turn += 1) if (admits(turn % 2, 5_000)) admitted += 1;
    expect(admitted).toBe(2_000);
    deliver();
    expect([admits(0, 5_500), admits(1, 5_500)]).toEqual([false, false]);
    expect(messages()).toBeLessThanOrEqual(100);
  });
});
