import { testNats, type LaunchedApp, type TestNats } from '@perkway/testing';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import supertest from 'supertest';
import { aToken, CARD, GiftCardsResponder } from './gift-cards-responder.js';
import { launchPage } from './launch-page.js';

const LINK = '/api/reward-link';
const REVEAL = '/api/reward-link/reveal';

describe('recipient operations', () => {
  let nats: TestNats;
  let gifts: GiftCardsResponder;
  let page: LaunchedApp;

  beforeAll(async () => {
    nats = await testNats();
    gifts = await GiftCardsResponder.start(nats.url);
    page = await launchPage({ nats, trustedProxies: '127.0.0.1' });
  });
  afterAll(async () => {
    await page?.close();
    await gifts?.stop();
    await nats?.close();
  });

  const ask = (method: 'get' | 'post' | 'head', path: string, token?: string) => {
    const request = supertest(page.url)[method](path);
    return token === undefined ? request : request.set('authorization', `Bearer ${token}`);
  };
  const logText = () => page.logs.join('');

  it('answers a reserved link without its card', async () => {
    const expires_at = Math.floor(Date.now() / 1000) + 600;
    const token = gifts.addLink({ denomination: 12.5, currency: 'USD', country: 'US', expires_at });

    const { status, headers, body } = await ask('get', LINK, token);

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

  it('reveals by POST, once, and shows the same card from then on', async () => {
    const token = gifts.addLink();

    const first = await ask('post', REVEAL, token);
    const again = await Promise.all(Array.from({ length: 5 }, () => ask('post', REVEAL, token)));
    const read = await ask('get', LINK, token);

    expect(first.status).toBe(200);
    expect(first.headers['cache-control']).toBe('no-store');
    for (const { status, body } of [first, ...again, read]) {
      expect(status).toBe(200);
      expect(body).toMatchObject({ state: 'REVEALED', card: CARD });
    }
    expect(gifts.link(token).revealed).toBe(1);
  });

  it('never reveals by GET or HEAD, on either address', async () => {
    const token = gifts.addLink();

    const answers = [
      await ask('head', LINK, token),
      await ask('get', LINK, token),
      await ask('get', REVEAL, token),
      await ask('head', REVEAL, token),
    ];

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 404, 404]);
    expect(answers[0]!.headers['cache-control']).toBe('no-store');
    expect(gifts.link(token)).toMatchObject({ asked: 0, view: { state: 'RESERVED' } });
  });

  it('leaves out a PIN that the card does not have, and hands the brand on', async () => {
    const brand = { name: 'Harbour Books', color: '#0b4f6c', logo: null };
    const token = gifts.addLink({ card: { code: 'ONLY-A-CODE' } }, brand);

    const { body } = await ask('post', REVEAL, token);

    expect(body.card).toEqual({ code: 'ONLY-A-CODE' });
    expect(body.brand).toEqual(brand);
  });

  it('answers an expired link, and refuses to reveal it', async () => {
    const token = gifts.addLink({ expires_at: 1_700_000_000 });

    const read = await ask('get', LINK, token);
    const reveal = await ask('post', REVEAL, token);

    expect(read.body).toMatchObject({ state: 'EXPIRED', expires_at: 1_700_000_000 });
    expect(read.body).not.toHaveProperty('card');
    expect(reveal.status).toBe(410);
    expect(reveal.headers['content-type']).toMatch(/^application\/problem\+json/);
    expect(reveal.body).toMatchObject({ status: 410, code: 'LINK_EXPIRED' });
    expect(reveal.body.requestId).toBe(reveal.headers['x-request-id']);
  });

  it.each(['get', 'post'] as const)('refuses %s without a usable token', async (method) => {
    const path = method === 'get' ? LINK : REVEAL;
    const token = gifts.addLink();
    const credentials = [undefined, '', 'Bearer', 'Bearer ', `Basic ${token}`, token, `Bearer ${token} x`];

    for (const authorization of credentials) {
      const request = supertest(page.url)[method](`${path}?token=${token}`);
      const { status, headers, body } = await (authorization === undefined
        ? request
        : request.set('authorization', authorization));
      expect([authorization, status, body.code]).toEqual([authorization, 401, 'LINK_TOKEN_MISSING']);
      expect(headers['www-authenticate']).toBe('Bearer');
      expect(headers['cache-control']).toBe('no-store');
    }
    expect(gifts.link(token).asked).toBe(0);
  });

  it('judges the token before the body, and needs no body', async () => {
    const token = gifts.addLink();
    const send = (authorization?: string) => {
      const request = supertest(page.url).post(REVEAL).type('application/json');
      if (authorization) void request.set('authorization', authorization);
      return request.send('{not json');
    };

    expect((await send()).status).toBe(401);
    expect((await send(`Bearer ${token}`)).body.code).toBe('VALIDATION_FAILED');
    expect(gifts.link(token).asked).toBe(0);
  });

  it('answers 404 problem details for an unknown token', async () => {
    for (const [method, path] of [
      ['get', LINK],
      ['post', REVEAL],
    ] as const) {
      const { status, headers, body } = await ask(method, path, aToken()).set('x-forwarded-for', '192.0.2.1');
      expect([status, body.code]).toEqual([404, 'LINK_NOT_FOUND']);
      expect(headers['content-type']).toMatch(/^application\/problem\+json/);
    }
  });

  it('allows one address 60 unknown tokens a minute, and known ones without limit', async () => {
    const from = '198.51.100.7';
    const statuses: number[] = [];
    for (let tried = 0; tried < 60; tried += 1)
      statuses.push((await ask('get', LINK, aToken()).set('x-forwarded-for', from)).status);
    expect(new Set(statuses)).toEqual(new Set([404]));

    const over = await ask('post', REVEAL, aToken()).set('x-forwarded-for', from);
    expect([over.status, over.body.code]).toEqual([429, 'TOO_MANY_REQUESTS']);
    expect(over.headers).toMatchObject({ 'ratelimit-limit': '60', 'ratelimit-remaining': '0' });
    expect(Number(over.headers['ratelimit-reset'])).toBeGreaterThan(0);
    expect(over.headers['retry-after']).toBe(over.headers['ratelimit-reset']);

    const known = await ask('get', LINK, gifts.addLink()).set('x-forwarded-for', from);
    expect(known.status).toBe(200);
    const other = await ask('get', LINK, aToken()).set('x-forwarded-for', '198.51.100.8');
    expect(other.status).toBe(404);
    expect(other.headers['ratelimit-remaining']).toBe('59');
  });

  it('counts an unknown link whose sender has hung up', async () => {
    gifts.delayMs = 100;
    try {
      const arrival = once(page.app.getHttpServer(), 'request') as Promise<[IncomingMessage]>;
      const { hostname, port } = new URL(page.url);
      const socket = connect(Number(port), hostname);
      const head = ['host: page', `authorization: Bearer ${aToken()}`, 'x-forwarded-for: 198.51.100.9:4711'];
      socket.write(`GET ${LINK} HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n`);
      const [arrived] = await arrival;
      socket.destroy();
      if (!arrived.closed) await new Promise((resolve) => arrived.once('close', resolve));
      const next = await ask('get', LINK, aToken()).set('x-forwarded-for', '198.51.100.9');
      expect([next.status, next.headers['ratelimit-remaining']]).toEqual([404, '58']);
    } finally {
      gifts.delayMs = 0;
    }
  });

  it('writes no token and no card into a log line', async () => {
    const token = gifts.addLink();
    await ask('post', REVEAL, token);
    await supertest(page.url).get(`/%23${token}`);
    await supertest(page.url).get(`/%23${token}%`);
    await supertest(page.url).get(`/?token=${token}`);

    expect(logText()).toContain('"/api/reward-link/reveal"');
    expect(logText()).not.toContain(token);
    expect(logText()).not.toContain(CARD.code);
  });

  it('shows its document, and no page of it', async () => {
    for (const address of ['/docs-json', '/docs-yaml'])
      expect((await supertest(page.url).get(address)).status).toBe(200);
    // It would need inline styles, which the policy of this host refuses.
    expect((await supertest(page.url).get('/docs')).status).toBe(404);
  });

  it('answers 503 with Retry-After while the owner is away, and goes on when it is back', async () => {
    const token = gifts.addLink();
    await gifts.stop();
    try {
      const { status, headers, body } = await ask('post', REVEAL, token);
      expect([status, body.code]).toEqual([503, 'DEPENDENCY_UNAVAILABLE']);
      expect(Number(headers['retry-after'])).toBeGreaterThan(0);
      expect(headers['cache-control']).toBe('no-store');
    } finally {
      await gifts.start();
    }
    expect((await ask('get', LINK, token)).body.state).toBe('RESERVED');
  });

  it('answers 503 in time while the broker hangs, and the page all the same', async () => {
    nats.pause();
    // The signal takes effect a moment later.
    await sleep(100);
    try {
      const started = Date.now();
      const [api, html, ready] = await Promise.all([
        ask('get', LINK, gifts.addLink()),
        supertest(page.url).get('/'),
        supertest(page.url).get('/readyz'),
      ]);
      expect(api.status).toBe(503);
      expect(Date.now() - started).toBeLessThan(5_000);
      expect([html.status, ready.status]).toEqual([200, 200]);
    } finally {
      nats.resume();
    }
  });
});
