import { GuessLimiter } from './guess-limiter.js';
import { SharedCounter, type Windows } from './shared-counts.js';

/** Nobody else counts. */
const alone = {
  counter: (_name: string, windows: Windows, limit: number) =>
    new SharedCounter(windows, limit, () => undefined),
};

const START = 1_020_000;

/** The headers of the answer, and its code where it is refused. */
const countIn =
  (limiter: GuessLimiter) =>
  (address: string, now = START) => {
    const sent: Record<string, unknown> = {};
    const reply = {
      headers: (headers: object) => Object.assign(sent, headers),
      header: (name: string, value: unknown) => Object.assign(sent, { [name]: value }),
    };
    try {
      limiter.count(address, reply as never, now);
    } catch (error) {
      return { headers: sent, code: (error as { code: string }).code };
    }
    return { headers: sent, code: undefined };
  };

describe('GuessLimiter', () => {
  it('lets the limit through in a minute, and one more when so much of the minute is forgotten', () => {
    const count = countIn(new GuessLimiter(3, 'keys', alone));
    const tries = [0, 10, 20, 59_999, 60_000, 80_000].map((after) => count('192.0.2.1', START + after));

    const [first, , third, over, still, next] = tries;
    expect(tries.map(({ code }) => code)).toEqual([
      undefined,
      undefined,
      undefined,
      'TOO_MANY_REQUESTS',
      'TOO_MANY_REQUESTS',
      undefined,
    ]);
    expect(first!.headers).toEqual({
      'ratelimit-limit': 3,
      'ratelimit-remaining': 2,
      'ratelimit-reset': 60,
    });
    // Nothing is left before a third of the next minute has passed.
    expect(third!.headers).toMatchObject({ 'ratelimit-remaining': 0, 'ratelimit-reset': 80 });
    expect(over!.headers).toMatchObject({
      'ratelimit-remaining': 0,
      'ratelimit-reset': 21,
      'retry-after': 21,
    });
    expect(still!.headers).toMatchObject({ 'retry-after': 20 });
    expect(next!.headers).toMatchObject({ 'ratelimit-remaining': 0, 'ratelimit-reset': 20 });
  });

  it('counts each address by itself, and an IPv6 network of 64 bits as one', () => {
    const count = countIn(new GuessLimiter(1, 'keys', alone));
    const isRefused = (address: string) => count(address).code !== undefined;

    expect(isRefused('192.0.2.1')).toBe(false);
    expect(isRefused('192.0.2.2')).toBe(false);
    expect(isRefused('2001:db8:0:1::1')).toBe(false);
    expect(isRefused('2001:db8:0:1:ffff::2')).toBe(true);
    expect(isRefused('2001:db8:0:2::1')).toBe(false);
    expect(isRefused('unknown')).toBe(false);
  });

  it('keeps at most 50,000 addresses, the newest', () => {
    const count = countIn(new GuessLimiter(1, 'keys', alone));
    count('first');
    for (let index = 0; index < 50_000; index += 1) count(`address-${index}`, START + 1);

    expect(count('address-49999', START + 2).code).toBe('TOO_MANY_REQUESTS');
    expect(count('first', START + 2).code).toBeUndefined();
  });

  it('does nothing with a limit of 0', () => {
    const count = countIn(new GuessLimiter(0, 'keys', alone));
    for (let i = 0; i < 10; i += 1) expect(count('192.0.2.1')).toEqual({ headers: {}, code: undefined });
  });
});
