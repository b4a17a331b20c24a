import { SharedQueries } from './shared-queries.js';

describe('shared queries', () => {
  it('run once for equal requests at the same time, and again afterwards', async () => {
    const [shared, query] = [new SharedQueries<number>(), jest.fn().mockResolvedValue(1)];
    const all = ['a', 'a', 'b'].map((parameter) => shared.run([parameter], query));
    expect(query).toHaveBeenCalledTimes(2);
    expect(await Promise.all(all)).toEqual([1, 1, 1]);
    void shared.run(['a'], query);
    expect(query).toHaveBeenCalledTimes(3);
  });

  it('run again after a failure', async () => {
    const [shared, query] = [new SharedQueries<number>(), jest.fn()];
    query.mockRejectedValueOnce(new Error('down')).mockResolvedValueOnce(1);
    await expect(shared.run([], query)).rejects.toThrow('down');
    expect(await shared.run([], query)).toBe(1);
  });
});
