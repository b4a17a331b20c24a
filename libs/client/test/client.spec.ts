import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createPerkway, PerkwayError } from '../src/index';

interface ReceivedRequest {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}
type Reply = (response: ServerResponse, requested: ReceivedRequest) => void;

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Reply =>
  (response) =>
    response
      .writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers })
      .end(JSON.stringify(body));
const problem = (status: number, code: string, headers: Record<string, string> = {}): Reply =>
  json(
    status,
    { code, detail: `Why ${code}`, status, requestId: 'r-1' },
    { 'content-type': 'application/problem+json', ...headers },
  );
const hangUp: Reply = (response) => void response.destroy();
const token = (expiresInS: number): Reply => {
  const now = Math.floor(Date.now() / 1000);
  return json(200, {
    token: `token-${expiresInS}`,
    expiration: (now + expiresInS) * 1000,
    serverTime: { timestamp: new Date().toISOString(), epoch_timestamp: now },
  });
};

// Tests network behavior that real hosts cannot be made to show on demand.
describe('the client', () => {
  let server: Server;
  let url: string;
  let replies: Reply[];
  let requested: ReceivedRequest[];
  beforeAll(async () => {
    server = createServer((request, response) => {
      void text(request).then((body) => {
        const one = { method: request.method!, url: request.url!, headers: request.headers, body };
        requested.push(one);
        (replies.shift() ?? problem(500, 'UNEXPECTED_REQUEST'))(response, one);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(() => {
    [replies, requested] = [[], []];
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const perkway = (hosts: object = {}, options: object = {}) =>
    createPerkway({
      apiKey: 'key-of-the-account',
      hosts: { perks: url, boost: url, gift: url, token: url, query: url, ...hosts },
      ...options,
    });
  const failure = async (call: PromiseLike<unknown>): Promise<PerkwayError> => {
    try {
      await call;
    } catch (error) {
      if (error instanceof PerkwayError) return error;
      throw error;
    }
    throw new Error('it did not fail');
  };
  const link = { poolId: 'p', createdBy: 'crm', denomination: 25, currency: 'EUR', expires_at: 1893456000 };

  it('puts each member where the operation expects it', async () => {
    replies = [json(201, { id: '1', reward_link: 'l', token: 't' }), json(200, { perks: [], groups: [] })];
    await perkway().gift.generateRewardLink({ ...link, cmeta_segment: 'gold', utm_source: 'mail' });
    await perkway().perks.getPerkCollection({
      collectionId: 'a/b',
      categories: [1, 2],
      location_country: 'FR',
      disableViewTracking: true,
      acceptLanguage: 'fr',
    });
    const [made, read] = requested.map((each) => ({ ...each, url: new URL(each.url, url) }));
    expect(made!.url.pathname).toBe('/pool/p/reward-links');
    expect(made!.url.searchParams.get('idempotencyKey')).toMatch(/^[0-9a-f-]{36}$/);
    expect(made!.url.searchParams.get('cmeta_segment')).toBe('gold');
    expect(made!.url.searchParams.get('utm_source')).toBe('mail');
    expect(made!.headers).toMatchObject({ 'x-api-key': 'key-of-the-account', 'x-created-by': 'crm' });
    expect(JSON.parse(made!.body)).toEqual({ denomination: 25, currency: 'EUR', expires_at: 1893456000 });
    expect(read!.url.pathname).toBe('/perk-collections/a%2Fb');
    expect(read!.url.search).toBe('?categories=1&categories=2&location_country=FR');
    expect(read!.headers).toMatchObject({ 'x-disable-view-tracking': 'true', 'accept-language': 'fr' });
  });

  it('retries a reward link with one idempotency key, after a broken connection and while the host is busy', async () => {
    replies = [
      hangUp,
      problem(503, 'DEPENDENCY_UNAVAILABLE', { 'retry-after': '0' }),
      json(429, 'x', { 'retry-after': '0' }),
      json(201, { id: '1', reward_link: 'l', token: 't' }),
    ];
    expect(await perkway().gift.generateRewardLink(link)).toMatchObject({ reward_link: 'l' });
    expect(requested).toHaveLength(4);
    expect(new Set(requested.map((each) => each.url)).size).toBe(1);
    const given = 'b3f0d4c9-8a11-4a57-b8c0-1f2e3d4c5b6a';
    replies = [json(201, { id: '1', reward_link: 'l', token: 't' })];
    await perkway().gift.generateRewardLink({ ...link, idempotencyKey: given });
    expect(requested.at(-1)!.url).toContain(given);
  });

  it('sends the idempotency key of a withdrawal in its header', async () => {
    replies = [problem(503, 'DEPENDENCY_UNAVAILABLE', { 'retry-after': '0' }), json(202, { id: 'w' })];
    const body = { reason: 'recalled', batch: 'B', reserved: 'keep' as const };
    expect(await perkway().gift.withdrawCards({ poolId: 'p', ...body })).toEqual({ id: 'w' });
    const keys = requested.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toEqual([keys[0], keys[0]]);
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(requested[0]!.url).toBe('/admin/pools/p/withdrawals');
    expect(JSON.parse(requested[0]!.body)).toEqual(body);
  });

  it('makes at most four attempts, and one for requests that are not repeatable', async () => {
    const busy = () =>
      Array.from({ length: 6 }, () => problem(503, 'DEPENDENCY_UNAVAILABLE', { 'retry-after': '0' }));
    replies = busy();
    expect(await failure(perkway().gift.getGiftCardPools())).toMatchObject({
      code: 'DEPENDENCY_UNAVAILABLE',
      status: 503,
      requestId: 'r-1',
      message: 'Why DEPENDENCY_UNAVAILABLE',
    });
    expect(requested).toHaveLength(4);
    for (const [call, tries] of [
      [() => perkway().boost.trackJourneyEvent({ campaignId: 'c', event: 'conversion' }), 1],
      [() => perkway().boost.trackJourneyEvent({ campaignId: 'c', event: 'conversion', externalId: 'e' }), 4],
      [() => perkway().gift.cancelRewardLink({ linkId: 'l' }), 4],
      [() => perkway().gift.replaceRewardLink({ linkId: 'l', createdBy: 'crm', reason: 'rejected' }), 4],
      [() => perkway().token.createApiKey({ accountId: 'a', role: 'USER' }), 1],
      [() => perkway().token.revokeApiKey({ accountId: 'a', keyId: 'k' }), 4],
      [() => perkway().perks.allocateCouponCode({ collectionId: 'c', perkId: 'p', customer_id: 'x' }), 1],
    ] as const) {
      requested = [];
      replies = busy();
      expect((await failure(call())).status).toBe(503);
      expect(requested).toHaveLength(tries);
    }
  });

  it("distinguishes Perkway's errors from other responses", async () => {
    replies = [
      (response) =>
        response
          .writeHead(409, { 'content-type': 'text/plain', 'x-request-id': 'r-2' })
          .end('NO_AVAILABLE_CARDS'),
      (response) => response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>'),
      (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Log in</h1>'),
      (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"half":'),
    ];
    const gift = perkway().gift;
    expect(await failure(gift.generateRewardLink(link))).toMatchObject({
      code: 'NO_AVAILABLE_CARDS',
      status: 409,
      requestId: 'r-2',
    });
    for (const status of [502, 200, 200])
      expect(await failure(gift.getGiftCardPools())).toMatchObject({ code: 'UNEXPECTED_ANSWER', status });
    expect(requested).toHaveLength(4);
    const nobody = perkway({ gift: 'http://127.0.0.1:9' });
    const error = await failure(nobody.gift.getGiftCardPools());
    expect(error.code).toBe('CONNECTION_FAILED');
    expect(error.status).toBeUndefined();
    expect(`${error.stack} ${JSON.stringify(error)}`).not.toContain('key-of-the-account');
  });

  it('returns a signed statement as a string', async () => {
    const jws = 'eyJhbGciOiJFUzI1NiJ9.e30.c2lnbmF0dXJl';
    replies = [(response) => response.writeHead(200, { 'content-type': 'application/jose' }).end(jws)];
    const statement: string = await perkway().gift.getSignedStatement({ month: '2026-10' });
    expect(statement).toBe(jws);
    expect(requested[0]!.url).toBe('/statements/2026-10.jws');
  });

  it('passes unknown members and values through', async () => {
    replies = [json(200, [{ id: 'p', inventories: [], mood: 'new', kind: 'NOT_YET_THERE' }])];
    expect(await perkway().gift.getGiftCardPools()).toEqual([
      { id: 'p', inventories: [], mood: 'new', kind: 'NOT_YET_THERE' },
    ]);
  });

  it('returns one page of a list, or iterates over all of it', async () => {
    const pages = (): Reply[] => [
      json(200, { data: [{ id: 'a' }, { id: 'b' }], next_cursor: 'c1' }),
      json(200, { data: [{ id: 'c' }], next_cursor: null }),
    ];
    replies = pages();
    expect(await perkway().boost.listCampaigns({ limit: 2 })).toMatchObject({ next_cursor: 'c1' });
    expect(requested).toHaveLength(1);
    [requested, replies] = [[], pages()];
    const ids: string[] = [];
    for await (const { id } of perkway().boost.listCampaigns({ limit: 2 }) as AsyncIterable<{ id: string }>)
      ids.push(id);
    expect(ids).toEqual(['a', 'b', 'c']);
    expect(requested.map((each) => each.url)).toEqual(['/campaigns?limit=2', '/campaigns?limit=2&cursor=c1']);
  });

  it('caches a token until 30 s before it expires; the function needs no `this`', async () => {
    replies = [token(300), token(29)];
    const { token: of } = perkway().analytics;
    expect(await Promise.all([of(), of(), of()])).toEqual(['token-300', 'token-300', 'token-300']);
    expect(await of()).toBe('token-300');
    expect(requested).toHaveLength(1);
    const late = perkway().analytics.token;
    expect(await late()).toBe('token-29');
    replies = [token(300)];
    expect(await late()).toBe('token-300');
    replies = [problem(401, 'API_KEY_INVALID'), token(300)];
    const refused = perkway().analytics.token;
    expect((await failure(refused())).code).toBe('API_KEY_INVALID');
    expect(await refused()).toBe('token-300');
  });

  it('sends the raw token to the query host', async () => {
    replies = [token(300), json(200, { data: [] }), json(400, { error: 'Unknown member' })];
    const { analytics } = perkway();
    expect(await analytics.load({ query: { measures: ['perk_views.count'] } as never })).toEqual({
      data: [],
    });
    expect(requested[1]!.headers.authorization).toBe('token-300');
    expect(requested[1]!.headers['x-api-key']).toBeUndefined();
    expect(new URL(requested[1]!.url, url).searchParams.get('query')).toBe(
      '{"measures":["perk_views.count"]}',
    );
    expect(await failure(analytics.load({ query: '{}' as never }))).toMatchObject({
      code: 'QUERY_FAILED',
      message: 'Unknown member',
      status: 400,
    });
  });

  it('returns the location of a redirect, and undefined for an empty response', async () => {
    replies = [
      (response) => response.writeHead(302, { location: 'https://fernway.example/' }).end(),
      (response) => response.writeHead(204).end(),
    ];
    expect(await perkway().boost.registerOutreachClick({ token: 't' })).toEqual({
      location: 'https://fernway.example/',
    });
    expect(await perkway().perks.deletePerk({ perkId: 'p' })).toBeUndefined();
  });

  it.each(['Łukasz Żółty', 'Zoë', '日本 🎁', '100% Łukasz', '%C5%81ukasz', "UTF-8''%C5%81", 'Ã©', '\uFFFD'])(
    'sends the name %s as UTF-8',
    async (createdBy) => {
      replies = [json(201, { id: '1', reward_link: 'l', token: 't' })];
      await perkway().gift.generateRewardLink({ ...link, createdBy });
      // Node decodes header bytes as Latin-1.
      expect(Buffer.from(String(requested[0]!.headers['x-created-by']), 'latin1').toString('utf8')).toBe(
        createdBy,
      );
    },
  );

  it('does not retry a request that can never be sent', async () => {
    let calls = 0;
    const counting = (given?: Error) =>
      createPerkway({
        apiKey: 'key-of-the-account',
        hosts: { perks: url, gift: url },
        fetch: ((...args: Parameters<typeof fetch>) => {
          calls += 1;
          return given ? Promise.reject(given) : fetch(...args);
        }) as typeof fetch,
      });
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    for (const call of [
      () => counting().gift.generateRewardLink({ ...link, createdBy: 'two\nlines' }),
      () => counting().gift.getGiftCardPool({ poolId: '\uD800' }),
      () => counting().perks.putPerk({ perkId: 'p', ...circular } as never),
    ])
      expect(await failure(call())).toMatchObject({ code: 'REQUEST_INVALID', status: undefined });
    expect(calls).toBe(0);
    expect(
      await failure(counting(new TypeError('x is not a function')).gift.getGiftCardPools()),
    ).toMatchObject({ code: 'REQUEST_INVALID' });
    expect(calls).toBe(1);
  });

  it('rejects an API key that is invalid in a header, without repeating it', () => {
    for (const apiKey of ['', 'secret\nkey', 'secretŁ']) {
      const make = () => createPerkway({ apiKey, hosts: {} });
      expect(make).toThrow('`apiKey`');
      expect(make).not.toThrow('secret');
    }
  });

  it('retries an interrupted response', async () => {
    replies = [
      (response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
        response.write('[{"id":', () => response.destroy());
      },
      json(200, [{ id: 'p' }]),
    ];
    expect(await perkway().gift.getGiftCardPools()).toEqual([{ id: 'p' }]);
    expect(requested).toHaveLength(2);
  });

  it('returns status, headers and request id of a response with its data', async () => {
    const stored = { id: 'p', name: 'A pool' };
    const headers = { etag: '"7f"', 'x-request-id': 'r-7' };
    replies = [json(200, stored, headers), json(200, stored, headers)];
    const { gift } = perkway();
    const call = gift.getStoredGiftCardPool({ poolId: 'p' });
    const read = await call.withResponse();
    expect(read).toMatchObject({ data: stored, status: 200, requestId: 'r-7' });
    expect(await call).toEqual(stored);
    expect(requested).toHaveLength(1);
    await gift.putGiftCardPool({ poolId: 'p', owner: 'a', ifMatch: read.headers.get('etag')! });
    expect(requested[1]!.headers['if-match']).toBe('"7f"');

    replies = [
      json(200, { data: [{ id: 'a' }], next_cursor: 'c1' }, { 'x-request-id': 'r-8' }),
      (response) => response.writeHead(204, { 'x-request-id': 'r-9' }).end(),
      (response) => response.writeHead(302, { location: '/there', 'x-request-id': 'r-10' }).end(),
      problem(412, 'PRECONDITION_FAILED', { etag: '"8"' }),
    ];
    expect(await perkway().boost.listCampaigns().withResponse()).toMatchObject({
      data: { next_cursor: 'c1' },
      requestId: 'r-8',
    });
    expect(await perkway().perks.deletePerk({ perkId: 'p' }).withResponse()).toMatchObject({
      data: undefined,
      status: 204,
      requestId: 'r-9',
    });
    expect(await perkway().boost.registerOutreachClick({ token: 't' }).withResponse()).toMatchObject({
      data: { location: '/there' },
      status: 302,
    });
    const refused = await failure(
      gift.putGiftCardPool({ poolId: 'p', owner: 'a', ifMatch: '"7"' }).withResponse(),
    );
    expect([refused.code, refused.headers?.get('etag')]).toEqual(['PRECONDITION_FAILED', '"8"']);
  });

  it('aborts a call with its signal at any point', async () => {
    const gone = new Error('not needed any more');
    // Longer than a test may take, so that nothing but the signal ends a call.
    const { gift, analytics } = perkway({}, { timeoutMs: 600_000 });
    let controller = new AbortController();
    const options = () => ({ signal: (controller = new AbortController()).signal });
    const abort = () => controller.abort(gone);

    await expect(gift.getGiftCardPools({}, { signal: AbortSignal.abort(gone) })).rejects.toBe(gone);
    expect(requested).toHaveLength(0);

    // While waiting for the response.
    replies = [abort];
    await expect(gift.getGiftCardPools({}, options())).rejects.toBe(gone);

    // In the middle of a body.
    replies = [
      (response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
        response.write('[', abort);
      },
    ];
    await expect(gift.getGiftCardPools({}, options())).rejects.toBe(gone);

    // During the pause before the next attempt.
    replies = [problem(503, 'DEPENDENCY_UNAVAILABLE', { 'retry-after': '30' })];
    const paused = gift.getGiftCardPools({}, options());
    setTimeout(abort, 200);
    const pausedAt = Date.now();
    await expect(paused).rejects.toBe(gone);
    expect(Date.now() - pausedAt).toBeLessThan(15_000);
    expect(requested).toHaveLength(3);

    // While waiting for a token that other calls share.
    let issue = () => {};
    replies = [
      (response, one) => {
        issue = () => token(300)(response, one);
        abort();
      },
    ];
    const waiting = analytics.getMeta({}, options());
    const other = analytics.token();
    await expect(waiting).rejects.toBe(gone);
    issue();
    expect(await other).toBe('token-300');

    // Between two pages.
    replies = [json(200, { data: [{ id: 'a' }], next_cursor: 'c1' })];
    const links = gift.listRewardLinks({}, options())[Symbol.asyncIterator]();
    expect(await links.next()).toMatchObject({ value: { id: 'a' } });
    abort();
    await expect(links.next()).rejects.toBe(gone);
    expect(requested).toHaveLength(5);
  });

  it('ends a call with a signal at its time limit, also after a garbage collection', async () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    replies = [() => setImmediate(collectGarbage)];
    const { signal } = new AbortController();
    const late = await failure(
      perkway({}, { timeoutMs: 500, tries: 1 }).gift.getGiftCardPools({}, { signal }),
    );
    expect(late).toMatchObject({ code: 'CONNECTION_FAILED', cause: { name: 'TimeoutError' } });
  }, 10_000);

  it('iterates over events without end, and has a cursor to continue from', async () => {
    const gone = new Error('stopped');
    const controller = new AbortController();
    const page = (ids: string[], next_cursor: string) =>
      json(200, { data: ids.map((id) => ({ id })), next_cursor, has_more: false });
    replies = [
      page(['a', 'b'], 'c1'),
      page([], 'c2'),
      problem(503, 'DEPENDENCY_UNAVAILABLE'),
      page(['c'], 'c3'),
    ];
    const list = perkway({ events: url }).events.list(
      { from: '2026-11-05T00:00:00Z', types: ['perk.clicked', 'pool.low'], limit: 2 },
      { signal: controller.signal },
    );
    const ids: string[] = [];
    const cursors: unknown[] = [];
    replies.push(() => controller.abort(gone));
    await expect(
      (async () => {
        for await (const { id } of list) {
          ids.push(id);
          cursors.push(list.cursor);
        }
      })(),
    ).rejects.toBe(gone);
    expect(ids).toEqual(['a', 'b', 'c']);
    expect(cursors).toEqual([undefined, undefined, 'c2']);
    expect(list.cursor).toBe('c3');
    const types = 'types=perk.clicked%2Cpool.low&wait=20';
    expect(requested.map((one) => decodeURIComponent(one.url))).toEqual(
      [
        `/events?from=2026-11-05T00:00:00Z&limit=2&${types}`,
        `/events?limit=2&cursor=c1&${types}`,
        `/events?limit=2&cursor=c2&${types}`,
        `/events?limit=2&cursor=c2&${types}`,
        `/events?limit=2&cursor=c3&${types}`,
      ].map(decodeURIComponent),
    );
  });

  it('sends its name and version', async () => {
    const { version } = jest.requireActual<{ version: string }>('../package.json');
    replies = [json(200, [])];
    await perkway().gift.getGiftCardPools();
    expect(requested[0]!.headers['user-agent']).toBe(`perkway-client/${version}`);
  });
});
