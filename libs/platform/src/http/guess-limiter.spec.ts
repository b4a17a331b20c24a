import { DomainError } from '@perkway/domain';
import { GuessLimiter } from './guess-limiter.js';
import { SharedCounter, type Windows } from './shared-counts.js';

/** Nobody else counts. */
const alone = {
  counter: (_name: string, windows: Windows, limit: number) =>
    new SharedCounter(windows, limit, () => undefined),
};

const START = 1_020_000;
const wrongKey = () => {
  throw new DomainError('API_KEY_INVALID');
};

describe('GuessLimiter', () => {
  let now = START;
  beforeEach(() => {
    now = START;
    jest.spyOn(Date, 'now').mockImplementation(() => now);
  });
  afterEach(() => jest.restoreAllMocks());

  /** What is found, the headers of the answer, and its code where it is refused. */
  const tryIn =
    (limiter: GuessLimiter) =>
    async (address: string, look: () => unknown = wrongKey) => {
      const headers: Record<string, unknown> = {};
      const reply = {
        headers: (given: object) => Object.assign(headers, given),
        header: (name: string, value: unknown) => Object.assign(headers, { [name]: value }),
      };
      try {
        return { headers, found: await limiter.attempt(address, reply as never, 'API_KEY_INVALID', look) };
      } catch (error) {
        return { headers, code: (error as { code: string }).code };
      }
    };
  const WRONG = { code: 'API_KEY_INVALID' };
  const REFUSED = { code: 'TOO_MANY_REQUESTS' };

  it('lets the limit through in a minute, and one more when so much of the minute is forgotten', async () => {
    const guess = tryIn(new GuessLimiter(3, 'keys', alone));
    const at = (after: number) => {
      now = START + after;
      return guess('192.0.2.1');
    };
    expect(await at(0)).toMatchObject({
      ...WRONG,
      headers: { 'ratelimit-limit': 3, 'ratelimit-remaining': 2, 'ratelimit-reset': 60 },
    });
    expect(await at(10)).toMatchObject(WRONG);
    // Nothing is left before a third of the next minute has passed.
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

  it('counts neither a right one nor another failure, and finds a right one past the limit', async () => {
    const attempt = tryIn(new GuessLimiter(1, 'keys', alone));
    const away = () => {
      throw new DomainError('DEPENDENCY_UNAVAILABLE');
    };
    for (let turn = 0; turn < 5; turn += 1) {
      expect(await attempt('192.0.2.1', () => 'mine')).toEqual({ found: 'mine', headers: {} });
      expect(await attempt('192.0.2.1', away)).toEqual({ code: 'DEPENDENCY_UNAVAILABLE', headers: {} });
    }
    expect([await attempt('192.0.2.1'), await attempt('192.0.2.1')]).toMatchObject([WRONG, REFUSED]);
    expect(await attempt('192.0.2.1', () => 'mine')).toEqual({ found: 'mine', headers: {} });
  });

  it('looks up one at a time past the limit, and refuses unseen where many wait', async () => {
    const attempt = tryIn(new GuessLimiter(1, 'keys', alone));
    await attempt('192.0.2.1');
    let underWay = 0;
    let most = 0;
    let looked = 0;
    const slow = async () => {
      looked += 1;
      most = Math.max(most, (underWay += 1));
      await new Promise((resolve) => setTimeout(resolve, 1));
      underWay -= 1;
      return wrongKey();
    };
    const flood = await Promise.all(Array.from({ length: 100 }, () => attempt('192.0.2.1', slow)));
    expect(new Set(flood.map(({ code }) => code))).toEqual(new Set(['TOO_MANY_REQUESTS']));
    for (const { headers } of flood) expect(headers).toMatchObject({ 'retry-after': 120 });
    expect([looked, most]).toEqual([10, 1]);
    // When they are through, there is a turn again.
    expect(await attempt('192.0.2.1', () => 'mine')).toMatchObject({ found: 'mine' });
    // Nobody else waits for them, and who is within the limit waits for nobody.
    const others = await Promise.all(
      Array.from({ length: 20 }, (_, index) => attempt(`198.51.100.${index}`, slow)),
    );
    expect(new Set(others.map(({ code }) => code))).toEqual(new Set(['API_KEY_INVALID']));
    expect(most).toBe(20);
  });

  it('looks up no more than the limit at once of an address of which nothing is known yet', async () => {
    const attempt = tryIn(new GuessLimiter(5, 'keys', alone));
    let [underWay, most, looked] = [0, 0, 0];
    const slow = async (found: () => unknown) => {
      looked += 1;
      most = Math.max(most, (underWay += 1));
      await new Promise((resolve) => setTimeout(resolve, 1));
      underWay -= 1;
      return found();
    };
    const many = (found: () => unknown) =>
      Promise.all(Array.from({ length: 100 }, () => attempt('192.0.2.1', () => slow(found))));
    // Right ones all have their turn, and so have those of which nobody can tell.
    expect(new Set((await many(() => 'mine')).map(({ found }) => found))).toEqual(new Set(['mine']));
    const unknown = await many(() => {
      throw new DomainError('DEPENDENCY_UNAVAILABLE');
    });
    expect(new Set(unknown.map(({ code }) => code))).toEqual(new Set(['DEPENDENCY_UNAVAILABLE']));
    expect([looked, most]).toEqual([200, 5]);
    const wrong = (await many(wrongKey)).map(({ code }) => code);
    expect(wrong.filter((code) => code === 'API_KEY_INVALID')).toHaveLength(5);
    expect(wrong.filter((code) => code === 'TOO_MANY_REQUESTS')).toHaveLength(95);
    expect(looked).toBeLessThan(220);
    expect(most).toBe(5);
  });

  it('counts each address by itself, and an IPv6 network of 64 bits as one', async () => {
    const guess = tryIn(new GuessLimiter(1, 'keys', alone));

    expect(await guess('192.0.2.1')).toMatchObject(WRONG);
    expect(await guess('192.0.2.2')).toMatchObject(WRONG);
    expect(await guess('2001:db8:0:1::1')).toMatchObject(WRONG);
    expect(await guess('2001:db8:0:1:ffff::2')).toMatchObject(REFUSED);
    expect(await guess('2001:db8:0:2::1')).toMatchObject(WRONG);
    expect(await guess('unknown')).toMatchObject(WRONG);
  });

  it('keeps at most 50,000 addresses, the newest', async () => {
    const guess = tryIn(new GuessLimiter(1, 'keys', alone));
    await guess('first');
    for (let index = 0; index < 50_000; index += 1) await guess(`address-${index}`);

    expect(await guess('address-49999')).toMatchObject(REFUSED);
    expect(await guess('first')).toMatchObject(WRONG);
  });

  it('does nothing with a limit of 0', async () => {
    const guess = tryIn(new GuessLimiter(0, 'keys', alone));
    for (let i = 0; i < 10; i += 1) expect(await guess('192.0.2.1')).toEqual({ headers: {}, ...WRONG });
  });
});
