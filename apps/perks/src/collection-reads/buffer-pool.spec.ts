import { BufferPool } from './buffer-pool.js';

describe('BufferPool', () => {
  it('reuses a returned buffer for a request of about the same size', () => {
    const pool = new BufferPool(1_000_000);
    const buffer = pool.take(97_853);
    expect(buffer.length).toBeGreaterThanOrEqual(97_853);
    expect(buffer.length).toBeLessThan(97_853 * 1.15);
    pool.give(buffer);
    expect(pool.unusedBytes).toBe(buffer.length);
    expect(pool.take(97_000)).toBe(buffer);
    expect(pool.unusedBytes).toBe(0);
    expect(pool.take(97_000)).not.toBe(buffer);
  });

  it('never returns a buffer that is too small', () => {
    const pool = new BufferPool(1_000_000_000);
    for (let length = 1; length < 300_000; length = Math.ceil(length * 1.01) + 1) {
      const buffer = pool.take(length);
      expect(buffer.length).toBeGreaterThanOrEqual(length);
      pool.give(buffer);
    }
  });

  it('keeps at most the allowed memory', () => {
    const pool = new BufferPool(250_000);
    for (const buffer of Array.from({ length: 10 }, () => pool.take(100_000))) pool.give(buffer);
    expect(pool.unusedBytes).toBeLessThanOrEqual(250_000);
    expect(pool.unusedBytes).toBeGreaterThan(100_000);
    pool.give(pool.take(10_000_000));
    expect(pool.unusedBytes).toBeLessThanOrEqual(250_000);
  });
});
