import { CARD } from '@perkway/testing';
import { BrowserStage, untilState } from './browser-stage.js';

let stage: BrowserStage;
beforeAll(async () => {
  stage = await BrowserStage.start();
});
afterAll(() => stage?.stop());

it('a link stays reserved however often a program opens it, runs its scripts and submits its forms', async () => {
  const token = stage.gifts.addLink();
  const context = await stage.window();
  const page = await context.newPage();
  for (let opened = 0; opened < 50; opened += 1) {
    await page.goto(stage.linkTo(token));
    await untilState(page, 'reserved');
    expect(await page.evaluate('document.links.length')).toBe(0);
    const language = ['en', 'fr', 'de', 'es'][opened % 4]!;
    await page.evaluate(`document.querySelector('nav [value=${language}]').click()`);
    await page.waitForURL(stage.linkTo(token, `?lang=${language}`));
    await untilState(page, 'reserved');
  }
  await context.close();
  const { revealRequests, view } = stage.gifts.link(token);
  expect([revealRequests, view.state]).toEqual([0, 'RESERVED']);
}, 240_000);

it('a link stays reserved when a program requests it without a browser', async () => {
  const token = stage.gifts.addLink();
  for (const method of ['HEAD', 'GET', 'OPTIONS'])
    for (const path of ['/', `/%23${token}`, '/api/reward-link', '/api/reward-link/reveal'])
      await fetch(`${stage.url}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'sec-purpose': 'prefetch', purpose: 'prefetch' },
      });
  expect(stage.gifts.link(token)).toMatchObject({ revealRequests: 0, view: { state: 'RESERVED' } });
});

it('the page is small, and its files are requested once', async () => {
  const context = await stage.window();
  const page = await context.newPage();
  const network = await context.newCDPSession(page);
  const sizes: number[] = [];
  await network.send('Network.enable');
  network.on('Network.loadingFinished', ({ encodedDataLength }) => sizes.push(encodedDataLength));
  await page.goto(stage.linkTo(stage.gifts.addLink()));
  await untilState(page, 'reserved');
  await page.waitForLoadState('networkidle');
  const first = sizes.splice(0);

  // Page, stylesheet, script and API response, including headers.
  expect(first.filter((size) => size > 0)).toHaveLength(4);
  const transferred = first.reduce((sum, size) => sum + size, 0);
  process.stdout.write(`first view: ${transferred} bytes\n`);
  expect(transferred).toBeLessThan(30 * 1024);

  await page.goto('about:blank');
  await page.goto(stage.linkTo(stage.gifts.addLink()));
  await untilState(page, 'reserved');
  await page.waitForLoadState('networkidle');
  expect(sizes.filter((size) => size > 0)).toHaveLength(2);
  await context.close();
});

it('the token does not leak into the network, the log or the next page', async () => {
  const token = stage.gifts.addLink();
  const context = await stage.window();
  const page = await stage.open(context, token, 'reserved');
  await page.click('nav >> text=Deutsch');
  await untilState(page, 'reserved');
  await page.click('[data-reveal]');
  await untilState(page, 'revealed');
  await page.reload();
  await untilState(page, 'revealed');

  // The next page gets no referrer.
  await page.route('https://elsewhere.example/**', (route) =>
    route.fulfill({ contentType: 'text/html', body: '<title>elsewhere</title>' }),
  );
  await page.evaluate("location.href = 'https://elsewhere.example/'");
  await page.waitForURL('https://elsewhere.example/');
  expect(await page.evaluate('document.referrer')).toBe('');
  await context.close();

  // A mangled link has its token in the path, which must not be logged.
  const mangled = stage.gifts.addLink();
  const other = await stage.browser.newContext();
  const repaired = await other.newPage();
  await repaired.goto(`${stage.url}/%23${mangled}`);
  await untilState(repaired, 'reserved');
  await other.close();

  const own = stage.requests.filter(({ url }) => !url.startsWith('https://elsewhere.example/'));
  expect(own.length).toBeGreaterThan(5);
  for (const { url, headers } of stage.requests) {
    // A browser does not send the fragment, but `url` contains it.
    expect(url.split('#')[0]).not.toContain(token);
    expect(headers.referer ?? '').toBe('');
  }
  expect(own.filter(({ url }) => !url.startsWith(`${stage.url}/`) && !url.startsWith('data:'))).toEqual([]);
  const withToken = own.filter(({ headers }) => JSON.stringify(headers).includes(token));
  for (const { headers } of withToken) expect(headers.authorization).toBe(`Bearer ${token}`);
  expect(withToken.length).toBeGreaterThanOrEqual(4);

  expect(stage.log).toContain('"/api/reward-link/reveal"');
  for (const secret of [token, mangled, CARD.code, CARD.pin]) expect(stage.log).not.toContain(secret);
});

it('the page stores nothing in the browser', async () => {
  const context = await stage.window();
  const page = await stage.open(context, stage.gifts.addLink({ state: 'REVEALED' }), 'revealed');
  expect(await page.evaluate('localStorage.length + sessionStorage.length')).toBe(0);
  expect(await context.cookies()).toEqual([]);
  await context.close();
});

it('no browser reported an error', () => {
  expect(stage.complaints).toEqual([]);
});
