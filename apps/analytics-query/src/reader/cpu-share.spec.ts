import { CpuShare } from './cpu-share.js';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const stays = () => new AbortController().signal;

function setUp() {
  let cpuMs = 0;
  const share = new CpuShare(() => cpuMs);
  const begun: string[] = [];
  const run = (account: string, name: string, ms: number, gone = stays()) =>
    share.run(account, gone, () => {
      begun.push(name);
      cpuMs += ms;
      return name;
    });
  const fail = (account: string, ms: number) =>
    share.run(account, stays(), () => {
      cpuMs += ms;
      throw new Error('a failure');
    });
  return { begun, run, fail };
}

describe('CpuShare', () => {
  it('begins the next work of an account after a pause of eight times the last one, and of another account at once', async () => {
    const { begun, run } = setUp();
    const works = [run('a', 'a1', 5), run('a', 'a2', 5), run('b', 'b1', 0)];
    await jest.advanceTimersByTimeAsync(39);
    expect(begun).toEqual(['a1', 'b1']);
    await jest.advanceTimersByTimeAsync(1);
    expect(begun).toEqual(['a1', 'b1', 'a2']);
    expect(await Promise.all(works)).toEqual(['a1', 'a2', 'b1']);
  });

  it('pauses for at most half a second', async () => {
    const { begun, run } = setUp();
    const works = [run('a', 'a1', 1_000), run('a', 'a2', 0)];
    await jest.advanceTimersByTimeAsync(499);
    expect(begun).toEqual(['a1']);
    await jest.advanceTimersByTimeAsync(1);
    expect(begun).toEqual(['a1', 'a2']);
    await Promise.all(works);
  });

  it('begins the next work at once after a short one, and after a failed one as after any other', async () => {
    const { begun, run, fail } = setUp();
    await run('a', 'a1', 1);
    await run('a', 'a2', 1);
    await expect(fail('a', 1)).rejects.toThrow('a failure');
    await run('a', 'a3', 1);
    await expect(fail('a', 5)).rejects.toThrow('a failure');
    const last = run('a', 'a4', 1);
    await jest.advanceTimersByTimeAsync(39);
    expect(begun).toEqual(['a1', 'a2', 'a3']);
    await jest.advanceTimersByTimeAsync(1);
    expect(await last).toBe('a4');
  });

  it('rejects work if too much of the account waits, or if the client has gone', async () => {
    const { begun, run } = setUp();
    const client = new AbortController();
    const first = run('a', 'first', 5);
    const waiting = Array.from({ length: 99 }, () => run('a', 'waiting', 0));
    const left = run('a', 'left', 0, client.signal);
    await expect(run('a', 'too many', 0)).rejects.toMatchObject({ code: 'TOO_MANY_REQUESTS' });
    expect(await run('b', 'b1', 0)).toBe('b1');
    client.abort();
    await expect(left).rejects.toMatchObject({ code: 'TOO_MANY_REQUESTS' });
    // Its place is free at once.
    waiting.push(run('a', 'last', 0));
    await jest.advanceTimersByTimeAsync(40);
    await Promise.all([first, ...waiting]);
    expect(begun.at(-1)).toBe('last');
    expect(begun).not.toContain('left');
    expect(begun).not.toContain('too many');
  });
});
