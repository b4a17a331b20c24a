import { analyticsToken } from '../src/analytics-token';
import { parseOperation } from '../src/operations';
import { sender } from '../src/send';

const START = Date.parse('2026-03-01T00:00:00Z');

/** Records each pause and returns at once. */
function testClock() {
  const pauses: number[] = [];
  let now = START;
  return {
    pauses,
    now: () => now,
    sleep: async (ms: number) => {
      pauses.push(ms);
      now += ms;
    },
    advance: (ms: number) => (now += ms),
  };
}

describe('the pauses between attempts', () => {
  const pausesFor = async (
    responses: (Response | Error)[],
    { tries = 4, mayRepeat = true }: { tries?: number; mayRepeat?: boolean } = {},
  ) => {
    const clock = testClock();
    let calls = 0;
    const send = sender({
      baseUrl: 'https://gift.example',
      credentials: () => ({}),
      fetch: async () => {
        const response = responses[calls++]!;
        if (response instanceof Error) throw response;
        return response;
      },
      timeoutMs: 1_000,
      tries,
      clock,
    });
    const outcome = await send(parseOperation('GET /pools'), {}, mayRepeat).then(
      ({ status }) => status,
      ({ code, status }: { code: string; status?: number }) => status ?? code,
    );
    return { outcome, calls, pauses: clock.pauses };
  };
  const busy = (retryAfter?: string, status = 503) =>
    new Response('', {
      status,
      ...(retryAfter === undefined ? {} : { headers: { 'retry-after': retryAfter } }),
    });
  const done = () => new Response('[]', { headers: { 'content-type': 'application/json' } });
  const broken = () =>
    new TypeError('fetch failed', { cause: Object.assign(new Error(), { code: 'ECONNRESET' }) });

  it('last the seconds of Retry-After', async () => {
    expect(await pausesFor([busy('1'), busy('7', 429), done()])).toEqual({
      outcome: 200,
      calls: 3,
      pauses: [1_000, 7_000],
    });
  });

  it('last until the date of Retry-After, or not at all if it has passed', async () => {
    const at = (ms: number) => busy(new Date(START + ms).toUTCString());
    expect((await pausesFor([at(5_000), at(1_000), done()])).pauses).toEqual([5_000, 0]);
  });

  it('last at most a minute; a longer Retry-After fails the call', async () => {
    expect(await pausesFor([busy('60'), done()])).toEqual({ outcome: 200, calls: 2, pauses: [60_000] });
    expect(await pausesFor([busy('61'), done()])).toEqual({ outcome: 503, calls: 1, pauses: [] });
  });

  it('grow if Retry-After is missing or invalid', async () => {
    for (const responses of [
      [busy(), busy(), busy(), done()],
      [busy('soon'), busy('soon'), busy(''), done()],
      [broken(), broken(), broken(), done()],
    ]) {
      const { outcome, pauses } = await pausesFor(responses);
      expect(outcome).toBe(200);
      expect(pauses).toHaveLength(3);
      for (const [index, longest] of [200, 400, 800].entries()) {
        expect(pauses[index]).toBeGreaterThanOrEqual(longest / 2);
        expect(pauses[index]).toBeLessThanOrEqual(longest);
      }
    }
  });

  it('occur only before another attempt', async () => {
    expect(await pausesFor([broken()], { tries: 1 })).toEqual({
      outcome: 'CONNECTION_FAILED',
      calls: 1,
      pauses: [],
    });
    expect(await pausesFor([busy('1')], { mayRepeat: false })).toEqual({
      outcome: 503,
      calls: 1,
      pauses: [],
    });
    expect(await pausesFor([busy('1'), busy('1')], { tries: 2 })).toEqual({
      outcome: 503,
      calls: 2,
      pauses: [1_000],
    });
    for (const status of [400, 404, 409, 500, 502, 504])
      expect(await pausesFor([busy('1', status)])).toEqual({ outcome: status, calls: 1, pauses: [] });
  });
});

describe('the analytics token', () => {
  /** The server's clock is an hour ahead. */
  const issuer = (clock: ReturnType<typeof testClock>) => {
    let issued = 0;
    return async () => {
      const serverNow = clock.now() + 3_600_000;
      issued += 1;
      return {
        token: `token-${issued}`,
        expiration: serverNow + 300_000,
        serverTime: { epoch_timestamp: serverNow / 1000 },
      };
    };
  };

  it('is renewed 30 seconds before it expires, by the local clock', async () => {
    const clock = testClock();
    const token = analyticsToken(issuer(clock), clock);
    expect(await token()).toBe('token-1');
    clock.advance(269_999);
    expect(await token()).toBe('token-1');
    clock.advance(1);
    expect(await Promise.all([token(), token()])).toEqual(['token-2', 'token-2']);
  });
});
