import { SharedQueries } from './shared-queries.js';

/** Counts its runs, each of which takes this long. */
const queryOf = (ms: () => number) =>
  jest.fn(() => new Promise<number>((resolve) => setTimeout(resolve, ms(), ms())));

describe('shared queries', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('run once for equal requests at the same time, and again afterwards', async () => {
    const [shared, query] = [new SharedQueries<number>(), queryOf(() => 20)];
    const all = Promise.all([shared.run(['a'], query), shared.run(['a'], query), shared.run(['b'], query)]);
    expect(query).toHaveBeenCalledTimes(2);
    await jest.advanceTimersByTimeAsync(20);
    expect(await all).toEqual([20, 20, 20]);
    void shared.run(['a'], query);
    expect(query).toHaveBeenCalledTimes(3);
  });

  it('run for at most a twentieth of the time if they are slow', async () => {
    const [shared, query] = [new SharedQueries<number>(), queryOf(() => 400)];
    void shared.run([], query);
    await jest.advanceTimersByTimeAsync(400 + 19 * 400 - 1);
    expect(await shared.run([], query)).toBe(400);
    expect(query).toHaveBeenCalledTimes(1);
    await jest.advanceTimersByTimeAsync(1);
    void shared.run([], query);
    expect(query).toHaveBeenCalledTimes(2);
  });

  it('run again after a failure', async () => {
    const [shared, query] = [new SharedQueries<number>(), jest.fn()];
    query.mockRejectedValueOnce(new Error('down')).mockResolvedValueOnce(1);
    await expect(shared.run([], query)).rejects.toThrow('down');
    expect(await shared.run([], query)).toBe(1);
  });
});
