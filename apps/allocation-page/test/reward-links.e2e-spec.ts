import {
  aLinkToken,
  CARD,
  closeAll,
  FakeGiftCards,
  http,
  skipToNextMinute,
  testNats,
  waitFor,
  type LaunchedApp,
  type TestNats,
} from '@perkway/testing';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { launchPage } from './launch-page.js';

const LINK = '/api/reward-link';
const REVEAL = '/api/reward-link/reveal';

describe('recipient operations', () => {
  let nats: TestNats;
  let gifts: FakeGiftCards;
  let page: LaunchedApp;

  beforeAll(async () => {
    nats = await testNats();
    gifts = await FakeGiftCards.start(nats.url);
    page = await launchPage({ nats, trustedProxies: '127.0.0.1' });
  });
  afterEach(() => jest.restoreAllMocks());
  afterAll(() => closeAll(page, gifts, nats));

  const sendRequest = (method: 'get' | 'post' | 'head', path: string, token?: string) =>
    http(page, token === undefined ? {} : { authorization: `Bearer ${token}` })[method](path);
  const logText = () => page.logs.join('');

  it('return a reserved link without its card', async () => {
    const expires_at = Math.floor(Date.now() / 1000) + 600;
    const token = gifts.addLink({ denomination: 12.5, currency: 'USD', country: 'US', expires_at });

    const { status, headers, body } = await sendRequest('get', LINK, token);

    expect(status).toBe(200);
    expect(body).toEqual({
      state: 'RESERVED',
      denomination: 12.5,
      currency: 'USD',
      country: 'US',
      expires_at,
    });
    expect(headers['content-type']).toMatch(/^application\/json/);
    expect(headers['cache-control']).toBe('no-store');
  });

  it('reveal by POST, once, and return the same card from then on', async () => {
    const token = gifts.addLink();

    const first = await sendRequest('post', REVEAL, token);
    const again = await Promise.all(Array.from({ length: 5 }, () => sendRequest('post', REVEAL, token)));
    const read = await sendRequest('get', LINK, token);

    expect(first.status).toBe(200);
    expect(first.headers['cache-control']).toBe('no-store');
    for (const { status, body } of [first, ...again, read]) {
      expect(status).toBe(200);
      expect(body).toMatchObject({ state: 'REVEALED', card: CARD });
    }
    expect(gifts.link(token).revealCount).toBe(1);
    // Says when the link was revealed, but not in response to the request that revealed it.
    expect(first.headers).not.toHaveProperty('perkway-revealed-at');
    for (const { headers } of [...again, read])
      expect(headers['perkway-revealed-at']).toBe(String(gifts.link(token).revealedAt));
  });

  it('never reveal by GET or HEAD, on either path', async () => {
    const token = gifts.addLink();

    const responses = [
      await sendRequest('head', LINK, token),
      await sendRequest('get', LINK, token),
      await sendRequest('get', REVEAL, token),
      await sendRequest('head', REVEAL, token),
    ];

    expect(responses.map(({ status }) => status)).toEqual([200, 200, 404, 404]);
    expect(responses[0]!.headers['cache-control']).toBe('no-store');
    expect(gifts.link(token)).toMatchObject({ revealRequests: 0, view: { state: 'RESERVED' } });
  });

  it('omit the PIN of a card without one, and include the brand', async () => {
    const brand = { name: 'Harbour Books', color: '#0b4f6c', logo: null };
    const token = gifts.addLink({ card: { code: 'ONLY-A-CODE' } }, brand);

    const { body } = await sendRequest('post', REVEAL, token);

    expect(body.card).toEqual({ code: 'ONLY-A-CODE' });
    expect(body.brand).toEqual(brand);
  });

  it('include the product as gift-cards returns it, and the language of its texts', async () => {
    const sealed = { name: 'Harbour Books gift card', logo: null, color: '#0b4f6c' };
    const product = {
      ...sealed,
      instructions: 'Enter the code.',
      redeem_url: null,
      code_format: 'qr' as const,
    };
    const token = gifts.addLink({}, null, product);
    const before = await sendRequest('get', `${LINK}?lang=it&lang=fr`, token).set('accept-language', 'de');
    expect(before.body.product).toEqual(sealed);
    expect(before.headers).toMatchObject({ vary: 'Accept-Language', 'content-language': 'en' });
    expect(gifts.link(token).preference).toEqual({ lang: 'fr', acceptLanguage: 'de' });
    expect((await sendRequest('post', `${LINK}/reveal`, token)).body.product).toEqual(product);
    const plain = await sendRequest('get', LINK, gifts.addLink());
    expect(plain.body).not.toHaveProperty('product');
    expect(plain.headers).not.toHaveProperty('content-language');
  });

  it('return an expired link, but do not reveal it', async () => {
    const token = gifts.addLink({ expires_at: 1_700_000_000 });

    const read = await sendRequest('get', LINK, token);
    const reveal = await sendRequest('post', REVEAL, token);

    expect(read.body).toMatchObject({ state: 'EXPIRED', expires_at: 1_700_000_000 });
    expect(read.body).not.toHaveProperty('card');
    expect(reveal.status).toBe(410);
    expect(reveal.headers['content-type']).toMatch(/^application\/problem\+json/);
    expect(reveal.body).toMatchObject({ status: 410, code: 'LINK_EXPIRED' });
    expect(reveal.body.requestId).toBe(reveal.headers['x-request-id']);
  });

  it.each(['get', 'post'] as const)('reject %s without a usable token', async (method) => {
    const path = method === 'get' ? LINK : REVEAL;
    const token = gifts.addLink();
    const credentials = [undefined, '', 'Bearer', 'Bearer ', `Basic ${token}`, token, `Bearer ${token} x`];

    for (const authorization of credentials) {
      const request = http(page)[method](`${path}?token=${token}`);
      const { status, headers, body } = await (authorization === undefined
        ? request
        : request.set('authorization', authorization));
      expect([authorization, status, body.code]).toEqual([authorization, 401, 'LINK_TOKEN_MISSING']);
      expect(headers['www-authenticate']).toBe('Bearer');
      expect(headers['cache-control']).toBe('no-store');
    }
    expect(gifts.link(token).revealRequests).toBe(0);
  });

  it('check the token before the body, and need no body', async () => {
    const token = gifts.addLink();
    const send = (authorization?: string) => {
      const request = http(page).post(REVEAL).type('application/json');
      if (authorization) void request.set('authorization', authorization);
      return request.send('{not json');
    };

    expect((await send()).status).toBe(401);
    expect((await send(`Bearer ${token}`)).body.code).toBe('VALIDATION_FAILED');
    expect(gifts.link(token).revealRequests).toBe(0);
  });

  it('return 404 problem details for an unknown token', async () => {
    for (const [method, path] of [
      ['get', LINK],
      ['post', REVEAL],
    ] as const) {
      const { status, headers, body } = await sendRequest(method, path, aLinkToken()).set(
        'x-forwarded-for',
        '192.0.2.1',
      );
      expect([status, body.code]).toEqual([404, 'LINK_NOT_FOUND']);
      expect(headers['content-type']).toMatch(/^application\/problem\+json/);
    }
  });

  it('allow one address 60 unknown tokens a minute, and known ones without limit', async () => {
    const from = '198.51.100.7';
    skipToNextMinute();
    const statuses: number[] = [];
    for (let tried = 0; tried < 60; tried += 1)
      statuses.push((await sendRequest('get', LINK, aLinkToken()).set('x-forwarded-for', from)).status);
    expect(new Set(statuses)).toEqual(new Set([404]));

    const over = await sendRequest('post', REVEAL, aLinkToken()).set('x-forwarded-for', from);
    expect([over.status, over.body.code]).toEqual([429, 'TOO_MANY_REQUESTS']);
    expect(over.headers).toMatchObject({ 'ratelimit-limit': '60', 'ratelimit-remaining': '0' });
    expect(Number(over.headers['ratelimit-reset'])).toBeGreaterThan(0);
    expect(over.headers['retry-after']).toBe(over.headers['ratelimit-reset']);

    const known = await sendRequest('get', LINK, gifts.addLink()).set('x-forwarded-for', from);
    expect(known.status).toBe(200);
    const other = await sendRequest('get', LINK, aLinkToken()).set('x-forwarded-for', '198.51.100.8');
    expect(other.status).toBe(404);
    expect(other.headers['ratelimit-remaining']).toBe('59');
  });

  it('count an unknown token even if the client has disconnected', async () => {
    gifts.delayMs = 100;
    try {
      const arrival = once(page.app.getHttpServer(), 'request') as Promise<[IncomingMessage]>;
      const { hostname, port } = new URL(page.url);
      // A raw socket, closed before the response.
      const socket = connect(Number(port), hostname);
      const head = [
        'host: page',
        `authorization: Bearer ${aLinkToken()}`,
        'x-forwarded-for: 198.51.100.9:4711',
      ];
      socket.write(`GET ${LINK} HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n`);
      const [arrived] = await arrival;
      socket.destroy();
      if (!arrived.closed) await new Promise((resolve) => arrived.once('close', resolve));
      const next = await sendRequest('get', LINK, aLinkToken()).set('x-forwarded-for', '198.51.100.9');
      expect([next.status, next.headers['ratelimit-remaining']]).toEqual([404, '58']);
    } finally {
      gifts.delayMs = 0;
    }
  });

  it('log no token and no card', async () => {
    const token = gifts.addLink();
    await sendRequest('post', REVEAL, token);
    await http(page).get(`/%23${token}`);
    await http(page).get(`/%23${token}%`);
    await http(page).get(`/?token=${token}`);

    expect(logText()).toContain('"/api/reward-link/reveal"');
    expect(logText()).not.toContain(token);
    expect(logText()).not.toContain(CARD.code);
  });

  it('serve the OpenAPI document, but no page for it', async () => {
    for (const address of ['/docs-json', '/docs-yaml'])
      expect((await http(page).get(address)).status).toBe(200);
    // The page would need inline styles, which this host's content security policy forbids.
    expect((await http(page).get('/docs')).status).toBe(404);
  });

  it('return 503 with Retry-After while gift-cards is unavailable, and recover', async () => {
    const token = gifts.addLink();
    await gifts.close();
    try {
      const { status, headers, body } = await sendRequest('post', REVEAL, token);
      expect([status, body.code]).toEqual([503, 'DEPENDENCY_UNAVAILABLE']);
      expect(Number(headers['retry-after'])).toBeGreaterThan(0);
      expect(headers['cache-control']).toBe('no-store');
    } finally {
      await gifts.start();
    }
    expect((await sendRequest('get', LINK, token)).body.state).toBe('RESERVED');
  });

  it('return 503 within 5 s while the broker hangs, and the page is still served', async () => {
    await nats.pause();
    try {
      // Again if a busy machine needed longer.
      await waitFor(async () => {
        const started = Date.now();
        const [api, html, ready] = await Promise.all([
          sendRequest('get', LINK, gifts.addLink()),
          http(page).get('/'),
          http(page).get('/readyz'),
        ]);
        expect([api.status, html.status, ready.status]).toEqual([503, 200, 200]);
        expect(Date.now() - started).toBeLessThan(5_000);
      }, 'responses within 5 s');
    } finally {
      nats.resume();
    }
  });
});
