import { setImmediate as settled } from 'node:timers/promises';
import { QueryScheduler } from './query-scheduler.js';
import { RowFlow } from './row-flow.js';

/** Work that ends on demand. */
function controlled(slots: QueryScheduler) {
  const running: { account: string; end: () => void; flow: RowFlow }[] = [];
  const start = (account: string, signal = new AbortController().signal, kind?: string) => {
    const flow = new RowFlow();
    return slots.run({ account, kind, signal, flow }, async () => {
      await new Promise<void>((resolve) => {
        const end = () => (running.splice(running.indexOf(entry), 1), resolve());
        const entry = { account, end, flow };
        running.push(entry);
      });
      return account;
    });
  };
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

describe('QueryScheduler', () => {
  it('leaves as many slots free as an account uses, so that another account always finds one', async () => {
    const { start, of, endAll } = controlled(new QueryScheduler(options));
    const all = ['a', 'a', 'a', 'a', 'a', 'a', 'b', 'b', 'b', 'c', 'c', 'd'].map((account) => start(account));
    await settled();
    expect(['a', 'b', 'c', 'd'].map(of)).toEqual([4, 2, 1, 1]);
    await endAll();
    expect(await Promise.all(all)).toHaveLength(12);
  });

  it('gives a free slot to the account with the fewest running queries, then the least spent time, then the longest wait', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'queueMicrotask', 'nextTick'] });
    try {
      const { start, of, running, endAll } = controlled(new QueryScheduler({ ...options, slots: 2 }));
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

  it('rejects queries beyond the queue limit, and frees the slot when the work fails', async () => {
    const slots = new QueryScheduler({ ...options, slots: 1, perAccount: 1, queue: 1 });
    const { start, running } = controlled(slots);
    const started = [start('a'), start('a')];
    await expect(start('a')).rejects.toMatchObject({ status: 429 });
    running[0]!.end();
    await settled();
    running[0]!.end();
    await Promise.all(started);
    for (let round = 0; round < 3; round += 1)
      await expect(
        slots.run({ account: 'a', signal: new AbortController().signal }, () =>
          Promise.reject(new Error('failed')),
        ),
      ).rejects.toThrow('failed');
    expect(
      await slots.run({ account: 'a', signal: new AbortController().signal }, () => Promise.resolve(5)),
    ).toBe(5);
  });

  it('drops a waiting query when its request is aborted', async () => {
    const slots = new QueryScheduler({ ...options, slots: 1, perAccount: 1 });
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

  describe('with heavy queries', () => {
    beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate', 'queueMicrotask', 'nextTick'] }));
    afterEach(() => void jest.useRealTimers());

    const signal = new AbortController().signal;
    /** Allows one heavy query at once, and has run one query of each kind for long enough to be heavy. */
    async function learned(...kinds: string[]) {
      const work = controlled(new QueryScheduler({ ...options, heavy: 1 }));
      for (const kind of kinds) {
        const done = work.start('teacher', signal, kind);
        await settled();
        jest.advanceTimersByTime(100);
        work.running[0]!.end();
        await done;
      }
      return work;
    }

    it('runs few of them at once, and all other queries beside them', async () => {
      const { start, of, running, endAll } = await learned('year');
      const all = [start('a', signal, 'year'), start('a', signal, 'year'), start('b', signal, 'year')];
      all.push(start('a', signal, 'day'), start('c', signal, 'day'));
      await settled();
      expect(['a', 'b', 'c'].map(of)).toEqual([2, 0, 1]);
      // A query of an unknown kind turns out to be heavy as well.
      jest.advanceTimersByTime(100);
      running[0]!.end();
      await settled();
      expect(['a', 'b', 'c'].map(of)).toEqual([1, 0, 1]);
      await endAll();
      await Promise.all(all);
    });

    it('does not count one whose client has stopped reading, so that a slow client blocks nobody', async () => {
      const { start, of, running, endAll } = await learned('year');
      const all = [start('slow', signal, 'year'), start('a', signal, 'year'), start('b', signal, 'year')];
      await settled();
      expect(['slow', 'a', 'b'].map(of)).toEqual([1, 0, 0]);
      // Even fast clients pause now and then.
      for (let pause = 0; pause < 10; pause += 1) {
        running[0]!.flow.pause();
        jest.advanceTimersByTime(100);
        running[0]!.flow.resume();
        jest.advanceTimersByTime(20);
      }
      running[0]!.flow.pause();
      jest.advanceTimersByTime(150);
      await settled();
      expect(['slow', 'a', 'b'].map(of)).toEqual([1, 0, 0]);
      jest.advanceTimersByTime(100);
      await settled();
      expect(['slow', 'a', 'b'].map(of)).toEqual([1, 1, 0]);
      // It resumes, so for a while there is one more than the limit: no query is stopped for that.
      running[0]!.flow.resume();
      running[1]!.end();
      await settled();
      expect(['slow', 'a', 'b'].map(of)).toEqual([1, 0, 0]);
      await endAll();
      await Promise.all(all);
    });

    it('schedules them by what their accounts have spent', async () => {
      const { start, running } = await learned('year');
      const order: string[] = [];
      const all = ['a', 'a', 'a', 'a', 'b', 'b'].map((account) => start(account, signal, 'year'));
      for (let round = 0; round < 6; round += 1) {
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

    it('measures that wait from one heavy query of the account to the next', async () => {
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

    it('starts a cooldown of twice the run time after many heavy queries, while another account is active', async () => {
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
      // Another account opens a dashboard.
      await small('b');
      await takes(900);
      expect(of('a')).toBe(1);
      await takes(500);
      expect(of('a')).toBe(0);
      jest.advanceTimersByTime(999);
      await settled();
      expect(of('a')).toBe(0);
      // An account with few heavy queries has no cooldown.
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
      // No other account has been active for a while, and the account's own small queries do not count.
      jest.advanceTimersByTime(8_000);
      await small('a');
      await takes(1_000);
      expect(of('a')).toBe(1);
      await takes(1_000);
      expect(of('a')).toBe(1);
      running[0]!.end();
      await settled();
      // Time spent waiting for the client does not count.
      all.push(start('d', signal, 'year'));
      await small('b');
      running[0]!.flow.pause();
      jest.advanceTimersByTime(5_000);
      running[0]!.flow.resume();
      all.push(start('d', signal, 'year'));
      await takes(300);
      expect(of('d')).toBe(1);
      running[0]!.end();
      await Promise.all(all);
    });

    it("does not delay an account because of another account's heavy queries, even if both have had many", async () => {
      const { start, of, running } = await learned('year');
      const takes = async (ms: number) => {
        jest.advanceTimersByTime(ms);
        running[0]!.end();
        await settled();
      };
      // No other account is active yet, so this one has no cooldown.
      const all = [start('b', signal, 'year')];
      await settled();
      await takes(2_000);
      const small = start('c', signal, 'day');
      await settled();
      running[0]!.end();
      await small;
      all.push(start('a', signal, 'year'));
      await settled();
      await takes(2_000);
      all.push(start('a', signal, 'year'), start('b', signal, 'year'));
      await settled();
      expect(['a', 'b'].map(of)).toEqual([0, 1]);
      await takes(100);
      expect(['a', 'b'].map(of)).toEqual([0, 0]);
      jest.advanceTimersByTime(4_001);
      await settled();
      expect(['a', 'b'].map(of)).toEqual([1, 0]);
      running[0]!.end();
      await Promise.all(all);
    });

    it("assumes that the first query of a kind is as heavy as the account's last new kind", async () => {
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
      // It was small, so the next new kind is assumed to be small.
      running[0]!.end();
      await settled();
      expect(['a', 'b'].map(of)).toEqual([1, 1]);
      all.push(start('a', signal, 'one more'));
      await settled();
      expect(['a', 'b'].map(of)).toEqual([2, 1]);
      await endAll();
      await Promise.all(all);
    });

    it('does not call a query heavy that was slow once because others kept the processors busy', async () => {
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
      // A second slow run makes it heavy.
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

    it('does not let a small query that waits for a processor block a heavy one', async () => {
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

    it('does not learn from an aborted query that its kind is small', async () => {
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

    it('forgets that a kind was heavy after a quick run', async () => {
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
