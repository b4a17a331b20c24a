import { http, sendAsIs, type LaunchedApp } from '@perkway/testing';
import { launchPage } from './launch-page.js';
import { SCRIPT } from './page-files.js';

const TOKEN = 'Zk3vQ0b1mY9sN2xR7tLw5pC8dF4gH6jA_uE-iOaKzXc';

describe('the page', () => {
  let page: LaunchedApp;

  beforeAll(async () => {
    // Runs without a broker, which the page itself does not need.
    page = await launchPage({});
  });
  afterAll(async () => {
    await page?.close();
  });

  const get = (path: string) => http(page).get(path);

  it('is HTML that loads nothing from other hosts and has no inline script or style', async () => {
    const { status, headers, text } = await get('/');

    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['content-language']).toBe('en');
    expect(headers.vary).toBe('accept-language, accept-encoding');
    expect(text).toContain('<html lang="en" dir="ltr">');
    expect(text).toContain(`<script src="/assets/${SCRIPT.name}" defer></script>`);
    expect(text).not.toMatch(/<style|style=|\son\w+=|<script(?! src="\/assets\/)/);
    expect(text.match(/(?:src|href)="(?!\/assets\/|data:image\/svg\+xml,)/g)).toBeNull();
  });

  it('shows a clock only for a link that ended by itself', async () => {
    const { text } = await get('/');
    const pictures = [
      ...text.matchAll(/<span data-when="([a-z ]+)" hidden><svg class="icon"[^>]*>(.+?)<\/svg>/g),
    ];
    const pictureOf = (state: string) =>
      pictures.find(([, states]) => states!.split(' ').includes(state))?.[2];
    const [expired, cancelled, withdrawn, replaced] = ['expired', 'cancelled', 'withdrawn', 'replaced'].map(
      pictureOf,
    );
    expect(new Set([expired, cancelled, replaced, undefined]).size).toBe(4);
    expect(withdrawn).toBe(cancelled);
  });

  it.each([
    ['fr', '/', 'fr-CA,fr;q=0.9,en;q=0.5', 'Votre carte cadeau'],
    ['de', '/?lang=de', 'fr', 'Ihre Geschenkkarte'],
    ['es', '/?lang=ES-mx', undefined, 'Su tarjeta regalo'],
    ['de', '/', 'fr;q=0.2, de;q=0.8', 'Ihre Geschenkkarte'],
    ['fr', '/', 'en;q=0, fr;q=0.1', 'Votre carte cadeau'],
    ['en', '/?lang=xx', 'ja, *;q=0.1', 'Your gift card'],
    ['fr', '/?lang=de&lang=fr', undefined, 'Votre carte cadeau'],
    ['en', '/?lang[]=de', 'zh', 'Your gift card'],
  ])('is in %s for %s with Accept-Language %s', async (language, path, accepted, title) => {
    const request = get(path);
    const { headers, text } = await (accepted ? request.set('accept-language', accepted) : request);

    expect(headers['content-language']).toBe(language);
    expect(text).toContain(`<html lang="${language}"`);
    expect(text).toContain(`<title>${title}</title>`);
  });

  it.each([
    ['/', 'ar-EG, ar;q=0.9', true],
    ['/', 'ar, fr;q=0.1', false],
    ['/?lang=de', 'ar', false],
    ['/?lang=ar', undefined, false],
    ['/', undefined, false],
  ])(
    'at %s with Accept-Language %j starts with the available languages: %s',
    async (path, accepted, isSaid) => {
      const { text } = await (accepted ? get(path).set('accept-language', accepted) : get(path));
      for (const line of ['available in English', 'en français', 'auf Deutsch', 'en español'])
        expect([line, text.includes(line)]).toEqual([line, isSaid]);
    },
  );

  it.each([`/%23${TOKEN}`, `/%2523${TOKEN}`, `/%23${TOKEN}?utm_source=mail`])(
    'is served at the mangled path %s',
    async (path) => {
      const { status, text } = await get(path);
      expect(status).toBe(200);
      expect(text).toContain('<main data-state="loading">');
    },
  );

  it('is served to a client that sends the fragment', async () => {
    expect((await sendAsIs(page, { path: `/#${TOKEN}` })).status).toBe(200);
  });

  it('is served at any other path, too, with an error status', async () => {
    for (const [path, expected] of [
      ['/nothing', 404],
      ['/a/b/c', 404],
      ['/%23%zz', 400],
    ] as const) {
      const { status, headers, text } = await get(path);
      expect([path, status]).toEqual([path, expected]);
      expect(headers['content-type']).toMatch(/^text\/html/);
      expect(headers['cache-control']).toBe('no-store');
      expect(text).toContain('<form');
    }
    const { status, body } = await get('/api/nothing');
    expect([status, body.code]).toEqual([404, 'NOT_FOUND']);
  });

  it('returns 405 for a wrong method on a known path, 404 on an unknown one', async () => {
    for (const [path, status, allow] of [
      ['/', 405, 'GET, HEAD'],
      ['/nothing', 404, undefined],
      ['/robots.txt', 405, 'GET, HEAD'],
      ['/api/reward-link', 405, 'GET, HEAD'],
    ] as const) {
      const response = await http(page).post(path);
      expect([path, response.status, response.headers.allow]).toEqual([path, status, allow]);
    }
  });

  it.each(['/', '/nothing', '/%zz', `/assets/${SCRIPT.name}`, '/api/reward-link', '/livez', '/docs-json'])(
    'has the security headers on %s',
    async (path) => {
      const { headers } = await get(path);
      const policy = String(headers['content-security-policy']);

      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain('unsafe');
      expect(policy).not.toContain('http');
      expect(headers).toMatchObject({
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        'strict-transport-security': 'max-age=31536000',
      });
      expect(headers['permissions-policy']).toContain('camera=()');
    },
  );

  it('enforces https only if its public URL uses it', async () => {
    const plain = await launchPage({}, { REWARDS_URL: 'http://localhost:4005' });
    try {
      const { headers } = await http(plain).get('/');
      expect(headers).not.toHaveProperty('strict-transport-security');
      expect(headers['content-security-policy']).not.toContain('upgrade-insecure-requests');
    } finally {
      await plain.close();
    }
  });

  it('serves hashed files compressed, cacheable forever', async () => {
    const { status, headers, text } = await get(`/assets/${SCRIPT.name}`).set('accept-encoding', 'gzip, br');

    expect(status).toBe(200);
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(headers['content-type']).toBe('text/javascript; charset=utf-8');
    expect(headers['content-encoding']).toBe('br');
    expect(headers.vary).toBe('accept-encoding');
    expect(text).toBe(SCRIPT.text);

    const gzip = await get(`/assets/${SCRIPT.name}`).set('accept-encoding', 'gzip, br;q=0');
    expect(gzip.headers['content-encoding']).toBe('gzip');
    expect(gzip.text).toBe(SCRIPT.text);
    const plain = await get(`/assets/${SCRIPT.name}`).set('accept-encoding', 'identity');
    expect(plain.headers).not.toHaveProperty('content-encoding');
    expect(plain.text).toBe(SCRIPT.text);
  });

  it('serves its own script, not cacheable, to a page of another release', async () => {
    const { status, headers, text } = await get('/assets/page-00000000.js').set(
      'accept-encoding',
      'identity',
    );
    expect([status, text]).toEqual([200, SCRIPT.text]);
    expect(headers['cache-control']).toBe('no-store');
  });

  it('serves no files but those of the page', async () => {
    for (const path of ['/assets/', '/assets/manifest.json', '/assets/..%2fmanifest.json', '/assets/x.js'])
      expect([path, (await get(path)).status]).toEqual([path, 404]);
  });

  it('responds to HEAD with the headers of GET and no body', async () => {
    const head = await http(page).head('/').set('accept-encoding', 'identity');
    const full = await get('/').set('accept-encoding', 'identity');
    expect(head.status).toBe(200);
    expect(head.text).toBeUndefined();
    expect(head.headers['content-length']).toBe(full.headers['content-length']);
  });

  it('tells search engines not to index it', async () => {
    expect((await get('/robots.txt')).text).toBe('User-agent: *\nDisallow: /\n');
    expect((await get('/')).headers['x-robots-tag']).toContain('noindex');
  });

  it('fails to start with invalid environment variables', async () => {
    await expect(async () => launchPage({}, { DEFAULT_LANGUAGE: 'xx' })).rejects.toThrow('DEFAULT_LANGUAGE');
    await expect(async () => launchPage({}, { REWARDS_URL: 'rewards' })).rejects.toThrow('REWARDS_URL');
  });
});
