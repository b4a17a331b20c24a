import { setTimeout as sleep } from 'node:timers/promises';
import type { PerkClickEvent } from '@perkway/domain';
import { loadEnv, runMigrations } from '@perkway/platform';
import { createLinkSigner, parseKeyring, type LinkTarget } from '@perkway/signing';
import {
  closeAll,
  createTrackingStream,
  fakeCatalogue,
  http,
  launchApp,
  purgeTrackingStream,
  sendAsIs,
  testDatabaseServer,
  testEnvironment,
  testNats,
  testSecrets,
  trackedEvents,
  untilRelayed,
  untilTracking,
  waitFor,
  type LaunchedApp,
  type TestDatabase,
  type TestNats,
} from '@perkway/testing';
import type { Response } from 'supertest';
import { envSpec } from '../src/env.js';
import { defineApp } from '../src/app.js';
import { migrations } from '../src/migrations/index.js';

const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36';
const OFFER = 'https://shop.example/Offer?x=%20&y=a+b#top';

describe('links', () => {
  let nats: TestNats;
  let database: TestDatabase & { server: TestNats['server'] };
  let links: LaunchedApp;
  let catalogue: { close(): Promise<void> };
  const offers = new Map<string, string>();

  const env = () => loadEnv(envSpec, testEnvironment('links', { database, nats }));
  const send = (path: string, { method = 'get' as 'get' | 'head' | 'post', headers = {}, to = links } = {}) =>
    http(to, { 'user-agent': CHROME, ...headers })[method](path);
  const target: LinkTarget = { account: 'acme', collection: 'summer', perk: 'coffee' };
  const path = (of: Partial<LinkTarget> = {}): string => {
    const signer = createLinkSigner(parseKeyring(testSecrets().linkSigningKeys));
    return `/c/${signer.begin().token(signer.prepare({ ...target, ...of }))}`;
  };
  const inStream = async () => (await trackedEvents(nats.url)) as PerkClickEvent[];
  /** Waits for the outbox, because a click that the broker acknowledges late arrives through it. */
  const clicks = async () => {
    await untilRelayed(database);
    return inStream();
  };
  const onlyClick = async () => {
    const [click, ...more] = await clicks();
    expect(more).toEqual([]);
    return click!;
  };

  beforeAll(async () => {
    [nats, database] = await Promise.all([
      testNats(),
      testDatabaseServer('links', (url) => runMigrations(url, 'links', migrations)),
    ]);
    await createTrackingStream(nats.url);
    catalogue = await fakeCatalogue(nats.url, offers);
    links = await launchApp(defineApp(env()));
    offers.set('coffee', OFFER);
    await untilTracking(links);
  });
  afterAll(() => closeAll(links, catalogue, nats, database));
  beforeEach(async () => {
    offers.set('coffee', OFFER);
    await purgeTrackingStream(nats.url, database);
  });

  it('a click redirects to the offer and is durable before the response', async () => {
    const before = Date.now();
    const { status, headers, text: body } = await send(path());
    expect({ status, body, location: headers.location, cache: headers['cache-control'] }).toEqual({
      status: 302,
      body: '',
      location: OFFER,
      cache: 'no-store',
    });
    const click = await onlyClick();
    expect(click).toEqual({
      v: 1,
      type: 'perk_click',
      id: expect.stringMatching(/^[\w-]{22}$/),
      account: 'acme',
      at: expect.any(Number),
      collection: 'summer',
      perk: 'coffee',
      traffic: { class: 'human', reason: 'none' },
    });
    expect(click.at).toBeGreaterThanOrEqual(before);
    expect(click.at).toBeLessThanOrEqual(Date.now());
  });

  it('every use of a link is a separate click', async () => {
    const link = path();
    for (let i = 0; i < 5; i += 1) expect((await send(link)).status).toBe(302);
    expect(await clicks()).toHaveLength(5);
  });

  it('records attributes, journey and traffic, with cmeta and utm kept apart', async () => {
    const query = new URLSearchParams([
      ['cmeta_user_id', 'first'],
      ['cmeta_user_id', 'größe 😀'],
      ['cmeta_utm_source', 'mine'],
      ['utm_source', 'newsletter'],
      ['cmeta___proto__', 'just a name'],
      ['cmeta_long', '😀'.repeat(254)],
      ['cmeta_too_long', 'x'.repeat(255)],
      ['cmeta_bad name', 'x'],
      ['cmeta_', 'x'],
      ['cmeta_nul', 'a\0b'],
      ['utm_other', 'x'],
      ['journeyId', 'r-4711'],
      ['api_key', 'never-looked-at'],
    ]);
    const { status } = await send(`${path()}?${query}`, { headers: { 'sec-purpose': 'prefetch' } });
    expect(status).toBe(302);
    const { journey, utm, cmeta, traffic } = await onlyClick();
    expect({ journey, utm, traffic }).toEqual({
      journey: 'r-4711',
      utm: { utm_source: 'newsletter' },
      traffic: { class: 'prefetch', reason: 'header:sec-purpose' },
    });
    expect(Object.entries(cmeta!).sort()).toEqual(
      [
        ['user_id', 'größe 😀'],
        ['utm_source', 'mine'],
        ['__proto__', 'just a name'],
        ['long', '😀'.repeat(254)],
      ].sort(),
    );
  });

  it('accepts a journey id of 255 characters and ignores a longer one', async () => {
    await send(`${path()}?journeyId=${'j'.repeat(255)}`);
    expect((await onlyClick()).journey).toBe('j'.repeat(255));
    await purgeTrackingStream(nats.url, database);
    expect((await send(`${path()}?journeyId=${'j'.repeat(256)}`)).status).toBe(302);
    expect(await onlyClick()).not.toHaveProperty('journey');
  });

  it.each(['true', '1'])('disableTracking=%s redirects and records nothing', async (value) => {
    expect((await send(`${path()}?disableTracking=${value}`)).headers.location).toBe(OFFER);
    expect(await clicks()).toEqual([]);
  });

  it.each(['false', 'yes', 'TRUE', ''])('disableTracking=%j does not disable tracking', async (value) => {
    await send(`${path()}?disableTracking=${value}`);
    await onlyClick();
  });

  it('HEAD returns the same headers and records nothing', async () => {
    const link = path();
    const get = await send(link);
    await purgeTrackingStream(nats.url, database);
    const head = await send(link, { method: 'head' });
    const stable = ({ status, headers: { date: _, 'x-request-id': __, ...headers }, text }: Response) => ({
      status,
      headers,
      text: text ?? '',
    });
    expect(stable(head)).toEqual(stable(get));
    expect(await clicks()).toEqual([]);
  });

  it('a click_url with any changed byte does not redirect', async () => {
    const link = path();
    const paths = new Set<string>();
    for (let at = '/c/'.length; at < link.length; at += 1) {
      for (const other of ['A', 'B', '-', '_', '.', '/', '%', '%00', '=', '~', '?', ';'])
        paths.add(link.slice(0, at) + other + link.slice(at + 1));
      paths.add(link.slice(0, at) + link.slice(at + 1));
      paths.add(link.slice(0, at) + 'A' + link.slice(at));
    }
    paths.delete(link);
    for (const suffix of ['A', '=', '/', '%', '.', '%00', '/x']) paths.add(link + suffix);
    for (const odd of [
      '/c/',
      '/c',
      '/c/%',
      '/c/%zz',
      `/c/${'A'.repeat(200)}`,
      '/c/%2e%2e',
      '/c/..%2f',
      '/c/ü',
    ]) {
      paths.add(encodeURI(decodeURIComponent(encodeURIComponent(odd))));
    }
    const all = [...paths];
    const statuses = new Map<number, number>();
    const pages = new Set<string>();
    await Promise.all(
      Array.from({ length: 16 }, async () => {
        for (let next = all.pop(); next !== undefined; next = all.pop()) {
          const { status, headers, text } = await sendAsIs(links, {
            path: next,
            headers: { 'user-agent': CHROME },
          });
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
          expect(headers.location).toBeUndefined();
          pages.add(`${headers['content-type']} ${text.slice(0, 15)}`);
        }
      }),
    );
    expect([...statuses.keys()]).toEqual([404]);
    expect([...pages]).toEqual(['text/html; charset=utf-8 <!doctype html>']);
    expect(await clicks()).toEqual([]);
    expect((await send(link)).status).toBe(302);
  });

  it('a link for another purpose or from another keyring is unknown', async () => {
    const keyring = parseKeyring(testSecrets().linkSigningKeys);
    const preview = createLinkSigner(keyring, 'preview');
    expect((await send(`/c/${preview.begin().token(preview.prepare(target))}`)).status).toBe(404);
    const foreign = createLinkSigner(parseKeyring(`k1:${Buffer.alloc(32, 7).toString('base64url')}`));
    expect((await send(`/c/${foreign.begin().token(foreign.prepare(target))}`)).status).toBe(404);
  });

  it('a broken link shows a small page with a strict content security policy', async () => {
    const { headers, text: body } = await send('/c/nonsense');
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'content-type': 'text/html; charset=utf-8',
      'x-robots-tag': 'noindex',
      'content-security-policy': expect.stringMatching(/^default-src 'none'; style-src 'sha256-/),
    });
    expect(body).toContain('<html lang="en">');
    expect(body).toContain('<title>This link does not work</title>');
    expect(body.length).toBeLessThan(2_000);
    expect(body).not.toContain('nonsense');
    const wrong = await send('/c/nonsense', { method: 'post' });
    expect([wrong.status, wrong.headers.allow, wrong.body.code]).toEqual([
      405,
      'GET, HEAD',
      'METHOD_NOT_ALLOWED',
    ]);
    const elsewhere = await send('/elsewhere');
    expect(elsewhere.status).toBe(404);
    expect(elsewhere.headers['content-type']).toContain('application/problem+json');
  });

  it.each([
    ['de-AT, en;q=0.5', 'de', 'Dieser Link funktioniert nicht'],
    ['it, FR-ca;q=0.8, en;q=0.5', 'fr', 'Ce lien ne fonctionne pas'],
    ['es', 'es', 'Este enlace no funciona'],
    ['it', 'en', 'This link does not work'],
    ['*', 'en', 'This link does not work'],
    ['constructor', 'en', 'This link does not work'],
  ])('the page of a broken link is in the language of its reader (%s)', async (accept, language, title) => {
    const { headers, text: body } = await send('/c/nonsense', { headers: { 'accept-language': accept } });
    expect(headers).toMatchObject({ 'content-language': language, vary: 'accept-language' });
    expect(body).toContain(`<html lang="${language}">`);
    expect(body).toContain(`<title>${title}</title>`);
  });

  it('a perk that is unknown or has no allowed target is a 404', async () => {
    expect((await send(path({ perk: 'nothing' }))).status).toBe(404);
    for (const url of [
      'javascript:alert(1)',
      'https://user:secret@shop.example/',
      '//shop.example',
      'ftp://a',
    ]) {
      const perk = `bad-${offers.size}`;
      offers.set(perk, url);
      const { status, headers } = await send(path({ perk }));
      expect([status, headers.location]).toEqual([404, undefined]);
    }
    expect(await clicks()).toEqual([]);
  });

  it('an edited offer takes effect within seconds; a deleted perk becomes a 404', async () => {
    offers.set('changing', 'https://shop.example/old');
    const link = path({ perk: 'changing' });
    expect((await send(link)).headers.location).toBe('https://shop.example/old');
    offers.set('changing', 'https://shop.example/new');
    await waitFor(
      async () => expect((await send(link)).headers.location).toBe('https://shop.example/new'),
      'the new offer',
    );
    offers.delete('changing');
    await waitFor(async () => expect((await send(link)).status).toBe(404), '404');
  });

  it('while the owner is unavailable, known perks redirect at once and others get a page with 503', async () => {
    offers.set('unseen', OFFER);
    expect((await send(path())).status).toBe(302);
    await catalogue.close();
    try {
      const durations: number[] = [];
      for (let i = 0; i < 10; i += 1) {
        const from = performance.now();
        expect((await send(path())).headers.location).toBe(OFFER);
        durations.push(performance.now() - from);
        await sleep(500);
      }
      // Most would be slower if they waited for a request to the owner; a busy machine delays some.
      expect(durations.sort((one, other) => one - other)[4]).toBeLessThan(950);
      const { status, headers, text: body } = await send(path({ perk: 'unseen' }));
      expect(status).toBe(503);
      expect(headers).toMatchObject({ 'retry-after': '2', 'content-type': 'text/html; charset=utf-8' });
      expect(body).toContain('Please try again');
    } finally {
      catalogue = await fakeCatalogue(nats.url, offers);
    }
    expect((await send(path({ perk: 'unseen' }))).status).toBe(302);
  });

  it('while Postgres is down, clicks work and count, and the app stays ready and even starts', async () => {
    // Events of earlier tests that were in the outbox are published again when the database becomes unavailable.
    const perk = 'clicked-without-postgres';
    offers.set(perk, OFFER);
    await database.server.kill();
    try {
      const untilRedirected = (link: string, to = links) =>
        waitFor(
          async () => expect((await send(link, { to })).status).toBe(302),
          'the offer of the catalogue',
        );
      await untilRedirected(path({ perk }));
      await waitFor(
        async () => expect((await inStream()).filter((click) => click.perk === perk)).toHaveLength(1),
        'the click',
      );
      expect((await send('/readyz')).status).toBe(200);
      const second = await launchApp(defineApp(env()));
      await untilRedirected(path(), second);
      await second.close();
    } finally {
      await database.server.start();
    }
  });

  it('1,000 clicks on 20 perks with a broker restart in between are counted exactly', async () => {
    const perks = Array.from({ length: 20 }, (_, i) => `perk-${i}`);
    for (const perk of perks) {
      offers.set(perk, `https://shop.example/${perk}`);
      expect((await send(path({ perk }), { method: 'head' })).status).toBe(302);
    }
    let next = 0;
    const worker = async () => {
      for (let i = next++; i < 1_000; i = next++) {
        const perk = perks[i % 20]!;
        const { status, headers } = await send(path({ perk }));
        expect([status, headers.location]).toEqual([302, `https://shop.example/${perk}`]);
        await sleep(5);
      }
    };
    const workers = Array.from({ length: 8 }, worker);
    await waitFor(() => next >= 300, '300 clicks');
    await nats.kill();
    await waitFor(() => next >= 600, '600 clicks', 100_000);
    await nats.server.start();
    await Promise.all(workers);

    const counted = await clicks();
    expect(counted).toHaveLength(1_000);
    for (const perk of perks) expect(counted.filter((click) => click.perk === perk)).toHaveLength(50);
  });

  it('shutdown completes and counts the requests that have arrived', async () => {
    const second = await launchApp(defineApp(env()));
    await untilTracking(second);
    expect((await send(path(), { to: second })).status).toBe(302);
    const running = Array.from({ length: 50 }, () =>
      // supertest only sends a request when it is awaited.
      send(path(), { to: second }).then((response) => response),
    );
    await sleep(5);
    await second.close();
    const settled = await Promise.allSettled(running);
    const redirected = settled.filter((one) => one.status === 'fulfilled' && one.value.status === 302);
    expect(await clicks()).toHaveLength(redirected.length + 1);
  });

  it('no log line contains a link token', async () => {
    const link = path();
    await send(link);
    await send(`${link}x`);
    await send(path({ perk: 'nothing' }));
    const token = link.slice('/c/'.length);
    expect(links.logs.length).toBeGreaterThan(0);
    for (const line of links.logs) expect(line).not.toContain(token.slice(0, 40));
  });
});
