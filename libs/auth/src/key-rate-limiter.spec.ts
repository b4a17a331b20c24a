import { SharedCounter, type Windows } from '@perkway/platform';
import { KeyRateLimiter } from './key-rate-limiter.js';

/** A counter without other replicas. */
const alone = {
  counter: (_name: string, windows: Windows, limit: number) =>
    new SharedCounter(windows, limit, () => undefined),
};

const countIn = (limiter: KeyRateLimiter) => (key: string, now: number) => {
  const headers: Record<string, unknown> = {};
  const reply = {
    header(name: string, value: unknown) {
      headers[name] = value;
      return this;
    },
  };
  try {
    limiter.count(key, reply as never, now);
    return { headers, code: undefined };
  } catch (error) {
    return { headers, code: (error as { code: string }).code };
  }
};

describe('KeyRateLimiter', () => {
  it('admits requests up to the limit each second and rejects the rest with Retry-After', () => {
    const count = countIn(new KeyRateLimiter(2, alone));
    expect(count('a', 1_000)).toEqual({
      code: undefined,
      headers: { 'ratelimit-limit': '2', 'ratelimit-remaining': '1', 'ratelimit-reset': '1' },
    });
    expect(count('a', 1_500).code).toBeUndefined();
    expect(count('a', 1_999)).toMatchObject({
      code: 'TOO_MANY_REQUESTS',
      headers: { 'ratelimit-remaining': '0', 'retry-after': '1' },
    });
    expect(count('a', 2_000).code).toBeUndefined();
  });

  it('counts each key separately', () => {
    const count = countIn(new KeyRateLimiter(1, alone));
    expect(count('a', 1_000).code).toBeUndefined();
    expect(count('b', 1_000).code).toBeUndefined();
    expect(count('a', 1_000).code).toBe('TOO_MANY_REQUESTS');
  });

  it('does nothing with a limit of 0', () => {
    const count = countIn(new KeyRateLimiter(0, alone));
    for (let i = 0; i < 10; i += 1) expect(count('a', 1_000)).toEqual({ code: undefined, headers: {} });
  });
});
