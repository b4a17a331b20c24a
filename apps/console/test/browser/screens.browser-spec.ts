import type { BrowserContextOptions, Page } from 'playwright-core';
import { scrollsSideways, violations, waitFor } from '@perkway/testing';
import { ADMIN_KEY, ConsoleStage, screenshot, untilShown } from './console-stage';

const stage = new ConsoleStage();
beforeAll(() => stage.start(), 300_000);
afterAll(() => stage.stop());

/** Heading and path of each screen in the menu; the heading is the name of the menu entry. */
const menu = {
  Overview: '/',
  Campaigns: '/campaigns',
  Perks: '/perks',
  'Gift cards': '/gift-cards',
  'Reward links': '/reward-links',
  Statements: '/statements',
  Limits: '/limits',
  Explore: '/explore',
  Reports: '/reports',
  Integration: '/integration',
  Documentation: '/documentation',
  'Audit log': '/audit-log',
};
const operatorMenu = {
  Operations: '/home',
  Accounts: '/accounts',
  Catalogue: '/catalogue',
  'All campaigns': '/campaign-editor',
  'All pools': '/pools',
  'All limits': '/limit-editor',
  Health: '/health',
};
const deeper = () => ({
  [`/campaigns/${stage.mine.campaign}`]: 'Harbour spring',
  [`/campaigns/${stage.mine.campaign}/send`]: 'Harbour spring',
  '/integration/hosts': 'Integration',
  '/integration/webhooks': 'Integration',
  '/integration/webhooks/orders': 'orders',
  '/integration/webhooks/crm': 'crm',
  '/integration/webhooks/former': 'former',
  '/integration/events': 'Integration',
  '/documentation/webhooks': 'Documentation',
  '/documentation/events': 'Documentation',
  '/documentation/operations': 'Page not found',
  '/explore?cube=incentive_clicks&dimensions=perk_title&measures=count,count_people': 'Explore',
  '/nowhere': 'Page not found',
});
const deeperForOperators = () => ({
  [`/accounts/${stage.mine.account}`]: `Name of ${stage.mine.account}`,
  [`/accounts/${stage.mine.account}/erasures`]: 'Erase a person',
  '/accounts/new': 'New account',
  '/documentation/operations': 'Documentation',
  '/catalogue/perks': 'Catalogue',
  [`/catalogue/perks/${stage.mine.perks[0]}`]: 'Harbour offer 1',
  [`/catalogue/perks/${stage.mine.perks[0]}?tab=yaml`]: 'Harbour offer 1',
  '/catalogue/perks/new': 'New perk',
  '/catalogue/categories': 'Catalogue',
  '/catalogue/categories/7': 'Outdoors',
  '/catalogue/categories/7?tab=history': 'Outdoors',
  '/catalogue/collections': 'Catalogue',
  [`/catalogue/collections/${stage.mine.collection}`]: stage.mine.collection,
  '/catalogue/import': 'Catalogue',
  '/catalogue/nowhere': 'Page not found',
  [`/campaign-editor/${stage.mine.campaign}`]: 'Harbour spring',
  [`/pools/${stage.mine.pool}`]: 'Harbour voucher',
  '/pools/new': 'New pool',
  '/limit-editor/new': 'New limit',
  '/limit-editor/harbour-month': 'harbour-month',
});
const headings = (entries: Record<string, string>) =>
  Object.fromEntries(Object.entries(entries).map(([name, path]) => [path, name]));
const today = () => new Date().toISOString().slice(0, 10);
const headingOf = (page: Page) => page.textContent('h1');
const fileNameOf = (path: string) =>
  path === '/'
    ? 'overview'
    : path
        .slice(1)
        .replace(/\?tab=/, '-')
        .replace(/\?.*$/, '-asked')
        .replaceAll('/', '-');

const COLOR_SCHEMES = ['light', 'dark'] as const;
/** Without transitions, which would still run when the colors are checked. */
const WINDOW: BrowserContextOptions = { reducedMotion: 'reduce', viewport: { width: 1280, height: 900 } };

describe.each([
  ['USER', () => stage.mine.key, () => ({ ...headings(menu), ...deeper() })],
  ['ADMIN', () => ADMIN_KEY, () => ({ ...headings(operatorMenu), ...deeperForOperators() })],
])('for the role %s', (role, keyOf, screensOf) => {
  it('every screen has its heading, is accessible and fits every width, in light and dark', async () => {
    const context = await stage.window(WINDOW);
    const page = await stage.signIn(context, keyOf());
    for (const [path, heading] of Object.entries(screensOf())) {
      await stage.goto(page, path);
      expect([path, await headingOf(page)]).toEqual([path, heading]);
      // A screen with times says once in which zone they are.
      const text = await page.innerText('body');
      const zones = text.match(/time zone UTC|\(UTC\)|[Tt]imes are in UTC/g) ?? [];
      // The pages of the documentation have times of their own.
      if (/\d\d:\d\d/.test(text) && !path.startsWith('/documentation'))
        expect([path, zones]).toEqual([path, ['time zone UTC']]);
      else expect([path, zones.length <= 1]).toEqual([path, true]);
      for (const colorScheme of COLOR_SCHEMES) {
        await page.emulateMedia({ colorScheme });
        expect([path, colorScheme, await violations(page)]).toEqual([path, colorScheme, []]);
        await screenshot(page, `${fileNameOf(path)}-${role}-${colorScheme}`);
        // A wide screen, one of 1,280 px at 200 % zoom, and a phone.
        for (const width of [2_560, 640, 360]) {
          await page.setViewportSize({ width, height: 740 });
          expect([path, width, await scrollsSideways(page)]).toEqual([path, width, false]);
        }
        await screenshot(page, `${fileNameOf(path)}-${role}-${colorScheme}-360`);
        await page.setViewportSize({ width: 1280, height: 900 });
      }
    }
    await context.close();
  }, 1_200_000);

  it('the menu leads to every screen', async () => {
    const context = await stage.window();
    const page = await stage.signIn(context, keyOf());
    const navigation = page.getByRole('navigation', { name: 'Main' });
    const names =
      role === 'ADMIN'
        ? [...Object.keys(operatorMenu), 'Audit log', 'Integration', 'Documentation']
        : Object.keys(menu);
    // No other: figures of their own account are empty for operators.
    expect(await navigation.getByRole('link').allInnerTexts()).toEqual(names);
    for (const name of names) {
      await navigation.getByRole('link', { name, exact: true }).click();
      await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
      expect(await page.title()).toBe(`${name} · Perkway`);
    }
    expect(await navigation.getByRole('link', { name: 'Accounts' }).count()).toBe(role === 'ADMIN' ? 1 : 0);
    await context.close();
  }, 120_000);
});

/** Lists accessibility violations and horizontal scrolling of the window, in light and dark. */
async function faults(page: Page, name: string): Promise<string[]> {
  const found: string[] = [];
  for (const colorScheme of COLOR_SCHEMES) {
    await page.emulateMedia({ colorScheme });
    found.push(...(await violations(page)));
    await screenshot(page, `${name}-${colorScheme}`);
    await page.setViewportSize({ width: 360, height: 740 });
    if (await scrollsSideways(page)) found.push('scrolls sideways at 360 px');
    found.push(...(await violations(page)));
    await screenshot(page, `${name}-${colorScheme}-360`);
    await page.setViewportSize({ width: 1280, height: 900 });
  }
  return found;
}

it.each([
  ['create-key', () => stage.mine.key, () => '/integration', 'Create key'],
  ['make-link', () => stage.mine.key, () => '/gift-cards', 'Make one link'],
  ['make-links', () => stage.mine.key, () => '/gift-cards', 'Make many links'],
  ['freeze-report', () => stage.mine.key, () => `/campaigns/${stage.mine.campaign}`, 'Freeze as a report'],
  ['create-webhook', () => stage.mine.key, () => '/integration/webhooks', 'Create webhook'],
  ['replay', () => stage.mine.key, () => '/integration/webhooks/orders', 'Replay…'],
  ['rotate', () => stage.mine.key, () => '/integration/webhooks/orders', 'Rotate secret'],
  ['confirm', () => ADMIN_KEY, () => '/limit-editor/harbour-month', 'Delete'],
])(
  'the dialog "%s" opens, works and closes by keyboard alone',
  async (name, keyOf, pathOf, opener) => {
    const context = await stage.window(WINDOW);
    const page = await stage.signIn(context, keyOf());
    await stage.goto(page, pathOf());
    const button = page.getByRole('button', { name: opener, exact: true });
    await button.focus();
    await page.keyboard.press('Enter');
    const dialog = page.locator('[role=dialog], [role=alertdialog]');
    await dialog.waitFor();
    await untilShown(page);
    expect(await faults(page, `dialog-${name}`)).toEqual([]);
    const within = 'document.activeElement.closest("[role=dialog], [role=alertdialog]") !== null';
    const focused = new Set<unknown>();
    for (let tab = 0; tab < 15; tab += 1) {
      await page.keyboard.press('Tab');
      expect(await page.evaluate(within)).toBe(true);
      focused.add(await page.evaluate('document.activeElement.outerHTML'));
    }
    expect(focused.size).toBeGreaterThan(1);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(await page.evaluate('document.activeElement.textContent')).toContain(opener);
    await context.close();
  },
  120_000,
);

it('the sign-in page is accessible and offers both ways to sign in', async () => {
  const context = await stage.window(WINDOW);
  const page = await context.newPage();
  await page.goto(stage.url);
  await page.getByRole('link', { name: 'Sign in with Ostervale accounts' }).waitFor();
  expect(await faults(page, `sign-in`)).toEqual([]);
  await page.getByLabel('API key').fill('wrong-key-0123456789abcdef');
  await page.keyboard.press('Enter');
  await page.getByText('This key is not known').first().waitFor();
  expect(await faults(page, `sign-in-refused`)).toEqual([]);
  await context.close();
}, 120_000);

it('a report is accessible to anyone with its URL', async () => {
  const owner = await stage.window();
  const page = await stage.signIn(owner);
  const report = {
    campaignId: stage.mine.campaign,
    range: { from: new Date(Date.now() - 30 * 86_400_000).toISOString().slice(0, 10), to: today() },
    title: 'Spring, frozen',
    expiresAt: new Date(Date.now() + 86_400_000).toISOString(),
  };
  const { url } = await page.evaluate<{ url: string }>(
    `fetch('/api/reports', { method: 'POST', headers: { 'content-type': 'application/json' }, body: ${JSON.stringify(JSON.stringify(report))} }).then((response) => response.json())`,
  );
  await owner.close();
  const others = await stage.window(WINDOW);
  const reader = await others.newPage();
  await reader.goto(url);
  await reader.getByRole('heading', { level: 1, name: 'Spring, frozen' }).waitFor();
  expect(await faults(reader, `report`)).toEqual([]);
  await reader.keyboard.press('Tab');
  expect(await reader.evaluate('document.activeElement.textContent')).toBe('Print');
  await reader.goto(`${stage.url}/report#nobody-knows-this`);
  await reader.getByRole('heading', { level: 1, name: 'This report cannot be read' }).waitFor();
  expect(await faults(reader, `report-gone`)).toEqual([]);
  await others.close();
}, 120_000);

it('operators’ screens do not exist for others', async () => {
  const context = await stage.window();
  const page = await stage.signIn(context);
  for (const path of Object.values(operatorMenu)) {
    await stage.goto(page, path);
    expect(await headingOf(page)).toBe('Page not found');
  }
  await context.close();
}, 120_000);

describe('figures', () => {
  const range = [new Date(Date.now() - 29 * 86_400_000).toISOString().slice(0, 10), today()];
  const count = async (cube: string, measure: string, more: object = {}) => {
    const [row] = await stage.request(stage.mine, {
      measures: [`${cube}.${measure}`],
      timeDimensions: [{ dimension: `${cube}.occurred_at`, dateRange: range }],
      ...more,
    });
    return Number(row![`${cube}.${measure}`]);
  };
  const shown = async (page: Page, figure: string) =>
    Number((await page.innerText(`[data-figure="${figure}"]`)).replace(/\D/g, ''));

  it('match those of the query host, for people and for all', async () => {
    const context = await stage.window();
    const page = await stage.signIn(context);
    await page.waitForSelector('[data-figure="clicks"]');
    expect(await shown(page, 'clicks')).toBe(
      (await count('incentive_clicks', 'count_people')) + (await count('perk_clicks', 'count_people')),
    );
    expect(await shown(page, 'clicks-all')).toBe(
      (await count('incentive_clicks', 'count')) + (await count('perk_clicks', 'count')),
    );
    expect(await shown(page, 'views')).toBe(
      (await count('teaser_views', 'count_people')) +
        (await count('reward_views', 'count_people')) +
        (await count('perk_views', 'count')),
    );
    expect(await shown(page, 'conversions')).toBe(await count('conversions', 'count_people'));
    const [journeys, clickers] = [
      await count('campaign_funnel', 'journeys'),
      await count('campaign_funnel', 'clickers'),
    ];
    expect([journeys, clickers]).toEqual([6, 3]);
    expect(await page.innerText('.headline')).toContain(`${clickers} of ${journeys} journeys clicked`);
    await context.close();
  }, 120_000);

  it('of a campaign match those of the query host too, and so does the CSV', async () => {
    const context = await stage.window({ acceptDownloads: true });
    const page = await stage.signIn(context);
    await stage.goto(page, `/campaigns/${stage.mine.campaign}`);
    const funnel = page.getByRole('list', { name: 'From contact to gift card' });
    for (const [name, member] of [
      ['Any contact', 'journeys'],
      ['Saw a teaser', 'teaser_viewers'],
      ['Clicked', 'clickers'],
      ['Converted', 'converters'],
    ] as const)
      expect(await funnel.getByRole('listitem').filter({ hasText: name }).locator('b').innerText()).toBe(
        String(await count('campaign_funnel', member)),
      );
    const [saved] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Perks as CSV' }).click(),
    ]);
    const lines = (await streamText(saved)).trim().split(/\r?\n/);
    expect(lines).toEqual([
      'Perk,Perk id,Views,Clicks,Clicks with bots,Clicked,Converted,Value',
      'Harbour offer 1,Harbour-perk-1,0,2,3,2,1,€20',
      'Harbour offer 2,Harbour-perk-2,0,1,1,1,0,',
      'Harbour offer 3,Harbour-perk-3,0,0,0,0,0,',
    ]);
    await context.close();
  }, 120_000);
});

async function streamText(download: { createReadStream(): Promise<NodeJS.ReadableStream> }): Promise<string> {
  let text = '';
  for await (const chunk of await download.createReadStream()) text += String(chunk);
  return text;
}

it('shows nothing of another account, whatever the URL says', async () => {
  const context = await stage.window();
  const seen: string[] = [];
  // Read on the way to the browser, which drops the bodies of requests that are aborted after they were read.
  await context.route('**/api/**', async (route) => {
    const response = await route.fetch();
    seen.push(await response.text());
    await route.fulfill({ response });
  });
  const page = await stage.signIn(context);
  const { theirs } = stage;
  for (const path of [
    `/campaigns/${theirs.campaign}`,
    `/perks?collection=${theirs.collection}`,
    `/reward-links?pool_id=${theirs.pool}`,
    `/reward-links?campaign_id=${theirs.campaign}`,
    `/explore?cube=campaign_funnel&measures=journeys&dimensions=campaign_id&steps=none&filter=campaign_id&value=${theirs.campaign}`,
    `/pools/${theirs.pool}`,
    `/accounts/${theirs.account}`,
    ...Object.values(menu),
  ]) {
    await stage.goto(page, path);
    expect([path, (await page.innerText('main')).includes('Foreign offer')]).toEqual([path, false]);
  }
  expect(
    await page.evaluate(`fetch('/api/boost/campaigns/${theirs.campaign}').then(({ status }) => status)`),
  ).toBe(404);
  expect(seen.filter((text) => /Foreign (offer|spring|picks|voucher)/.test(text))).toEqual([]);
  expect(seen.join('')).toContain('Harbour spring');
  await context.close();
}, 180_000);

it('counts no views or clicks, whichever screen is opened', async () => {
  const events = async () =>
    Number((await stage.fleet.database.query('select count(*) as n from analytics.tracking_events'))[0]!.n);
  const before = await events();
  const context = await stage.window();
  const page = await stage.signIn(context);
  for (const path of [...Object.values(menu), ...Object.keys(deeper())]) await stage.goto(page, path);
  await context.close();
  // Events are stored in order: once a later one is counted, earlier ones would be too.
  await stage.track(stage.mine, { event: 'teaser_view', journeyId: 'journey-0' });
  await waitFor(async () => (await events()) > before, 'the event after the visit', 20_000);
  expect(await events()).toBe(before + 1);
}, 180_000);

it('loads little, and nothing from other hosts', async () => {
  const context = await stage.window();
  const page = await context.newPage();
  const network = await context.newCDPSession(page);
  await network.send('Network.enable');
  let bytes = 0;
  const elsewhere: string[] = [];
  network.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength));
  page.on('request', (request) => {
    if (!request.url().startsWith(stage.url) && !request.url().startsWith('blob:'))
      elsewhere.push(request.url());
  });
  const plain: string[] = [];
  page.on('response', (response) => {
    const { 'content-length': length, 'content-encoding': encoding } = response.headers();
    if (!encoding && Number(length) > 1_024 && response.url().includes('/api/')) plain.push(response.url());
  });
  await page.goto(stage.url);
  await page.getByLabel('API key').fill(stage.mine.key);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.waitForSelector('[data-figure="clicks"]');
  expect(plain).toEqual([]);
  expect(bytes).toBeGreaterThan(50_000);
  expect(bytes).toBeLessThan(300 * 1024);
  expect(elsewhere).toEqual([]);
  await context.close();
}, 120_000);

it('causes no browser errors', () => {
  expect(stage.complaints).toEqual([]);
});
