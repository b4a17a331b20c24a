import { setImmediate as settled } from 'node:timers/promises';
import { QuerySlots } from './query-slots.js';

/** Work that ends when told. */
function controlled(slots: QuerySlots) {
  const running: { account: string; end: () => void; hold: (isHeld: boolean) => void }[] = [];
  const start = (account: string, signal = new AbortController().signal, kind?: string) =>
    slots.run({ account, kind, signal }, async (_isBusy, hold) => {
      await new Promise<void>((resolve) => {
        const end = () => (running.splice(running.indexOf(entry), 1), resolve());
        const entry = { account, end, hold };
        running.push(entry);
      });
      return account;
    });
  const of = (account: string) => running.filter((entry) => entry.account === account).length;
  const endAll = async () => {
    while (running.length > 0) {
      running[0]!.end();
      await settled();
    }
  };
  return { running, start, of, endAll };
}
const options = { slots: 8, perAccount: 6, heavy: 8, queue: 20 };

describe('QuerySlots', () => {
  it('leaves an account as many connections as it has, so that another always finds one', async () => {
    const { start, of, endAll } = controlled(new QuerySlots(options));
    const all = ['a', 'a', 'a', 'a', 'a', 'a', 'b', 'b', 'b', 'c', 'c', 'd'].map((account) => start(account));
    await settled();
    expect(['a', 'b', 'c', 'd'].map(of)).toEqual([4, 2, 1, 1]);
    await endAll();
    expect(await Promise.all(all)).toHaveLength(12);
  });

  it('gives a place that becomes free to whoever has the fewest, then has spent least, then waits longest', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'queueMicrotask', 'nextTick'] });
    try {
      const { start, of, running, endAll } = controlled(new QuerySlots({ ...options, slots: 2 }));
      const all = [start('a'), start('b'), start('a'), start('c'), start('b')];
      await settled();
      expect(['a', 'b', 'c'].map(of)).toEqual([1, 1, 0]);
      jest.advanceTimersByTime(10);
      running[0]!.end();
      await settled();
      expect(['a', 'b', 'c'].map(of)).toEqual([0, 1, 1]);
      running[0]!.end();
      await settled();
      expect(['a', 'b', 'c'].map(of)).toEqual([1, 0, 1]);
      await endAll();
      await Promise.all(all);
    } finally {
      jest.useRealTimers();
    }
  });

  it('refuses what is too much, and gives the place free when the work fails', async () => {
    const slots = new QuerySlots({ ...options, slots: 1, perAccount: 1, queue: 1 });
    const { start, running } = controlled(slots);
    const started = [start('a'), start('a')];
    await expect(start('a')).rejects.toMatchObject({ status: 429 });
    running[0]!.end();
    await settled();
    running[0]!.end();
    await Promise.all(started);
    for (let turn = 0; turn < 3; turn += 1)
      await expect(
        slots.run({ account: 'a', signal: new AbortController().signal }, () =>
          Promise.reject(new Error('failed')),
        ),
      ).rejects.toThrow('failed');
    expect(
      await slots.run({ account: 'a', signal: new AbortController().signal }, () => Promise.resolve(5)),
    ).toBe(5);
  });

  it('lets nobody wait whose request has ended', async () => {
    const slots = new QuerySlots({ ...options, slots: 1, perAccount: 1 });
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

  describe('with queries that are known to be heavy', () => {
    beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate', 'queueMicrotask', 'nextTick'] }));
    afterEach(() => void jest.useRealTimers());

    const signal = new AbortController().signal;
    /** With one heavy query at once, and one of each kind run for long enough that it is known. */
    async function learned(...kinds: string[]) {
      const work = controlled(new QuerySlots({ ...options, heavy: 1 }));
      for (const kind of kinds) {
        const done = work.start('teacher', signal, kind);
        await settled();
        jest.advanceTimersByTime(100);
        work.running[0]!.end();
        await done;
      }
      return work;
    }

    it('runs few of them at once, and all others beside them', async () => {
      const { start, of, running, endAll } = await learned('year');
      const all = [start('a', signal, 'year'), start('a', signal, 'year'), start('b', signal, 'year')];
      all.push(start('a', signal, 'day'), start('c', signal, 'day'));
      await settled();
      expect(['a', 'b', 'c'].map(of)).toEqual([2, 0, 1]);
      // One that nobody knew turns out to be heavy as well.
      jest.advanceTimersByTime(100);
      running[0]!.end();
      await settled();
      expect(['a', 'b', 'c'].map(of)).toEqual([1, 0, 1]);
      await endAll();
      await Promise.all(all);
    });

    it('counts none whose rows nobody takes, so that a slow reader keeps nobody waiting', async () => {
      const { start, of, running, endAll } = await learned('year');
      const all = [start('slow', signal, 'year'), start('a', signal, 'year'), start('b', signal, 'year')];
      await settled();
      expect(['slow', 'a', 'b'].map(of)).toEqual([1, 0, 0]);
      // Readers that take all that they can are waited for now and then.
      for (let pause = 0; pause < 10; pause += 1) {
        running[0]!.hold(true);
        jest.advanceTimersByTime(100);
        running[0]!.hold(false);
        jest.advanceTimersByTime(20);
      }
      running[0]!.hold(true);
      jest.advanceTimersByTime(150);
      await settled();
      expect(['slow', 'a', 'b'].map(of)).toEqual([1, 0, 0]);
      jest.advanceTimersByTime(100);
      await settled();
      expect(['slow', 'a', 'b'].map(of)).toEqual([1, 1, 0]);
      // It goes on, and beside it there is one more than there would be: nobody is stopped for that.
      running[0]!.hold(false);
      running[1]!.end();
      await settled();
      expect(['slow', 'a', 'b'].map(of)).toEqual([1, 0, 0]);
      await endAll();
      await Promise.all(all);
    });

    it('lets them take turns by what their accounts have spent', async () => {
      const { start, running } = await learned('year');
      const order: string[] = [];
      const all = ['a', 'a', 'a', 'a', 'b', 'b'].map((account) => start(account, signal, 'year'));
      for (let turn = 0; turn < 6; turn += 1) {
        await settled();
        order.push(running[0]!.account);
        jest.advanceTimersByTime(300);
        running[0]!.end();
      }
      await Promise.all(all);
      expect(order.join('')).toBe('ababaa');
    });

    it('lets no account wait long for the heavy queries of another', async () => {
      const { start, of, endAll } = await learned('year');
      const all = ['a', 'a', 'b'].map((account) => start(account, signal, 'year'));
      await settled();
      jest.advanceTimersByTime(4_900);
      await settled();
      expect(['a', 'b'].map(of)).toEqual([1, 0]);
      jest.advanceTimersByTime(200);
      await settled();
      expect(['a', 'b'].map(of)).toEqual([1, 1]);
      await endAll();
      await Promise.all(all);
    });

    it('counts that wait from one heavy query of the account to the next', async () => {
      const { start, of, running } = await learned('year');
      const all = ['a', 'b', 'b', 'a', 'a'].map((account) => start(account, signal, 'year'));
      for (const expected of [
        [1, 0],
        [0, 1],
        [0, 1],
        [1, 0],
        [1, 0],
      ]) {
        await settled();
        expect(['a', 'b'].map(of)).toEqual(expected);
        jest.advanceTimersByTime(2_000);
        running[0]!.end();
      }
      await Promise.all(all);
    });

    it('lets those of an account that has had many rest for twice as long as they took, while somebody else is using the analytics', async () => {
      const { start, of, running } = await learned('year');
      const small = async (account: string) => {
        const done = start(account, signal, 'day');
        await settled();
        running.at(-1)!.end();
        await done;
      };
      const all = Array.from({ length: 6 }, () => start('a', signal, 'year'));
      const takes = async (ms: number) => {
        jest.advanceTimersByTime(ms);
        running[0]!.end();
        await settled();
      };
      // A dashboard.
      await small('b');
      await takes(900);
      expect(of('a')).toBe(1);
      await takes(500);
      expect(of('a')).toBe(0);
      jest.advanceTimersByTime(999);
      await settled();
      expect(of('a')).toBe(0);
      // Somebody else who has had few need not rest with it.
      all.push(start('c', signal, 'year'));
      await settled();
      expect(['a', 'c'].map(of)).toEqual([0, 1]);
      await takes(300);
      expect(['a', 'c'].map(of)).toEqual([1, 0]);
      await small('b');
      await takes(1_500);
      expect(of('a')).toBe(0);
      jest.advanceTimersByTime(3_001);
      await settled();
      expect(of('a')).toBe(1);
      // Nobody else has asked for a while, and its own small queries hold nothing up.
      jest.advanceTimersByTime(8_000);
      await small('a');
      await takes(1_000);
      expect(of('a')).toBe(1);
      await takes(1_000);
      expect(of('a')).toBe(1);
      running[0]!.end();
      await settled();
      // What its reader held up took no processor.
      all.push(start('d', signal, 'year'));
      await small('b');
      running[0]!.hold(true);
      jest.advanceTimersByTime(5_000);
      running[0]!.hold(false);
      all.push(start('d', signal, 'year'));
      await takes(300);
      expect(of('d')).toBe(1);
      running[0]!.end();
      await Promise.all(all);
    });

    it('takes what an account asks for the first time for as heavy as the new one before it', async () => {
      const { start, of, running, endAll } = await learned();
      const first = start('a', signal, 'new');
      await settled();
      jest.advanceTimersByTime(100);
      running[0]!.end();
      await first;
      const all = ['newer', 'newest', 'last'].map((kind) => start('a', signal, kind));
      all.push(start('b', signal, 'new of b'));
      await settled();
      expect(['a', 'b'].map(of)).toEqual([1, 1]);
      // It was small, and so the next is taken for.
      running[0]!.end();
      await settled();
      expect(['a', 'b'].map(of)).toEqual([1, 1]);
      all.push(start('a', signal, 'one more'));
      await settled();
      expect(['a', 'b'].map(of)).toEqual([2, 1]);
      await endAll();
      await Promise.all(all);
    });

    it('calls nothing heavy that was slow now and then, because others kept the processors busy', async () => {
      const { start, of, running, endAll } = await learned('year');
      const takes = async (ms: number) => {
        const done = start('b', signal, 'day');
        await settled();
        jest.advanceTimersByTime(ms);
        running.at(-1)!.end();
        await done;
      };
      await takes(35);
      const all = [start('a', signal, 'year')];
      await settled();
      await takes(300);
      expect(['a', 'b'].map(of)).toEqual([1, 0]);
      // And after that it is: it has become one that takes long.
      await takes(300);
      all.push(start('b', signal, 'day'));
      await settled();
      expect(['a', 'b'].map(of)).toEqual([1, 0]);
      running[0]!.end();
      await settled();
      jest.advanceTimersByTime(2_000);
      await settled();
      await endAll();
      await Promise.all(all);
    });

    it('lets a small one that waits for a processor hold no heavy one up', async () => {
      const { start, of, endAll } = await learned('year');
      const once = start('b', signal, 'day');
      await settled();
      await endAll();
      await once;
      const all = [start('b', signal, 'day')];
      await settled();
      jest.advanceTimersByTime(300);
      all.push(start('a', signal, 'year'));
      await settled();
      expect(['a', 'b'].map(of)).toEqual([1, 1]);
      await endAll();
      await Promise.all(all);
    });

    it('learns nothing small from what was broken off', async () => {
      const { start, of, running, endAll } = await learned('year');
      const gone = new AbortController();
      const broken = start('a', gone.signal, 'year');
      await settled();
      gone.abort();
      running[0]!.end();
      await broken;
      const all = [start('a', signal, 'year'), start('b', signal, 'year')];
      await settled();
      expect(['a', 'b'].map(of)).toEqual([1, 0]);
      await endAll();
      await Promise.all(all);
    });

    it('forgets what was heavy once', async () => {
      const { start, of, running } = await learned('year', 'month');
      const once = start('a', signal, 'month');
      await settled();
      running[0]!.end();
      await once;
      const all = [start('a', signal, 'year'), start('b', signal, 'month')];
      await settled();
      expect(['a', 'b'].map(of)).toEqual([1, 1]);
      running.forEach(({ end }) => end());
      await settled();
      running.forEach(({ end }) => end());
      await Promise.all(all);
    });
  });
});
