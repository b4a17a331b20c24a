import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createPerkway, PerkwayError } from '../src/index';

interface Asked {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}
type Reply = (response: ServerResponse, asked: Asked) => void;

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

// What the wire does to a client, which no host of ours can be made to do at will.
describe('the client', () => {
  let server: Server;
  let url: string;
  let replies: Reply[];
  let asked: Asked[];
  beforeAll(async () => {
    server = createServer((request, response) => {
      void text(request).then((body) => {
        const one = { method: request.method!, url: request.url!, headers: request.headers, body };
        asked.push(one);
        replies.shift()!(response, one);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(() => {
    [replies, asked] = [[], []];
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const perkway = (hosts: object = {}) =>
    createPerkway({
      apiKey: 'key-of-the-account',
      hosts: { perks: url, boost: url, gift: url, token: url, query: url, ...hosts },
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

  it('puts each member where the operation has it', async () => {
    replies = [json(201, { id: '1', reward_link: 'l', token: 't' }), json(200, { perks: [], groups: [] })];
    await perkway().gift.generateRewardLink({ ...link, cmeta_segment: 'gold', utm_source: 'mail' });
    await perkway().perks.getPerkCollection({
      collectionId: 'a/b',
      categories: [1, 2],
      location_country: 'FR',
      disableViewTracking: true,
      acceptLanguage: 'fr',
    });
    const [made, read] = asked.map((each) => ({ ...each, url: new URL(each.url, url) }));
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

  it('repeats a link with one idempotency key, after a broken connection and when the host is busy', async () => {
    replies = [
      hangUp,
      problem(503, 'DEPENDENCY_UNAVAILABLE', { 'retry-after': '0' }),
      json(429, 'x', { 'retry-after': '0' }),
      json(201, { id: '1', reward_link: 'l', token: 't' }),
    ];
    expect(await perkway().gift.generateRewardLink(link)).toMatchObject({ reward_link: 'l' });
    expect(asked).toHaveLength(4);
    expect(new Set(asked.map((each) => each.url)).size).toBe(1);
    const given = 'b3f0d4c9-8a11-4a57-b8c0-1f2e3d4c5b6a';
    replies = [json(201, { id: '1', reward_link: 'l', token: 't' })];
    await perkway().gift.generateRewardLink({ ...link, idempotencyKey: given });
    expect(asked.at(-1)!.url).toContain(given);
  });

  it('tries four times at most, and what may happen twice once', async () => {
    const busy = () =>
      Array.from({ length: 6 }, () => problem(503, 'DEPENDENCY_UNAVAILABLE', { 'retry-after': '0' }));
    replies = busy();
    expect(await failure(perkway().gift.getGiftCardPools())).toMatchObject({
      code: 'DEPENDENCY_UNAVAILABLE',
      status: 503,
      requestId: 'r-1',
      message: 'Why DEPENDENCY_UNAVAILABLE',
    });
    expect(asked).toHaveLength(4);
    for (const [call, tries] of [
      [() => perkway().boost.trackJourneyEvent({ campaignId: 'c', event: 'conversion' }), 1],
      [() => perkway().boost.trackJourneyEvent({ campaignId: 'c', event: 'conversion', externalId: 'e' }), 4],
      [() => perkway().gift.cancelRewardLink({ linkId: 'l' }), 4],
      [() => perkway().token.createApiKey({ accountId: 'a', role: 'USER' }), 1],
      [() => perkway().token.revokeApiKey({ accountId: 'a', keyId: 'k' }), 4],
      [() => perkway().perks.allocateCouponCode({ collectionId: 'c', perkId: 'p', customer_id: 'x' }), 1],
    ] as const) {
      asked = [];
      replies = busy();
      expect((await failure(call())).status).toBe(503);
      expect(asked).toHaveLength(tries);
    }
  });

  it('tells a refusal from what is none of Perkway', async () => {
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
    const nobody = perkway({ gift: 'http://127.0.0.1:9' });
    const error = await failure(nobody.gift.getGiftCardPools());
    expect(error.code).toBe('CONNECTION_FAILED');
    expect(error.status).toBeUndefined();
    expect(`${error.stack} ${JSON.stringify(error)}`).not.toContain('key-of-the-account');
  });

  it('lets members and values through that it does not know', async () => {
    replies = [json(200, [{ id: 'p', inventories: [], mood: 'new', kind: 'NOT_YET_THERE' }])];
    expect(await perkway().gift.getGiftCardPools()).toEqual([
      { id: 'p', inventories: [], mood: 'new', kind: 'NOT_YET_THERE' },
    ]);
  });

  it('has a page of a list, or all of it', async () => {
    const pages = (): Reply[] => [
      json(200, { data: [{ id: 'a' }, { id: 'b' }], next_cursor: 'c1' }),
      json(200, { data: [{ id: 'c' }], next_cursor: null }),
    ];
    replies = pages();
    expect(await perkway().boost.listCampaigns({ limit: 2 })).toMatchObject({ next_cursor: 'c1' });
    expect(asked).toHaveLength(1);
    [asked, replies] = [[], pages()];
    const ids: string[] = [];
    for await (const { id } of perkway().boost.listCampaigns({ limit: 2 }) as AsyncIterable<{ id: string }>)
      ids.push(id);
    expect(ids).toEqual(['a', 'b', 'c']);
    expect(asked.map((each) => each.url)).toEqual(['/campaigns?limit=2', '/campaigns?limit=2&cursor=c1']);
  });

  it('keeps a token until 30 s before its end, and hands it on without being bound', async () => {
    replies = [token(300), token(29)];
    const { token: of } = perkway().analytics;
    expect(await Promise.all([of(), of(), of()])).toEqual(['token-300', 'token-300', 'token-300']);
    expect(await of()).toBe('token-300');
    expect(asked).toHaveLength(1);
    const late = perkway().analytics.token;
    expect(await late()).toBe('token-29');
    replies = [token(300)];
    expect(await late()).toBe('token-300');
    replies = [problem(401, 'API_KEY_INVALID'), token(300)];
    const refused = perkway().analytics.token;
    expect((await failure(refused())).code).toBe('API_KEY_INVALID');
    expect(await refused()).toBe('token-300');
  });

  it('asks the query host with the token, raw', async () => {
    replies = [token(300), json(200, { data: [] }), json(400, { error: 'Unknown member' })];
    const { analytics } = perkway();
    expect(await analytics.load({ query: { measures: ['perk_views.count'] } as never })).toEqual({
      data: [],
    });
    expect(asked[1]!.headers.authorization).toBe('token-300');
    expect(asked[1]!.headers['x-api-key']).toBeUndefined();
    expect(new URL(asked[1]!.url, url).searchParams.get('query')).toBe('{"measures":["perk_views.count"]}');
    expect(await failure(analytics.load({ query: '{}' as never }))).toMatchObject({
      code: 'QUERY_FAILED',
      message: 'Unknown member',
      status: 400,
    });
  });

  it('answers a redirect by where it leads, and nothing by nothing', async () => {
    replies = [
      (response) => response.writeHead(302, { location: 'https://fernway.example/' }).end(),
      (response) => response.writeHead(204).end(),
    ];
    expect(await perkway().boost.registerOutreachClick({ token: 't' })).toEqual({
      location: 'https://fernway.example/',
    });
    expect(await perkway().perks.deletePerk({ perkId: 'p' })).toBeUndefined();
  });
});
