import { ApiError } from '@perkway/domain';
import { FailedAttemptLimiter } from './failed-attempt-limiter.js';
import { SharedCounter, type Windows } from './replica-counts.js';

/** Counts as if there were only one replica. */
const singleReplica = {
  counter: (_name: string, windows: Windows, limit: number) =>
    new SharedCounter(windows, limit, () => undefined),
};

const START = 1_020_000;
const wrongKey = () => {
  throw new ApiError('API_KEY_INVALID');
};

describe('FailedAttemptLimiter', () => {
  let now = START;
  beforeEach(() => {
    now = START;
    jest.spyOn(Date, 'now').mockImplementation(() => now);
  });
  afterEach(() => jest.restoreAllMocks());

  /**
   * Returns a function that makes an attempt. It returns the credential or the error code, and the response headers.
   */
  const attemptsOf =
    (limiter: FailedAttemptLimiter) =>
    async (address: string, lookUp: () => unknown = wrongKey) => {
      const headers: Record<string, unknown> = {};
      const reply = {
        headers: (given: object) => Object.assign(headers, given),
        header: (name: string, value: unknown) => Object.assign(headers, { [name]: value }),
      };
      try {
        return { headers, found: await limiter.attempt(address, reply as never, 'API_KEY_INVALID', lookUp) };
      } catch (error) {
        return { headers, code: (error as { code: string }).code };
      }
    };
  const WRONG = { code: 'API_KEY_INVALID' };
  const REFUSED = { code: 'TOO_MANY_REQUESTS' };

  it('allows the limit per minute, and one more as the previous minute fades', async () => {
    const failedAttempt = attemptsOf(new FailedAttemptLimiter(3, 'keys', singleReplica));
    const at = (after: number) => {
      now = START + after;
      return failedAttempt('192.0.2.1');
    };
    expect(await at(0)).toMatchObject({
      ...WRONG,
      headers: { 'ratelimit-limit': 3, 'ratelimit-remaining': 2, 'ratelimit-reset': 60 },
    });
    expect(await at(10)).toMatchObject(WRONG);
    // No attempt is left until a third of the next minute has passed.
    expect(await at(20)).toMatchObject({
      ...WRONG,
      headers: { 'ratelimit-remaining': 0, 'ratelimit-reset': 80 },
    });
    expect(await at(59_999)).toMatchObject({
      ...REFUSED,
      headers: { 'ratelimit-remaining': 0, 'ratelimit-reset': 21, 'retry-after': 21 },
    });
    expect(await at(60_000)).toMatchObject({ ...REFUSED, headers: { 'retry-after': 20 } });
    expect(await at(80_000)).toMatchObject({
      ...WRONG,
      headers: { 'ratelimit-remaining': 0, 'ratelimit-reset': 20 },
    });
  });

  it('counts neither valid credentials nor other errors, and accepts a valid one past the limit', async () => {
    const attempt = attemptsOf(new FailedAttemptLimiter(1, 'keys', singleReplica));
    const away = () => {
      throw new ApiError('DEPENDENCY_UNAVAILABLE');
    };
    for (let round = 0; round < 5; round += 1) {
      expect(await attempt('192.0.2.1', () => 'mine')).toEqual({ found: 'mine', headers: {} });
      expect(await attempt('192.0.2.1', away)).toEqual({ code: 'DEPENDENCY_UNAVAILABLE', headers: {} });
    }
    expect([await attempt('192.0.2.1'), await attempt('192.0.2.1')]).toMatchObject([WRONG, REFUSED]);
    expect(await attempt('192.0.2.1', () => 'mine')).toEqual({ found: 'mine', headers: {} });
  });

  it('accepts a valid credential past the limit while the same address keeps guessing', async () => {
    const attempt = attemptsOf(new FailedAttemptLimiter(1, 'keys', singleReplica));
    await attempt('192.0.2.1');
    let isAttacking = true;
    const attacker = async () => {
      while (isAttacking) {
        await attempt('192.0.2.1');
        await new Promise(setImmediate);
      }
    };
    const attackers = Array.from({ length: 30 }, attacker);
    const responses = [];
    for (let round = 0; round < 5; round += 1) responses.push(await attempt('192.0.2.1', () => 'mine'));
    isAttacking = false;
    await Promise.all(attackers);
    expect(responses).toEqual(Array(5).fill({ found: 'mine', headers: {} }));
  });

  it('batches the lookups of an address past its limit, and rejects more than 200 without a lookup', async () => {
    const attempt = attemptsOf(new FailedAttemptLimiter(1, 'keys', singleReplica));
    await attempt('192.0.2.1');
    let starts = 0;
    let running = 0;
    let mostAtOnce = 0;
    const lookUp = async () => {
      starts += 1;
      mostAtOnce = Math.max(mostAtOnce, (running += 1));
      await new Promise((resolve) => setTimeout(resolve, 1));
      running -= 1;
      return wrongKey();
    };
    const flood = Array.from({ length: 1_000 }, () => attempt('192.0.2.1', lookUp));
    // Other addresses and attempts within the limit do not wait for the batch.
    expect(await attempt('198.51.100.1')).toMatchObject(WRONG);
    expect(starts).toBe(0);
    for (const refused of await Promise.all(flood))
      expect(refused).toMatchObject({ ...REFUSED, headers: { 'retry-after': 120 } });
    expect(starts).toBe(200);
    expect(mostAtOnce).toBe(200);
    // The next batch has room again.
    expect(await attempt('192.0.2.1', () => 'mine')).toMatchObject({ found: 'mine' });
  });

  it('counts each address separately, and an IPv6 /64 as one', async () => {
    const failedAttempt = attemptsOf(new FailedAttemptLimiter(1, 'keys', singleReplica));

    expect(await failedAttempt('192.0.2.1')).toMatchObject(WRONG);
    expect(await failedAttempt('192.0.2.2')).toMatchObject(WRONG);
    expect(await failedAttempt('2001:db8:0:1::1')).toMatchObject(WRONG);
    expect(await failedAttempt('2001:db8:0:1:ffff::2')).toMatchObject(REFUSED);
    expect(await failedAttempt('2001:db8:0:2::1')).toMatchObject(WRONG);
    expect(await failedAttempt('unknown')).toMatchObject(WRONG);
  });

  it('keeps only the newest 50,000 addresses', async () => {
    const failedAttempt = attemptsOf(new FailedAttemptLimiter(1, 'keys', singleReplica));
    await failedAttempt('first');
    for (let index = 0; index < 50_000; index += 1) await failedAttempt(`address-${index}`);

    expect(await failedAttempt('address-49999')).toMatchObject(REFUSED);
    expect(await failedAttempt('first')).toMatchObject(WRONG);
  });

  it('is disabled by a limit of 0', async () => {
    const failedAttempt = attemptsOf(new FailedAttemptLimiter(0, 'keys', singleReplica));
    for (let i = 0; i < 10; i += 1)
      expect(await failedAttempt('192.0.2.1')).toEqual({ headers: {}, ...WRONG });
  });
});
