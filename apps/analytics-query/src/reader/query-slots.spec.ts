import { setImmediate as settled } from 'node:timers/promises';
import { QuerySlots } from './query-slots.js';

/** Work that ends when told. */
function controlled(slots: QuerySlots) {
  const running: { account: string; end: () => void }[] = [];
  const start = (account: string, signal = new AbortController().signal) =>
    slots.run(account, signal, async () => {
      await new Promise<void>((resolve) => {
        const entry = { account, end: () => (running.splice(running.indexOf(entry), 1), resolve()) };
        running.push(entry);
      });
      return account;
    });
  const of = (account: string) => running.filter((entry) => entry.account === account).length;
  return { running, start, of };
}
const options = { slots: 8, perAccount: 6, queue: 20 };

describe('QuerySlots', () => {
  it('leaves an account as many connections as it has, so that another always finds one', async () => {
    const { start, of, running } = controlled(new QuerySlots(options));
    const all = ['a', 'a', 'a', 'a', 'a', 'a', 'b', 'b', 'b', 'c', 'c', 'd'].map((account) => start(account));
    await settled();
    expect(['a', 'b', 'c', 'd'].map(of)).toEqual([4, 2, 1, 1]);
    while (running.length > 0) {
      running[0]!.end();
      await settled();
    }
    expect(await Promise.all(all)).toHaveLength(12);
  });

  it('gives a place that becomes free to whoever has the fewest, then to whoever waits longest', async () => {
    const { start, of, running } = controlled(new QuerySlots({ ...options, slots: 2 }));
    const all = [start('a'), start('b'), start('a'), start('c'), start('b')];
    await settled();
    expect(['a', 'b', 'c'].map(of)).toEqual([1, 1, 0]);
    running[0]!.end();
    await settled();
    expect(['a', 'b', 'c'].map(of)).toEqual([1, 1, 0]);
    running[0]!.end();
    await settled();
    expect(of('c')).toBe(1);
    while (running.length > 0) {
      running[0]!.end();
      await settled();
    }
    await Promise.all(all);
  });

  it('refuses what is too much, and gives the place free when the work fails', async () => {
    const slots = new QuerySlots({ slots: 1, perAccount: 1, queue: 1 });
    const { start, running } = controlled(slots);
    const started = [start('a'), start('a')];
    await expect(start('a')).rejects.toMatchObject({ status: 429 });
    running[0]!.end();
    await settled();
    running[0]!.end();
    await Promise.all(started);
    for (let turn = 0; turn < 3; turn += 1)
      await expect(
        slots.run('a', new AbortController().signal, () => Promise.reject(new Error('failed'))),
      ).rejects.toThrow('failed');
    expect(await slots.run('a', new AbortController().signal, () => Promise.resolve(5))).toBe(5);
  });

  it('lets nobody wait whose request has ended', async () => {
    const slots = new QuerySlots({ slots: 1, perAccount: 1, queue: 5 });
    const { start, running } = controlled(slots);
    const first = start('a');
    const gone = new AbortController();
    const waiting = start('a', gone.signal);
    gone.abort();
    await expect(waiting).rejects.toMatchObject({ status: 429 });
    running[0]!.end();
    expect(await first).toBe('a');
    expect(running).toHaveLength(0);
  });
});
