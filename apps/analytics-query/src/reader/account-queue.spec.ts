import { setTimeout as sleep } from 'node:timers/promises';
import { AccountQueue } from './account-queue.js';

const options = { concurrency: 2, queue: 3, maxWaitMs: 1_000 };

/** Work that ends when told. */
function controlled() {
  const ends: (() => void)[] = [];
  let running = 0;
  let most = 0;
  const work = async () => {
    most = Math.max(most, ++running);
    await new Promise<void>((resolve) => ends.push(resolve));
    running -= 1;
    return 'done';
  };
  return { work, ends, most: () => most };
}

describe('AccountQueue', () => {
  it('runs a few at once, the rest in turn, and refuses what is too much', async () => {
    const queue = new AccountQueue(options);
    const { work, ends, most } = controlled();
    const running = Array.from({ length: 5 }, () => queue.run('a', work));
    await expect(queue.run('a', work)).rejects.toMatchObject({ status: 429 });
    // Another account does not wait.
    const other = queue.run('b', work);
    await sleep(1);
    expect(ends).toHaveLength(3);
    while (ends.length > 0) {
      ends.shift()!();
      await sleep(1);
    }
    expect(await Promise.all([...running, other])).toEqual(Array(6).fill('done'));
    expect(most()).toBe(3);
  });

  it('gives the place free when the work fails', async () => {
    const queue = new AccountQueue({ ...options, concurrency: 1, queue: 1 });
    for (let turn = 0; turn < 3; turn += 1)
      await expect(queue.run('a', () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    expect(await queue.run('a', () => Promise.resolve(5))).toBe(5);
  });

  it('does not let a query wait for ever', async () => {
    const queue = new AccountQueue({ concurrency: 1, queue: 5, maxWaitMs: 20 });
    const { work, ends } = controlled();
    const first = queue.run('a', work);
    await expect(queue.run('a', work)).rejects.toMatchObject({ status: 429 });
    ends.shift()!();
    expect(await first).toBe('done');
    expect(await queue.run('a', () => Promise.resolve('after'))).toBe('after');
  });
});
