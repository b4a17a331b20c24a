import { http, scrollsSideways, violations, waitFor } from '@perkway/testing';
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { BrowserContext, Locator, Page } from 'playwright-core';
import {
  ADMIN_KEY,
  clipboardOf,
  ConsoleStage,
  perkBody,
  screenshot,
  untilSaid,
  untilShown,
} from './console-stage';

interface StatementFigure {
  cards: number;
  amount: number;
}

/** Whether the figures of the screens say what was counted. */
const stage = new ConsoleStage();
let context: BrowserContext;
/** A pool whose French cards are used up. */
let stock: string;
/** A campaign in which journeys convert without a click, and whose links have no journey. */
let campaign: string;
beforeAll(async () => {
  await stage.start();
  campaign = await aCampaign('Harbour autumn');
  const owner = { ...stage.mine, campaign };
  for (const [nth, event] of [
    'teaser_view',
    'teaser_view',
    'conversion',
    'conversion',
    'conversion',
  ].entries())
    await stage.track(owner, {
      event,
      journeyId: `buyer-${nth}`,
      perkId: stage.mine.perks[0],
      ...(nth === 4 && { value: 1_234_567.5, currency: 'EUR' }),
    });
  await stage.track(owner, { event: 'teaser_view' });
  const links: string[] = [];
  for (let nth = 0; nth < 4; nth += 1) {
    links.push(await aLink(stage.mine.pool, 25, campaign));
  }
  await stage.reveal(links[0]!);
  stock = randomUUID();
  const gifts = stage.fleet.admin('gift-cards');
  await gifts
    .put(`/admin/pools/${stock}`)
    .send({ owner: stage.mine.account, product: { name: 'Harbour stock' } })
    .expect(200);
  await gifts
    .post(`/admin/pools/${stock}/cards`)
    .set('content-type', 'text/csv')
    .send('code,pin,denomination,currency,country\nstock-1,,10,EUR,FR\nstock-2,,10,EUR,DE')
    .expect(200);
  await aLink(stock, 10);
  const ofCampaign = (cube: string) => ({
    filters: [{ member: `${cube}.campaign_id`, operator: 'equals', values: [campaign] }],
  });
  await stage.untilCounted(stage.mine, 'campaign_funnel.journeys', 5, ofCampaign('campaign_funnel'));
  await stage.untilCounted(stage.mine, 'reward_links.count', 5, ofCampaign('reward_links'));
}, 300_000);
afterAll(() => stage.stop());
beforeEach(async () => {
  context = await stage.window({ acceptDownloads: true, viewport: { width: 1280, height: 900 } });
});
afterEach(() => context.close());

async function aCampaign(name: string): Promise<string> {
  const id = `campaign-${randomUUID().slice(0, 8)}`;
  await stage.fleet
    .admin('boost')
    .put(`/admin/campaigns/${id}`)
    .send({ owner: stage.mine.account, name, incentives: stage.mine.perks })
    .expect(200);
  return id;
}

async function aLink(
  pool: string,
  denomination: number,
  campaign_id?: string,
  key = stage.mine.key,
): Promise<string> {
  const { body } = await http({ url: stage.fleet.urls['gift-cards']! }, { key })
    .post(`/pool/${pool}/reward-links`)
    .query({ idempotencyKey: randomUUID() })
    .set('X-Created-By', 'figures')
    .send({
      denomination,
      currency: 'EUR',
      country: 'FR',
      campaign_id,
      expires_at: Math.floor(Date.now() / 1000) + 86_400,
    })
    .expect(201);
  return body.reward_link;
}

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const textOf = async (page: Page, selector: string) =>
  (await page.innerText(selector)).replaceAll(/\s+/g, ' ');

it('counts who clicked and who converted among all journeys, in the same words on every screen', async () => {
  const page = await stage.signIn(context);
  await page.waitForSelector('.headline b');
  expect(await textOf(page, '.headline')).toContain(
    '3 of 11 journeys clicked (27.3%) and 4 of 11 converted (36.4%).',
  );
  // A change from 0 has no color. Neither has that of links made, because making links is no success.
  const colors = async (name: string) => page.locator(`[data-figure=${name}] + p .change-up`).allInnerTexts();
  await page.locator('[data-figure=made]').waitFor();
  expect(await textOf(page, '[data-figure=views] + p')).toContain('None before');
  expect([await colors('views'), await colors('made')]).toEqual([[], []]);
  await stage.goto(page, '/campaigns');
  const row = page.getByRole('row').filter({ hasText: 'Harbour autumn' });
  await row.getByText('€1,234,567.50').waitFor();
  expect(await page.locator('.table-region.cut').count()).toBe(0);
  // Sums of several currencies wrap, and with those of the days before below them.
  await row.locator('.sums').evaluateAll((all: { innerHTML: string }[]) =>
    all.forEach((cell) => {
      const sums = '€1,234,567.50, £1,234,567.50, and $1,234,567.50';
      cell.innerHTML = `${sums}<br><span class="hint">${sums} before</span>`;
    }),
  );
  expect(
    await page
      .locator('.table-region')
      .evaluate(
        (region: { scrollWidth: number; clientWidth: number }) => region.scrollWidth - region.clientWidth,
      ),
  ).toBe(0);
  await screenshot(page, 'campaigns-1280');
  const name = row.getByRole('link', { name: 'Harbour autumn' });
  expect(
    await name.evaluate((link: { getClientRects: () => object[] }) => link.getClientRects().length),
  ).toBe(1);
  expect((await row.innerText()).replaceAll(/\s+/g, ' ')).toContain('3 60%');
  await stage.goto(page, `/campaigns/${campaign}`);
  expect(await textOf(page, '.headline')).toBe('0 of 5 journeys clicked (0%) and 3 of 5 converted (60%).');
  // No click is no success, so the headline has no color.
  expect(
    await page.evaluate(
      "getComputedStyle(document.querySelector('.headline b')).color === getComputedStyle(document.body).color",
    ),
  ).toBe(true);
  const funnel = page.getByRole('list', { name: 'From contact to gift card' });
  expect(await funnel.getByRole('listitem').filter({ hasText: 'Converted' }).innerText()).toContain(
    '60% of journeys',
  );
  const sources = page.getByRole('table', { name: 'By source' });
  expect((await sources.getByRole('row').nth(1).innerText()).replaceAll(/\s+/g, ' ')).toBe(
    'No source Journeys without utm_source 5 0 0% 3 60% €1,234,567.50',
  );
  await page
    .getByText('At least 5 of 5 journeys (100%) have views, clicks or conversions without a source')
    .waitFor();
  const toSend = page.getByRole('link', { name: 'Set the source of the pixel and the links on Send' });
  expect(await toSend.getAttribute('href')).toBe(`/campaigns/${campaign}/send`);
  const names = ['Clicked / journeys', 'Converted / journeys'];
  for (const name of names) await sources.getByRole('columnheader', { name }).waitFor();
  // A perk has no journeys of its own.
  for (const name of ['Clicked / all journeys', 'Converted / all journeys'])
    await page.getByRole('table', { name: 'By perk' }).getByRole('columnheader', { name }).waitFor();
  // The bar of a step leads to Explore, too.
  const bar = (await funnel
    .getByRole('listitem')
    .filter({ hasText: 'Converted' })
    .locator('svg')
    .boundingBox())!;
  await page.mouse.click(bar.x + bar.width / 2, bar.y + bar.height / 2);
  await page.getByRole('heading', { level: 1, name: 'Explore' }).waitFor();
  await page.goBack();
  await sources.getByRole('row').nth(1).getByRole('link').click();
  const explored = page.getByRole('table', { name: 'Table' });
  for (const name of names) await explored.getByRole('columnheader', { name }).waitFor();
  // This rate divides by the journeys that clicked, so it has another name.
  await stage.goto(page, '/explore?cube=campaign_funnel&measures=click_rate,conversion_rate&steps=none');
  for (const name of ['Clicked / journeys', 'Converted / clicked'])
    await page.getByRole('columnheader', { name }).waitFor();
  // Three of five journeys of the campaign converted, but all of those that have an event with the perk did.
  await stage.goto(
    page,
    `/explore?cube=campaign_funnel&measures=click_rate,journey_conversion_rate&dimensions=perk_title&steps=none&where=campaign_id:${campaign}`,
  );
  const rates = ['Clicked / journeys with this perk', 'Converted / journeys with this perk'];
  for (const name of rates) await page.getByRole('columnheader', { name }).waitFor();
  await page.getByText('“By perk” on a campaign divides by all journeys of the campaign.').waitFor();
}, 120_000);

it('counts the links of a campaign that have no journey', async () => {
  const page = await stage.signIn(context);
  await stage.goto(page, `/campaigns/${campaign}`);
  expect(await stepCells(page, 'Links made')).toEqual(['4', '0', '–', '€100', '–']);
  expect(await stepCells(page, 'Links opened (spent)')).toEqual(['1', '0', '–', '€25', '–']);
  expect(await stepCells(page, 'Links outstanding')).toEqual(['3', '0', '–', '€75', '–']);
  const steps = page.getByRole('table', { name: 'Results by step' }).getByRole('rowheader');
  expect(await steps.allInnerTexts()).toEqual([
    ...['Journeys with any contact', 'Journeys that clicked', 'Journeys that converted', 'Conversions'],
    ...['made', 'opened (spent)', 'outstanding'].map((state) => `Links ${state}`),
  ]);
  await page.getByText('No cancelled or expired links in these dates or the days before.').waitFor();
  await page
    .getByText('Spent per conversion: €8.33 (value of links opened / conversions, both in these dates).')
    .waitFor();
  await page.getByText('Spent per link opened: €25.').waitFor();
  await page.getByText('4 links (100%) were made without a journey id').waitFor();
  // One of the six people's events of the campaign came without a journey.
  await page
    .getByText('1 of 6 events of people in campaigns (16.7%) came without its own journey id')
    .waitFor();
  await screenshot(page, 'campaign-links');
}, 120_000);

/** The cells of a step, once they are shown. */
async function stepCells(page: Page, name: string): Promise<string[]> {
  const head = page.getByRole('rowheader', { name, exact: true });
  const row = page.getByRole('table', { name: 'Results by step' }).getByRole('row').filter({ has: head });
  await row.waitFor();
  return row.getByRole('cell').allInnerTexts();
}

it('shows counts and amounts by step that match the month’s statement', async () => {
  const page = await stage.signIn(context);
  const [month, day] = [7, 10].map((length) => new Date().toISOString().slice(0, length)) as [string, string];
  const { rows } = await page.evaluate<{ rows: Record<'generated' | 'revealed', StatementFigure>[] }>(
    `fetch('/api/gift/statements?month=${month}').then((response) => response.json())`,
  );
  const expected = (['generated', 'revealed'] as const).map((name) => {
    const figures = rows.map((row) => row[name]);
    const of = (part: keyof StatementFigure) => figures.reduce((sum, figure) => sum + figure[part], 0);
    return [String(of('cards')), `€${of('amount')}`];
  });
  expect(expected).toEqual([
    ['5', '€110'],
    ['1', '€25'],
  ]);
  const overview = `/?from=${month}-01&to=${day}`;
  const table = page.getByRole('table', { name: 'Results by step' });
  await waitFor(
    async () => {
      await stage.goto(page, overview);
      const [made, opened] = [
        await stepCells(page, 'Links made'),
        await stepCells(page, 'Links opened (spent)'),
      ];
      const shown = [made, opened].map(([count, , , value]) => [count, value]);
      return isDeepStrictEqual(shown, expected);
    },
    'the figures of the statement',
    20_000,
  );
  await screenshot(page, 'overview-sent');
  await table.getByRole('link', { name: 'Links made' }).click();
  const listed = page.getByRole('list', { name: 'Links' }).getByRole('listitem');
  await listed.first().waitFor();
  const bars = await listed.allInnerTexts();
  expect(bars.map((bar) => bar.replaceAll(/\s+/g, ' ').trim()).sort()).toEqual(['EUR · 10 1', 'EUR · 25 4']);
  await page.goBack();
  await page.getByRole('link', { name: 'Statement of' }).click();
  await page.getByText('This month is not over').waitFor();
  expect(new URL(page.url()).search).toBe(`?month=${month}`);
}, 120_000);

it('shows what the links of a month cost, by currency', async () => {
  const { account, key } = await stage.fleet.anAccount();
  const [pool, gifts] = [randomUUID(), stage.fleet.admin('gift-cards')];
  await gifts
    .put(`/admin/pools/${pool}`)
    .send({ owner: account, product: { name: 'Two currencies' } })
    .expect(200);
  const cards = [1, 2, 3].flatMap((nth) => [`euro-${nth},,12.5,EUR,FR`, `dollar-${nth},,20,USD,FR`]);
  await gifts
    .post(`/admin/pools/${pool}/cards`)
    .set('content-type', 'text/csv')
    .send(['code,pin,denomination,currency,country', ...cards].join('\n'))
    .expect(200);
  const made = async (denomination: number, currency: string) => {
    const link = {
      denomination,
      currency,
      country: 'FR',
      expires_at: Math.floor(Date.now() / 1000) + 86_400,
    };
    const reply = await http({ url: stage.fleet.urls['gift-cards']! }, { key })
      .post(`/pool/${pool}/reward-links`)
      .query({ idempotencyKey: randomUUID() })
      .set('X-Created-By', 'figures')
      .send(link)
      .expect(201);
    return reply.body.reward_link as string;
  };
  await stage.reveal(await made(12.5, 'EUR'));
  await made(12.5, 'EUR');
  await made(20, 'USD');
  const page = await stage.signIn(context, key, '/reward-links');
  await page.getByRole('button', { name: 'Cancel link:' }).first().click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel link' }).click();
  await page.getByRole('alertdialog').waitFor({ state: 'detached' });
  for (const path of ['/gift-cards', '/statements']) {
    await stage.goto(page, path);
    const table = page.getByRole('table', { name: 'What links cost' });
    const rows = await table.getByRole('row').allInnerTexts();
    expect(rows.map((row) => row.replaceAll(/\s+/g, ' ').trim())).toEqual([
      'Currency Links made Opened (spent) Cancelled Expired Outstanding',
      'EUR €25 2 €12.50 1 €0 0 €0 0 €12.50 1',
      'USD US$20 1 US$0 0 US$20 1 US$0 0 US$0 0',
    ]);
  }
  await screenshot(page, 'statement-costs');
}, 120_000);

it('keeps the first day while the last one is typed, and moves it when the field is left', async () => {
  const page = await stage.signIn(context, stage.mine.key, '/?from=2026-01-10&to=2026-01-26');
  const [from, to] = ['From', 'To'].map((name) => page.getByLabel(name, { exact: true })) as [
    Locator,
    Locator,
  ];
  // As after the first digit of 30.
  await to.fill('2026-01-03');
  expect(await from.inputValue()).toBe('2026-01-10');
  await to.fill('2026-01-30');
  await page.waitForURL(({ search }) => search === '?from=2026-01-10&to=2026-01-30');
  // As after the first digit of a year.
  await from.fill('0002-01-10');
  expect(page.url()).toContain('from=2026-01-10');
  await from.blur();
  expect(await from.inputValue()).toBe('2026-01-10');
  await to.fill('2026-01-03');
  await to.blur();
  await page.waitForURL(({ search }) => search === '?from=2026-01-03&to=2026-01-03');
}, 120_000);

it('compares a calendar month with the month before, other dates with as many days before', async () => {
  const page = await stage.signIn(context);
  await stage.goto(page, '/?from=2026-10-01&to=2026-10-31');
  await page.getByText(/^1\s–\s31 October 2026, compared with 1\s–\s30 September 2026\.$/).waitFor();
  await stage.goto(page, `/campaigns/${campaign}?from=2026-10-01&to=2026-10-30`);
  await page.getByText(/^1\s–\s30 October 2026, compared with 1\s–\s30 September 2026\.$/).waitFor();
  await stage.goto(page, '/?from=2026-10-31&to=2026-10-31');
  await page.getByText('31 October 2026, compared with 30 October 2026.').waitFor();
}, 120_000);

it('saves each day of the dates, under headers in words', async () => {
  const page = await stage.signIn(context);
  const saved = async (name: string) => {
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name, exact: true }).click(),
    ]);
    let text = '';
    for await (const chunk of await file.createReadStream()) text += String(chunk);
    return text.trim().split(/\r?\n/);
  };
  await stage.goto(page, `/campaigns/${campaign}`);
  const days = await saved('Days as CSV');
  expect(days[0]).toBe('Day,Clicks,Views,Conversions');
  expect(days.length).toBe(31);
  expect(days.slice(1, -1).map((line) => line.replace(/^[\d-]{10}/, ''))).toEqual(Array(29).fill(',0,0,0'));
  expect(days.at(-1)).toMatch(/,0,3,3$/);
  expect((await saved('Sources as CSV')).slice(0, 2)).toEqual([
    'Source,Journeys,Clicked,Converted,Value',
    ',5,0,3,"€1,234,567.50"',
  ]);
  await stage.goto(page, '/');
  const [head, ...all] = await saved('Days as CSV');
  expect(all).toHaveLength(30);
  const column = head!.split(',').indexOf('Conversions');
  const conversions = all.reduce((sum, line) => sum + Number(line.split(',')[column]), 0);
  expect(String(conversions)).toBe(await page.innerText('[data-figure="conversions"]'));
  await stage.goto(page, '/explore?cube=incentive_clicks&measures=count,count_people');
  const explored = await saved('Download CSV');
  expect(explored[0]).toBe('Day,All clicks,Clicks');
  expect(explored.length).toBe(31);
  expect(await page.getByRole('table', { name: 'Table' }).getByRole('row').count()).toBe(31);
}, 120_000);

it('shows perks that nobody has clicked', async () => {
  const page = await stage.signIn(context);
  await stage.goto(page, `/campaigns/${stage.mine.campaign}`);
  const perks = page.getByRole('table', { name: 'By perk' });
  const rows = async () => {
    const texts = await perks.getByRole('row').allInnerTexts();
    return texts.slice(1).map((row) => row.replaceAll(/\s+/g, ' ').trim());
  };
  expect(await rows()).toEqual([
    'H Harbour offer 1 0 2 3 with bots None before 33.3% 2 of 6 16.7% 1 of 6 €20',
    'H Harbour offer 2 0 1 None before 16.7% 1 of 6 0% 0 of 6 –',
    'H Harbour offer 3 0 0 0% 0 of 6 0% 0 of 6 –',
  ]);
  await button(page, 'Least clicked first').click();
  await button(page, 'Most clicked first').waitFor();
  expect((await rows())[0]).toContain('Harbour offer 3');
  await button(page, 'Most clicked first').click();
  await button(page, 'Least clicked first').waitFor();
  expect((await rows())[0]).toContain('Harbour offer 1');
  const isSorted = (order: string) => perks.locator(`[aria-sort=${order}]`, { hasText: 'Clicks' }).waitFor();
  await perks.getByRole('button', { name: 'Clicks' }).click();
  await isSorted('descending');
  expect(page.url()).toContain('perks=-Clicks');
  await perks.getByRole('button', { name: 'Clicks' }).click();
  await isSorted('ascending');
  expect((await rows())[0]).toContain('Harbour offer 3');
  await page.reload();
  await untilShown(page);
  expect((await rows())[0]).toContain('Harbour offer 3');
  expect(await perks.getByRole('columnheader', { name: 'Clicks' }).getAttribute('aria-sort')).toBe(
    'ascending',
  );
  // Two views of the other campaign name the first perk.
  await stage.goto(page, `/campaigns/${campaign}`);
  expect((await rows())[0]).toBe('H Harbour offer 1 2 0 0% 0 of 5 60% 3 of 5 €1,234,567.50');

  // Explore's question is about events, which perks without a click do not have.
  await stage.goto(page, '/explore');
  await page.getByRole('link', { name: 'Which perks are clicked least?' }).click();
  const least = page.getByRole('list', { name: 'Least clicked perks' });
  await least.waitFor();
  expect((await least.innerText()).replaceAll(/\s+/g, ' ').trim()).toBe('H Harbour offer 3 0 0 views');
  const most = page.getByRole('list', { name: 'Most clicked perks' });
  expect((await most.innerText()).replaceAll(/\s+/g, ' ').trim()).toBe(
    'H Harbour offer 1 2 2 in campaigns H Harbour offer 2 1 1 in campaigns',
  );
}, 120_000);

it('draws straight lines between the days', async () => {
  const page = await stage.signIn(context);
  await stage.goto(page, `/campaigns/${stage.mine.campaign}`);
  await page.waitForSelector('.chart .line');
  const paths = await Promise.all(
    (await page.locator('.chart .line').all()).map((line) => line.getAttribute('d')),
  );
  expect(paths.length).toBeGreaterThan(1);
  expect(paths.filter((path) => !/^M[\d.,]+(L[\d.,]+)+$/.test(path ?? ''))).toEqual([]);
}, 120_000);

it('says that a stock is used up, and forecasts each country by itself', async () => {
  const page = await stage.signIn(context, stage.mine.key, '/gift-cards');
  const table = page.getByRole('table', { name: 'Stock: Harbour stock' });
  await table.getByText('No recent links').first().waitFor();
  const row = async (country: string) => {
    const cell = page.getByRole('cell', { name: country, exact: true });
    return (await table.getByRole('row').filter({ has: cell }).innerText()).replaceAll(/\s+/g, ' ');
  };
  expect(await row('FR')).toMatch(/FR 0 1 €10 0 None left$/);
  expect(await row('DE')).toMatch(/DE 1 0 0 No recent links$/);
}, 120_000);

it('forecasts a stock only once enough links were made over enough days', async () => {
  const { account, key } = await stage.fleet.anAccount();
  const pool = randomUUID();
  const gifts = stage.fleet.admin('gift-cards');
  await gifts.put(`/admin/pools/${pool}`).send({ owner: account }).expect(200);
  const cards = Array.from({ length: 10 }, (_, nth) => `forecast-${nth},,10,EUR,FR`);
  await gifts
    .post(`/admin/pools/${pool}/cards`)
    .set('content-type', 'text/csv')
    .send(['code,pin,denomination,currency,country', ...cards].join('\n'))
    .expect(200);
  for (let nth = 0; nth < 4; nth += 1) await aLink(pool, 10, undefined, key);
  const page = await stage.signIn(context, key, '/gift-cards');
  const isLoadedBefore = (days: number) =>
    stage.fleet.database.query(
      `with aged as (update gift_cards.pools set created_at = now() - make_interval(days => $2) where id = $1)
       update gift_cards.inventories set created_at = now() - make_interval(days => $2) where pool_id = $1`,
      [pool, days],
    );
  const shows = async (forecast: string) => {
    await stage.goto(page, '/gift-cards');
    await page.getByRole('cell', { name: forecast, exact: true }).waitFor();
  };
  await isLoadedBefore(4);
  await shows('Too little history to forecast');
  // Five cards are left, and five were used.
  await aLink(pool, 10, undefined, key);
  await shows('4 days');
  await isLoadedBefore(2);
  await shows('At this rate under 3 days; too little history for a date');
}, 120_000);

it('says once why links of a job were not made', async () => {
  const page = await stage.signIn(context, stage.mine.key, '/gift-cards');
  const body = { poolId: stock, denomination: 10, currency: 'EUR', country: 'FR', count: 8 };
  await page.evaluate(
    `fetch('/api/link-jobs', { method: 'POST', headers: { 'content-type': 'application/json', 'idempotency-key': '${randomUUID()}' }, body: ${JSON.stringify(JSON.stringify(body))} })`,
  );
  await stage.goto(page, '/gift-cards');
  const job = page.locator('[data-job="failed"]');
  await job.waitFor();
  expect((await job.innerText()).match(/no card left/g)).toHaveLength(1);
  expect(await job.innerText()).toMatch(/\d rows from row 1 to \d: The pool has no card left/);
}, 120_000);

it('shows the perks of a large collection in pages', async () => {
  const perks = Array.from({ length: 30 }, (_, nth) => `many-${nth}`);
  const catalogue = stage.fleet.admin('perks');
  for (const id of perks)
    await catalogue
      .put(`/admin/perks/${id}`)
      .send(perkBody(`Many ${id}`))
      .expect(200);
  await catalogue
    .put('/admin/perk-collections/many')
    .send({
      owner: stage.mine.account,
      groups: [{ name: 'Many', rank: 1, perks: perks.map((id, index) => ({ id, rank: index + 1 })) }],
    })
    .expect(200);
  const page = await stage.signIn(context, stage.mine.key, '/perks?collection=many');
  const cards = page.locator('.perk-card');
  expect(await cards.count()).toBe(24);
  await page.getByRole('button', { name: 'Show more' }).click();
  expect(await cards.count()).toBe(30);
  const { account } = stage.mine;
  await stage.fleet.database.query(
    `insert into analytics.tracking_events
       (account_id, occurred_at, id, type, perk_id, perk_ids, collection_id, traffic_class, traffic_reason)
     select $1, now() - interval '1 minute', 'many-' || n, type, perk, perks, 'many', 'human', 'test'
     from (values (1, 'perk_view', null, '{many-3,many-4}'::text[]), (2, 'perk_view', null, '{many-3,many-4}'),
       (3, 'perk_click', 'many-4', null)) as event (n, type, perk, perks)`,
    [account],
  );
  await stage.untilCounted(stage.mine, 'perk_clicks.count', 1);
  await page.getByLabel('Show as').selectOption('Table of views and clicks');
  const table = page.getByRole('table', { name: 'Perks' });
  const rows = async () =>
    (await table.getByRole('row').allInnerTexts()).slice(1).map((row) => row.replaceAll(/\s+/g, ' ').trim());
  await table.waitFor();
  expect((await rows()).slice(0, 1)).toEqual(['Many many-4 2 1 50% 0']);
  expect(await rows()).toHaveLength(30);
  await table.getByRole('button', { name: 'Clicks / views' }).click();
  await table.getByRole('button', { name: 'Clicks / views' }).click();
  await table.locator('[aria-sort=ascending]').waitFor();
  // Those without views have no rate and come last.
  expect((await rows()).slice(0, 2)).toEqual(['Many many-3 2 0 0% 0', 'Many many-4 2 1 50% 0']);
  expect(await violations(page)).toEqual([]);
  await page.getByLabel('Show as').selectOption('Cards, most clicked first');
  await cards.first().waitFor();
  await page.reload();
  await untilShown(page);
  expect(await cards.first().innerText()).toContain('Many many-4');
  expect(await cards.count()).toBe(24);
}, 120_000);

describe('an operator', () => {
  it('gets ids and names for recipients made, and may type them', async () => {
    const page = await stage.signIn(context, ADMIN_KEY, '/accounts/new');
    const id = page.getByLabel('Id', { exact: true });
    const forRecipients = page.getByLabel('Name for recipients');
    await page.getByLabel('Name', { exact: true }).fill('Café Élan & Co.');
    expect([await id.inputValue(), await forRecipients.inputValue()]).toEqual([
      'cafe-elan-co',
      'Café Élan & Co.',
    ]);
    await id.fill('typed');
    await forRecipients.fill('Café Élan');
    await page.getByLabel('Name', { exact: true }).fill('Another');
    expect([await id.inputValue(), await forRecipients.inputValue()]).toEqual(['typed', 'Café Élan']);
    // Also one like the name, or none.
    await forRecipients.fill('Another');
    await page.getByLabel('Name', { exact: true }).fill('');
    expect(await forRecipients.inputValue()).toBe('Another');
    await forRecipients.fill('');
    await page.getByLabel('Name', { exact: true }).fill('A third');
    expect(await forRecipients.inputValue()).toBe('');
    await stage.goto(page, '/catalogue/categories/new');
    await page.getByLabel('Slug').fill('x');
    await waitFor(async () => (await id.inputValue()) === '8', 'the next number');
    await stage.goto(page, '/pools/new');
    expect(await id.inputValue()).toMatch(/^[\da-f-]{36}$/);
    await page.getByText('You may type another UUID').waitFor();
    await id.fill('vouchers');
    await page.getByLabel('Account', { exact: true }).fill(stage.mine.account);
    await page.getByRole('button', { name: 'Save' }).click();
    const alert = page.getByRole('alert').filter({ hasText: 'UUID' });
    await alert.waitFor();
    expect((await alert.innerText()).match(/UUID/g)).toHaveLength(1);
  }, 120_000);

  it('sees the names of the perks of a campaign and of a collection, however many perks there are', async () => {
    const { query } = stage.fleet.database;
    try {
      await query(
        `insert into catalog.perks
         select (jsonb_populate_record(p, jsonb_build_object('id', '0-' || n))).*
         from catalog.perks p, generate_series(1, 2100) n where p.id = $1`,
        [stage.mine.perks[0]],
      );
      const page = await stage.signIn(context, ADMIN_KEY, `/campaign-editor/${stage.mine.campaign}`);
      for (const path of [
        `/campaign-editor/${stage.mine.campaign}`,
        `/catalogue/collections/${stage.mine.collection}`,
      ]) {
        await stage.goto(page, path);
        for (const title of ['Harbour offer 1', 'Harbour offer 2', 'Harbour offer 3'])
          await page.locator('.arranged-list').getByText(title).first().waitFor();
      }
    } finally {
      await query(`delete from catalog.perks where id like '0-%'`);
    }
  }, 120_000);

  it('is asked before unsaved changes are lost', async () => {
    const page = await stage.signIn(context, ADMIN_KEY, `/accounts/${stage.mine.account}`);
    const name = page.getByLabel('Name', { exact: true });
    await name.fill('Changed');
    await page.getByRole('link', { name: 'Health', exact: true }).click();
    const requested = page.getByRole('alertdialog');
    await requested.getByRole('button', { name: 'Go back' }).click();
    await requested.waitFor({ state: 'detached' });
    expect(await name.inputValue()).toBe('Changed');
    await page.getByRole('button', { name: 'Save' }).click();
    await untilSaid(page, 'Saved');
    await page.getByRole('link', { name: 'Health', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Health' }).waitFor();
    await page.goBack();
    await name.fill('Changed again');
    await page.goForward();
    await requested.getByRole('button', { name: 'Leave without saving' }).click();
    await page.getByRole('heading', { level: 1, name: 'Health' }).waitFor();
  }, 120_000);
});

it('shows the documentation with the addresses of the hosts, also at /docs', async () => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const page = await stage.signIn(context, stage.mine.key, '/docs');
  expect(page.url()).toBe(`${stage.url}/documentation`);
  await page.getByRole('heading', { level: 2, name: 'Ten minutes with Perkway' }).waitFor();
  const text = await page.innerText('main');
  expect(text).toContain(`PERKS=${stage.fleet.urls.perks}`);
  expect(text).not.toMatch(/perkway\.example|```|\]\(/);
  // A client has no repository to start.
  expect(text).not.toContain('npm start');
  await page.getByRole('link', { name: 'Make many links' }).click();
  await page.getByRole('heading', { level: 3, name: 'Approvals' }).waitFor();
  await page.goBack();
  await page.getByRole('button', { name: 'Copy: KEY=your-user-key' }).click();
  await page.getByText('Copied').first().waitFor();
  expect(await clipboardOf(context)).toContain(`EVENTS=${stage.fleet.urls.events}`);

  await page.getByRole('link', { name: 'the feed', exact: true }).click();
  const heading = page.getByRole('heading', { level: 3, name: 'The feed', exact: true });
  await heading.waitFor();
  await waitFor(
    () =>
      heading.evaluate(
        (node: { ownerDocument: { activeElement: unknown } }) => node === node.ownerDocument.activeElement,
      ),
    'the focus on the section',
  );
  expect(page.url()).toBe(`${stage.url}/documentation/events#the-feed`);
  await page.goBack();
  await page.getByRole('heading', { level: 2, name: 'Ten minutes with Perkway' }).waitFor();

  await stage.goto(page, '/integration/hosts');
  const linkOf = (name: string) => page.getByRole('link', { name, exact: true }).getAttribute('href');
  expect(await linkOf('API reference Perk collections')).toBe(`${stage.fleet.urls.perks}/docs`);
  expect(await linkOf('OpenAPI Perk collections')).toBe(`${stage.fleet.urls.perks}/docs-json`);
  // `last 7 days` would end yesterday, so that the first click would be missing.
  await page.getByText('"dateRange":"from 6 days ago to now"').waitFor();
}, 120_000);

it('finds sections of the documentation by their words', async () => {
  const page = await stage.signIn(context, stage.mine.key, '/documentation');
  const field = page.getByRole('searchbox', { name: 'Search' });
  await field.fill('cursor_expired RETENTION');
  const hit = page.getByRole('link', { name: /^Events: The feed/ });
  await hit.waitFor();
  expect(await hit.innerText()).toMatch(/410 CURSOR_EXPIRED means that retention/);
  expect(await violations(page)).toEqual([]);
  await screenshot(page, 'documentation-search');
  await page.setViewportSize({ width: 360, height: 740 });
  expect(await scrollsSideways(page)).toBe(false);
  // The results follow the field.
  expect((await field.boundingBox())!.width).toBeGreaterThan(300);
  expect((await hit.boundingBox())!.y - (await field.boundingBox())!.y).toBeLessThan(200);
  await page.setViewportSize({ width: 1280, height: 900 });
  for (const [typed, found] of [
    ['GDPR', /^Erase a person/],
    ['attribution', /^Boost: Report views and conversions/],
    ['sandbox', /^HTTP behavior: Test without counting/],
    ['test mode', /^HTTP behavior: Test without counting/],
    ['SDK', /^npm package.*SDK/s],
    ['duplicate', /^Receive webhooks/],
    ['How long are events kept?', /^Events: The feed/],
  ] as const) {
    await field.fill(typed);
    await page.getByRole('link', { name: found }).first().waitFor();
  }
  await field.fill('xyzzy');
  await page.getByText('Nothing found').waitFor();
  await stage.goto(page, '/documentation?q=cursor_expired');
  await hit.click();
  await page.getByRole('heading', { level: 3, name: 'The feed', exact: true }).waitFor();
  expect(page.url()).toBe(`${stage.url}/documentation/events#the-feed`);
  expect(await field.inputValue()).toBe('');
}, 120_000);

it('prints a screen with the name of the account, and without dates to pick', async () => {
  const page = await stage.signIn(context);
  const [dates, account] = [page.getByRole('group', { name: 'Dates' }), page.locator('.topbar-account')];
  await dates.waitFor();
  await page.emulateMedia({ media: 'print' });
  await dates.waitFor({ state: 'hidden' });
  await account.waitFor();
  expect(await page.getByText('Sign out').isVisible()).toBe(false);
  await screenshot(page, 'overview-printed');
}, 120_000);

it('prints the whole chart of a report, with the colors of its legend', async () => {
  const owner = await stage.signIn(context);
  const report = {
    campaignId: campaign,
    range: {
      from: new Date(Date.now() - 29 * 86_400_000).toISOString().slice(0, 10),
      to: new Date().toISOString().slice(0, 10),
    },
    title: 'Printed',
    expiresAt: new Date(Date.now() + 86_400_000).toISOString(),
  };
  const { url } = await owner.evaluate<{ url: string }>(
    `fetch('/api/reports', { method: 'POST', headers: { 'content-type': 'application/json' }, body: ${JSON.stringify(JSON.stringify(report))} }).then((response) => response.json())`,
  );
  const page = await context.newPage();
  await page.goto(url);
  await page.waitForSelector('.chart svg');
  await waitFor(
    async () => (await page.locator('.chart svg').first().boundingBox())!.width > 700,
    'a wide chart',
  );
  // Paper is narrower than the window, and no script runs between the window's layout and the paper's.
  await page.evaluate(
    "document.querySelectorAll('.chart').forEach((chart) => { chart.style.width = '400px'; })",
  );
  await page.emulateMedia({ media: 'print' });
  const [right, last] = await page.evaluate<[number, number]>(
    `[document.querySelector('.chart').getBoundingClientRect().right,
      Math.max(...[...document.querySelectorAll('.chart .line')].map((line) => line.getBoundingClientRect().right))]`,
  );
  expect(last).toBeLessThanOrEqual(right);
  expect(await page.evaluate("getComputedStyle(document.querySelector('.legend i')).printColorAdjust")).toBe(
    'exact',
  );
  await screenshot(page, 'report-printed-narrow');
}, 120_000);

describe('Explore', () => {
  const explore = async (query: string) => {
    const page = await stage.signIn(context, stage.mine.key, `/explore?${query}`);
    await untilShown(page);
    await page.waitForSelector('.chart, .bars');
    return page;
  };

  it('shows rates as percentages, on an axis of their own', async () => {
    const page = await explore(
      'cube=campaign_funnel&measures=journeys,click_rate&dimensions=campaign_name&steps=none',
    );
    const rates = page.getByRole('list', { name: 'Clicked / journeys' }).getByRole('listitem');
    expect(await rates.filter({ hasText: 'Harbour spring' }).innerText()).toContain('50%');
    expect(await page.getByRole('table', { name: 'Table' }).innerText()).toContain('50%');
    await stage.goto(page, '/explore?cube=campaign_funnel&measures=journeys,click_rate&steps=day');
    expect(await page.locator('.chart').count()).toBe(2);
    const ticks = await page.locator('.chart').last().locator('.grid text').allInnerTexts();
    expect(ticks.filter((tick) => !/^\d+(\.\d+)?%$/.test(tick))).toEqual([]);
    await screenshot(page, 'explore-rates');
  }, 120_000);

  it('draws every measure', async () => {
    const page = await explore(
      'cube=incentive_clicks&measures=count,count_people&dimensions=perk_title&steps=none',
    );
    for (const name of ['All clicks', 'Clicks'])
      expect(await page.getByRole('list', { name, exact: true }).getByRole('listitem').count()).toBe(2);
  }, 120_000);

  it('draws a dimension over time as a line for each of its values, whatever the step', async () => {
    const page = await explore('steps=none');
    for (const steps of ['day', 'week', 'month']) {
      await stage.goto(
        page,
        `/explore?cube=incentive_clicks&measures=count&dimensions=perk_title&steps=${steps}`,
      );
      await waitFor(async () => (await page.locator('.chart').count()) === 1, 'one chart');
      expect((await page.locator('.legend').allInnerTexts()).map((name) => name.trim()).sort()).toEqual([
        'Harbour offer 1',
        'Harbour offer 2',
      ]);
      expect(await page.locator('.bars').count()).toBe(0);
    }
  }, 120_000);

  it('marks weeks that are only in part in the dates', async () => {
    const page = await explore('cube=campaign_funnel&measures=journeys&steps=week&dates=30');
    await page.getByText(/^Only in part in these dates: Week of .+ \(\d of 7 days\)/).waitFor();
  }, 120_000);

  it('keeps dates relative to today in suggested questions, and names what happened to links', async () => {
    const page = await explore('cube=reward_links&measures=count&dimensions=state&steps=none&dates=7');
    await page.locator('.bars').getByText('Made').waitFor();
    const rates = page.getByRole('link', { name: 'How do the rates develop?' });
    const asked = new URL((await rates.getAttribute('href'))!, page.url()).searchParams;
    expect([asked.get('dates'), asked.get('from')]).toEqual(['7', null]);
  }, 120_000);
});

/** Inserts the example of docs/figures.md into the month before, because tracking cannot backdate events. */
async function theExample(): Promise<{ from: string; to: string; makeLinks: () => Promise<void> }> {
  const { account, campaign: id, perks } = stage.theirs;
  const today = new Date();
  const month = (back: number) => new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - back, 1));
  const [from, to] = [month(1).toISOString(), month(0).toISOString()];
  const partition = `tracking_events_${from.slice(0, 7).replace('-', '_')}`;
  const { query } = stage.fleet.database;
  const [known] = await query(`select to_regclass('analytics.${partition}') is not null as exists`);
  if (!known!.exists)
    await query(
      `create table analytics.${partition} partition of analytics.tracking_events for values from ('${from}') to ('${to}')`,
    );
  for (const [day, source, journeys, clickers, plan, converters] of [
    [4, 'app', 400, 120, 'silver', 40],
    [4, 'mail', 600, 105, 'silver', 60],
    [14, 'app', 600, 210, 'gold', 120],
    [14, 'mail', 400, 65, 'silver', 20],
  ])
    await query(
      `insert into analytics.tracking_events
         (account_id, occurred_at, id, type, perk_id, campaign_id, journey_id, channel, traffic_class, traffic_reason,
          utm_source, cmeta)
       select $1, $2::timestamptz + make_interval(days => $3, secs => n), $4 || $3 || type || n, type, $5, $6,
         $4 || $3 || n, 'outreach', 'human', 'test', $4, jsonb_build_object('plan', $9::text, 'customer', $4 || $3 || n)
       from generate_series(1, $7::integer) as n, unnest('{teaser_view,incentive_click,conversion}'::text[]) as type
       where n <= case type when 'teaser_view' then $7 when 'conversion' then $10 else $8 end::integer`,
      [account, from, day, source, perks[0], id, journeys, clickers, plan, converters],
    );
  // Journeys that clicked the first perk also click others, so that only the perks change.
  for (const [day, perk, clickers] of [
    [14, perks[1], 20],
    [4, perks[2], 20],
    [14, perks[2], 5],
  ])
    await query(
      `insert into analytics.tracking_events
         (account_id, occurred_at, id, type, perk_id, campaign_id, journey_id, channel, traffic_class, traffic_reason,
          utm_source, cmeta)
       select account_id, occurred_at, id || $3::text, type, $3::text, campaign_id, journey_id, channel, traffic_class, traffic_reason,
         utm_source, cmeta
       from analytics.tracking_events
       where account_id = $1 and type = 'incentive_click' and utm_source = 'app' and perk_id = $5
         and occurred_at >= $2::timestamptz + make_interval(days => $4::integer)
         and occurred_at < $2::timestamptz + make_interval(days => $4::integer + 1)
       order by occurred_at limit $6::integer`,
      [account, from, perk, day, perks[0], clickers],
    );
  const recount = () =>
    query(
      `insert into analytics.dirty_hours (account_id, hour)
       select $1, hour from generate_series($2::timestamptz, $3::timestamptz - interval '1 hour', interval '1 hour') as hour
       where hour < (select closing_to from analytics.rollup_state) on conflict do nothing`,
      [account, from, to],
    );
  await recount();
  /** Makes 500 links, as the console does: without a source, and for journeys that have nothing else. */
  const makeLinks = async () => {
    await query(
      `insert into analytics.tracking_events
         (account_id, occurred_at, id, type, campaign_id, journey_id, state, denomination, currency, created_by)
       select $1, $2::timestamptz + interval '14 days' + n * interval '1 second', 'link-' || n, 'reward_link', $3,
         'link-' || n, 'generated', 25, 'EUR', 'test'
       from generate_series(1, 500) as n`,
      [account, from, id],
    );
    await recount();
  };
  return { from: `${from.slice(0, 8)}11`, to: `${from.slice(0, 8)}20`, makeLinks };
}

it('says whether it went better, and which source made the difference', async () => {
  const { from, to, makeLinks } = await theExample();
  // Attributes become members of the cubes when a server has sent them.
  await stage.track(
    stage.theirs,
    { event: 'teaser_view', journeyId: 'journey-0' },
    '?cmeta_plan=silver&cmeta_customer=1',
  );
  const page = await stage.signIn(context, stage.theirs.key, '/explore?cube=campaign_funnel');
  await waitFor(async () => {
    await page.reload();
    await untilShown(page);
    return page.getByLabel('Plan (cmeta_plan)').isVisible();
  }, 'the attribute');
  await stage.goto(page, `/explore?from=${from}&to=${to}`);
  await page.getByRole('link', { name: 'Which plan clicks most?' }).click();
  const plans = page.getByRole('table', { name: 'Table' });
  const cells = async () =>
    (await plans.getByRole('row').allInnerTexts()).map((row) => row.replaceAll(/\s+/g, ' ').trim());
  const head = 'Plan (cmeta_plan) Journeys Clicked / journeys Converted / journeys';
  await plans.getByText('gold').waitFor();
  const gold = 'gold 600 0 before 35% – before 20% – before';
  const silver = 'silver 400 1,000 before, −60% 16.3% 22.5% before 5% 10% before';
  expect(await cells()).toEqual([head, gold, silver]);
  for (const order of ['descending', 'ascending']) {
    await plans.getByRole('button', { name: 'Converted / journeys' }).click();
    await plans.locator(`[aria-sort=${order}]`).waitFor();
  }
  expect(await cells()).toEqual([head, silver, gold]);
  await page.getByLabel('Filter by').selectOption('Plan (cmeta_plan)');
  await page.getByLabel('Value').fill('gold');
  await waitFor(async () => (await plans.getByRole('row').count()) === 2, 'the condition on the attribute');
  expect(await violations(page)).toEqual([]);
  await screenshot(page, 'explore-segments');
  await stage.goto(page, `/?from=${from}&to=${to}`);
  const verdictOf = async (of: Page, outcome: string) => {
    const verdict = of.locator(`[data-outcome="${outcome}"][data-verdict=better][aria-busy=false]`);
    await verdict.getByText('Mostly because of').first().waitFor();
    return [
      await verdict.locator('p').first().innerText(),
      ...(await verdict.getByRole('listitem').allInnerTexts()),
    ];
  };
  const causes = {
    clickers: [
      'Clicks: better 27.5% of journeys clicked, 22.5% in the days before.',
      'Mostly because of the source app: 35% clicked, 30% before (+4 points).',
      'Mostly because of the perk Foreign offer 1: 27.5% clicked it, 22.5% before (+5 points).',
      'Also because of the perk Foreign offer 2: 2% clicked it, 0% before (+2 points).',
      'Clear fall for the perk Foreign offer 3: 0.5% clicked it, 2% before (−1.5 points).',
    ],
    converters: [
      'Conversions: better 14% of journeys converted, 10% in the days before.',
      'Mostly because of the source app: 20% converted, 10% before (+5.6 points).',
      'Partly offset by the source mail: 5% converted, 10% before (−1.6 points).',
      'Mostly because of the perk Foreign offer 1: 14% converted with it, 10% before (+4 points).',
    ],
  };
  const clickCauses = [
    ...causes.clickers,
    'Mostly because of the plan gold: 35% clicked, no journeys before (+6 points).',
    'Clear fall for the plan silver: 16.3% clicked, 22.5% before (−1 point).',
  ];
  expect(await verdictOf(page, 'clickers')).toEqual(clickCauses);
  expect(await verdictOf(page, 'converters')).toEqual([
    ...causes.converters,
    'Mostly because of the plan gold: 20% converted, no journeys before (+4.8 points).',
    'Clear fall for the plan silver: 5% converted, 10% before (−0.8 points).',
  ]);
  await page.getByText('How the points add up').first().click();
  await page.getByText('app: +4 = +2.5 from its rate, +1.5 from its share.').waitFor();
  const steps = page.getByRole('table', { name: 'Results by step' });
  expect(await steps.locator('.change-up').allInnerTexts()).toEqual(['+22.2%', '+40%', '+40%']);
  const table = page.getByRole('table', { name: 'What changed' });
  const rows = async () =>
    (await table.getByRole('row').allInnerTexts()).slice(1).map((row) => row.replaceAll(/\s+/g, ' ').trim());
  const bySource = [
    'app 600 400 35% 30% +4 points rate +2.5, share +1.5',
    'mail 400 600 16.3% 17.5% +1 point rate −0.6, share +1.6',
    'All 1,000 1,000 27.5% 22.5% +5 points',
  ];
  expect(await rows()).toEqual(bySource);
  await screenshot(page, 'overview-changed');
  const rate = page.getByLabel('Rate', { exact: true });
  await rate.selectOption('Converted / journeys');
  await table.getByRole('columnheader', { name: 'Converted / journeys before' }).waitFor();
  expect(await rows()).toEqual([
    'app 600 400 20% 10% +5.6 points rate +5, share +0.6',
    'mail 400 600 5% 10% −1.6 points rate −2.5, share +0.9',
    'All 1,000 1,000 14% 10% +4 points',
  ]);
  expect(await table.getByRole('link', { name: 'app' }).getAttribute('href')).toContain(
    'measures=journeys%2Cgift_only_recipients%2Cconverters%2Cjourney_conversion_rate',
  );
  await rate.selectOption('Clicked / journeys');
  // Explore keeps the comparison of the figure that led to it.
  const factsOf = async (count: number) => {
    const facts = page.locator('.facts');
    await facts
      .getByText('before')
      .nth(count - 1)
      .waitFor();
    return (await facts.innerText()).replaceAll(/\s+/g, ' ').trim();
  };
  expect(await page.innerText('[data-figure=clicks]')).toBe('300');
  await page.locator('.figures').getByRole('link', { name: 'In campaigns' }).click();
  expect(await factsOf(2)).toBe('Clicks 300 245 before, +22.4% All clicks 300 245 before, +22.4%');
  expect(await page.locator('.facts .change-up').allInnerTexts()).toEqual(['+22.4%']);
  await page.getByText(/compared with/).waitFor();
  expect(await violations(page)).toEqual([]);
  await page.setViewportSize({ width: 360, height: 740 });
  expect(await scrollsSideways(page)).toBe(false);
  await screenshot(page, 'explore-before');
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.getByRole('link', { name: 'Show the days before' }).click();
  await page.locator('.facts').getByText('0 before', { exact: true }).first().waitFor();
  expect(await factsOf(2)).toBe('Clicks 245 0 before All clicks 245 0 before');
  await page.goBack();
  await page.goBack();
  const by = page.getByLabel('By', { exact: true });
  await by.selectOption('Perk');
  await table.getByText('Any perk').waitFor();
  await table.getByRole('columnheader', { name: 'Clicked / all journeys before' }).waitFor();
  expect(await rows()).toEqual([
    'Foreign offer 1 275 225 27.5% 22.5% +5 points',
    'Foreign offer 2 20 0 2% 0% +2 points',
    'Foreign offer 3 5 20 0.5% 2% −1.5 points',
    'Any perk 275 225 27.5% 22.5% +5 points',
  ]);
  await by.selectOption('Clicks of each perk');
  await table.getByText('in campaigns').first().waitFor();
  expect(await rows()).toEqual([
    'Foreign offer 1 275 in campaigns 225 +50',
    'Foreign offer 2 20 in campaigns 0 +20',
    'Foreign offer 3 5 in campaigns 20 −15',
  ]);
  await by.selectOption('Segment: plan');
  await table.getByText('gold').waitFor();
  expect(await rows()).toEqual([
    'gold 600 0 35% – +6 points rate 0, share +6',
    'silver 400 1,000 16.3% 22.5% −1 point rate −4.4, share +3.4',
    'All 1,000 1,000 27.5% 22.5% +5 points',
  ]);
  // A customer id has too many values to compare.
  await by.selectOption('Segment: customer');
  await page.getByText('1,000 values or more').waitFor();
  await by.selectOption('Campaign');
  await table.getByRole('link', { name: 'Foreign spring' }).click();
  await page.getByRole('heading', { level: 1, name: 'Foreign spring' }).waitFor();
  expect(page.url()).toContain(`from=${from}&to=${to}`);
  await page.getByText('275 of 1,000 journeys clicked').waitFor();
  const rowOf = async (table: string, text: string) => {
    const row = page.getByRole('table', { name: table }).getByRole('row').filter({ hasText: text });
    return (await row.innerText()).replaceAll(/\s+/g, ' ').trim();
  };
  const clicksOfPerk = 'Foreign offer 1 1,000 275 +22.2% vs. before 27.5% 275 of 1,000 14% 140 of 1,000 –';
  const clicksOfSource = 'app 600 210 +75% vs. before 35% 120 20% –';
  expect(await rowOf('By perk', 'Foreign offer 1')).toContain(clicksOfPerk);
  expect(await rowOf('By source', 'app')).toBe(clicksOfSource);
  await page.goBack();
  await table.getByRole('link', { name: 'Foreign spring' }).waitFor();
  await page.goBack();
  await page.getByText('1,000 values or more').waitFor();

  // Links that nobody has sent yet change neither the verdict nor the rates of perks and sources.
  await makeLinks();
  await stage.goto(page, `/?from=${from}&to=${to}`);
  const linkOnly = '500 of the journeys got only a reward link; of the others, 27.5% clicked.';
  await waitFor(async () => {
    await page.reload();
    await page.locator('.headline b').first().waitFor();
    return (await page.innerText('.headline')).includes(linkOnly);
  }, 'the links');
  await page.getByText('The comparison leaves out journeys that got only a reward link').waitFor();
  const leavingOut = ([first, ...others]: string[]) => [
    first!.replace(
      /better (\S+) of journeys /,
      'better Leaving out journeys that got only a reward link, $1 ',
    ),
    ...others,
  ];
  expect(await verdictOf(page, 'clickers')).toEqual(leavingOut(clickCauses));
  expect(await rows()).toEqual(bySource);
  await stage.goto(page, `/campaigns/${stage.theirs.campaign}?from=${from}&to=${to}`);
  await page.getByText(linkOnly).waitFor();
  expect(await rowOf('By perk', 'Foreign offer 1')).toContain(clicksOfPerk);
  expect(await rowOf('By source', 'app')).toBe(clicksOfSource);
  expect(await rowOf('By source', 'No source')).toContain('0 0 – 0 – –');
  await page.getByText('pixels in mails name none, so there is no rate of clicks per view').waitFor();
  expect(await violations(page)).toEqual([]);
  await screenshot(page, 'campaign-before');
  // Explore counts these journeys, and says so.
  await page.getByRole('table', { name: 'By source' }).getByRole('link', { name: 'No source' }).click();
  expect(await factsOf(6)).toMatch(
    /^Journeys 500 0 before Got only a reward link 500 0 before Clicked 0 0 before /,
  );
  await page.getByText('leave them out: there these are 0 journeys').waitFor();

  // A report names the same sources and perks.
  const body = {
    ...{ campaignId: stage.theirs.campaign, range: { from, to }, title: 'Causes' },
    expiresAt: new Date(Date.now() + 86_400_000).toISOString(),
  };
  const { url } = await page.evaluate<{ url: string }>(
    `fetch('/api/reports', { method: 'POST', headers: { 'content-type': 'application/json' }, body: ${JSON.stringify(JSON.stringify(body))} }).then((response) => response.json())`,
  );
  const reader = await context.newPage();
  await reader.goto(url);
  await reader.getByText(linkOnly).waitFor();
  expect(await verdictOf(reader, 'clickers')).toEqual(leavingOut(causes.clickers));
  expect(await verdictOf(reader, 'converters')).toEqual(leavingOut(causes.converters));
  for (const name of ['Clicked / all journeys', 'Converted / all journeys'])
    await reader.getByRole('table', { name: 'By perk' }).getByRole('columnheader', { name }).waitFor();
  await screenshot(reader, 'report-causes');
  // The app's rate fell, but more journeys came from it; and a report of an earlier release.
  await reader.route('**/api/reports/read', async (route) => {
    const report = await (await route.fetch()).json();
    const [app, mail] = ['app', 'mail'].map((name) =>
      report.by_source.find((row: { utm_source: string }) => row.utm_source === name),
    );
    Object.assign(app, { clickers: 273, journeys: 800, clickers_before: 80, journeys_before: 200 });
    Object.assign(mail, { clickers: 2, journeys: 200, clickers_before: 145, journeys_before: 800 });
    await route.fulfill({ json: report });
  });
  await reader.reload();
  await reader
    .getByText(
      'Mostly because of the source app: 34.1% clicked, 40% before (+4.3 points, from its share of the journeys).',
    )
    .waitFor();
  await reader.unroute('**/api/reports/read');
  await reader.route('**/api/reports/read', async (route) => {
    const { by_day_before: _, ...report } = await (await route.fetch()).json();
    for (const row of [...report.by_source, ...report.by_perk])
      for (const name of Object.keys(row)) if (name.endsWith('_before')) delete row[name];
    await route.fulfill({ json: report });
  });
  await reader.reload();
  const earlier = reader.locator('[data-outcome=clickers][data-verdict=better]');
  await earlier.waitFor();
  expect(await earlier.getByRole('listitem').count()).toBe(0);
  expect(await reader.locator('.legend').allInnerTexts()).toEqual(Array(3).fill('These dates'));
}, 180_000);

it('leads from a figure to the events behind it, and back', async () => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const page = await stage.signIn(context);
  await stage.goto(page, `/campaigns/${stage.mine.campaign}`);
  await page.getByRole('table', { name: 'By perk' }).getByRole('link', { name: 'Harbour offer 1' }).click();
  await page.getByRole('heading', { level: 1, name: 'Explore' }).waitFor();
  const conditions = page.getByRole('list', { name: 'Filters' }).getByRole('listitem');
  await conditions.nth(1).waitFor();
  expect(await conditions.allInnerTexts()).toEqual([
    `Campaign ID: ${stage.mine.campaign} ×`,
    `Perk ID: ${stage.mine.perks[0]} ×`,
  ]);
  const table = page.getByRole('table', { name: 'Table' });
  await table.getByRole('row').nth(1).getByRole('link').first().click();
  await waitFor(async () => /from=(.{10})&to=\1/.test(page.url()), 'the day in the URL');
  await page.getByRole('button', { name: 'Copy link' }).click();
  await untilSaid(page, 'Copied');
  const copied = await clipboardOf(context);
  expect(copied).toContain(`where=perk_id%3A${stage.mine.perks[0]}`);
  // Some browsers and policies do not allow a page to copy.
  await page.evaluate("navigator.clipboard.writeText = () => Promise.reject(new Error('not allowed'))");
  await page.getByRole('button', { name: 'Copy link' }).click();
  await page.getByLabel('Text to copy').waitFor();
  const field = page.getByLabel('Text to copy');
  expect(await field.inputValue()).toBe(copied);
  const lengthOf = ({ selectionStart, selectionEnd }: Record<string, number>) =>
    selectionEnd! - selectionStart!;
  expect(await field.evaluate(lengthOf)).toBe(copied.length);
  expect(await violations(page)).toEqual([]);
  const colleague = await context.newPage();
  await colleague.goto(copied);
  await untilShown(colleague);
  const text = 'Perk ID: Harbour-perk-1 ×';
  await colleague.getByRole('list', { name: 'Filters' }).getByText(text).waitFor();
  await colleague.close();
  await page.getByRole('link', { name: 'Remove the filter Perk ID: Harbour-perk-1' }).click();
  await waitFor(async () => (await conditions.count()) === 1, 'one filter less');
  for (let back = 0; back < 3; back += 1) await page.goBack();
  await page.getByRole('heading', { level: 1, name: 'Harbour spring' }).waitFor();
  await stage.goto(page, '/');
  await page.locator('.figures').getByRole('link', { name: 'In campaigns' }).click();
  await page.getByRole('heading', { level: 1, name: 'Explore' }).waitFor();
}, 120_000);

it('keeps the dates and the question in the address, so that Back returns to them', async () => {
  const page = await stage.signIn(context, stage.mine.key, '/campaigns');
  await page.getByRole('combobox', { name: 'Dates' }).selectOption('Last 7 days');
  await page.getByRole('link', { name: 'Harbour autumn' }).click();
  await page.getByRole('heading', { level: 1, name: 'Harbour autumn' }).waitFor();
  expect(page.url()).toContain('dates=7');
  await page.getByRole('link', { name: 'Links opened' }).click();
  await page.getByRole('heading', { level: 1, name: 'Explore' }).waitFor();
  const bars = page.getByRole('list', { name: 'Links' }).getByRole('listitem');
  await bars.getByText('EUR').waitFor();
  expect((await bars.first().innerText()).replaceAll(/\s+/g, ' ')).toBe('EUR · 25 1');
  // Not `check()`, because the page renders the new address later.
  await page.getByLabel('Journeys: each journey counts once').click();
  await page.getByRole('list', { name: 'Journeys' }).waitFor();
  await page.goBack();
  await page.getByRole('list', { name: 'Journeys' }).waitFor({ state: 'detached' });
  await page.goBack();
  await page.getByRole('link', { name: 'Campaigns', exact: true }).last().click();
  await page.getByRole('heading', { level: 1, name: 'Campaigns' }).waitFor();
  expect(await page.getByRole('combobox', { name: 'Dates' }).inputValue()).toBe('7');
  await page.goto(`${stage.url}/gift-cards`);
  await page.getByRole('link', { name: 'Links of this pool' }).first().click();
  await page.getByRole('heading', { level: 1, name: 'Reward links' }).waitFor();
  expect(await page.getByLabel('Pool').inputValue()).toMatch(/^[\da-f-]{36}$/);
}, 120_000);

it('makes the first link where the list of links is empty', async () => {
  const { account, key } = await stage.fleet.anAccount();
  const [pool, gifts] = [randomUUID(), stage.fleet.admin('gift-cards')];
  await gifts
    .put(`/admin/pools/${pool}`)
    .send({ owner: account, product: { name: 'First stock' } })
    .expect(200);
  await gifts
    .post(`/admin/pools/${pool}/cards`)
    .set('content-type', 'text/csv')
    .send('code,pin,denomination,currency,country\nfirst-1,,20,EUR,FR\nfirst-2,,20,EUR,FR')
    .expect(200);
  const page = await stage.signIn(context, key, '/reward-links');
  await page.getByText('No reward links yet').waitFor();
  expect(await violations(page)).toEqual([]);
  await page.getByRole('button', { name: 'Make one link' }).click();
  await page.getByRole('button', { name: 'Make link', exact: true }).click();
  // The link is shown only once, also when the list is not empty any more.
  await page.getByText('The link is ready').waitFor();
  await page.getByRole('table', { name: 'Reward links' }).waitFor({ state: 'attached' });
  await page.locator('[data-secret]').waitFor();
  await page.getByRole('button', { name: 'Close' }).click();
  await page.getByLabel('State').selectOption('Expired or cancelled');
  await page.getByText('No link matches').waitFor();
}, 120_000);

it('begins with a question about what people did', async () => {
  const page = await stage.signIn(context, stage.mine.key, '/explore?dates=90');
  const bars = page.getByRole('list', { name: 'Clicks', exact: true }).getByRole('listitem');
  await bars.getByText('Harbour offer 1').waitFor();
  expect(await page.getByLabel('Leave out bots').isChecked()).toBe(true);
  expect(await page.getByLabel('Perk', { exact: true }).isChecked()).toBe(true);
  expect(await page.getByLabel('Perk ID').isVisible()).toBe(false);
  await page.getByText('Ids and other details').click();
  expect(await page.getByLabel('Perk ID').isChecked()).toBe(false);
  const cube = (of: Page) => of.getByLabel('What to count', { exact: true });
  expect(await cube(page).inputValue()).toBe('incentive_clicks');
  await page.getByLabel('Journeys: each journey counts once').click();
  await page.getByRole('list', { name: 'Journeys' }).waitFor();
  expect(new URL(page.url()).search).toBe(
    '?dates=90&cube=incentive_clicks&dimensions=perk_title&steps=none&people=yes&measures=count_people%2Cjourneys',
  );
  // An account whose campaigns have no clicks begins with its collections.
  const { account, key } = await stage.fleet.anAccount();
  await stage.fleet.database.query(
    `insert into analytics.tracking_events (account_id, occurred_at, id, type, perk_id, collection_id, traffic_class, traffic_reason)
     values ($1, now() - interval '1 minute', 'first-click', 'perk_click', $2, 'picks', 'human', 'test')`,
    [account, stage.mine.perks[0]],
  );
  const other = await stage.signIn(await stage.window(), key, '/explore');
  try {
    await other.getByRole('list', { name: 'Clicks', exact: true }).getByText('Harbour offer 1').waitFor();
    expect(await cube(other).inputValue()).toBe('perk_clicks');
  } finally {
    await other.context().close();
  }
}, 120_000);

it('suggests questions, and gives each as a query of the API', async () => {
  const page = await stage.signIn(context, stage.mine.key, '/explore');
  await page.getByRole('list', { name: 'Clicks', exact: true }).waitFor();
  await page.getByRole('navigation', { name: 'Questions to start with' }).getByText('clicked most').click();
  const bars = page.getByRole('list', { name: 'Clicks', exact: true }).getByRole('listitem');
  await bars.first().waitFor();
  await page.getByText('This question for developers').click();
  const query = JSON.parse(await page.innerText('[data-query="Query"]'));
  const rows = await stage.request(stage.mine, query);
  expect((await bars.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' ').trim())).toEqual(
    rows.map((row) => `${row['incentive_clicks.perk_title']} ${row['incentive_clicks.count_people']}`),
  );
  expect(await page.innerText('[data-query="curl"]')).toContain(
    `curl -G -H "Authorization: $TOKEN" ${stage.fleet.urls['analytics-query']}/cubejs-api/v1/load`,
  );
  await screenshot(page, 'explore-query');
}, 120_000);

it('saves a question for the account, and leads to it by its address', async () => {
  const page = await stage.signIn(
    context,
    stage.mine.key,
    '/explore?cube=incentive_clicks&measures=count_people&dimensions=perk_title&steps=none',
  );
  const saved = page.getByRole('list', { name: 'Saved questions' });
  const name = 'The perks that people clicked most in all campaigns';
  await page.getByText('No question is saved yet').waitFor();
  await page.getByRole('button', { name: 'Save this question' }).click();
  await page.getByLabel('Name', { exact: true }).fill(name);
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await saved.getByRole('link', { name }).waitFor();
  const colleague = await stage.signIn(
    await stage.window({ viewport: { width: 1280, height: 900 } }),
    stage.mine.key,
    '/explore',
  );
  try {
    await colleague.getByRole('link', { name }).click();
    await colleague.getByRole('list', { name: 'Clicks', exact: true }).getByText('Harbour offer 1').waitFor();
    expect(colleague.url()).toContain('dates=30');
    await screenshot(colleague, 'explore-saved');
    await colleague.setViewportSize({ width: 360, height: 740 });
    expect(await scrollsSideways(colleague)).toBe(false);
    await colleague.getByRole('button', { name: `Delete ${name}` }).click();
    await colleague.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    await colleague.getByText('No question is saved yet').waitFor();
  } finally {
    await colleague.context().close();
  }
}, 120_000);
