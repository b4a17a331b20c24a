import { randomUUID } from 'node:crypto';
import { http, scrollsSideways, violations, waitFor } from '@perkway/testing';
import type { BrowserContext, Page } from 'playwright-core';
import { ADMIN_KEY, ConsoleStage, screenshot } from './console-stage';

const stage = new ConsoleStage();
let context: BrowserContext;
beforeAll(() => stage.start(), 300_000);
afterAll(() => stage.stop());
beforeEach(async () => {
  context = await stage.window({ viewport: { width: 1280, height: 900 } });
});
afterEach(() => context.close());

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const dialog = (page: Page) => page.getByRole('dialog');
const gift = () => stage.fleet.admin('gift-cards');

/** Creates a link as the client account. */
async function aLink(page: Page, reference: string): Promise<string> {
  await stage.goto(page, '/gift-cards');
  await button(page, 'Make one link').click();
  await dialog(page).getByLabel('Reference').fill(reference);
  await button(page, 'Make link').click();
  const link = await page.locator('[data-secret]').innerText();
  await button(page, 'Close').click();
  return link;
}

/** What happened to the link that the drawer shows, without times. */
const timelineOf = async (page: Page) => {
  const items = page.getByRole('list', { name: 'What happened' }).getByRole('listitem');
  const texts = await items.evaluateAll((nodes) =>
    nodes.map((node) =>
      [...node.children].flatMap(({ tagName, textContent }) => (tagName === 'TIME' ? [] : textContent)),
    ),
  );
  return texts.map((parts) => parts.join(' '));
};
const untilTimeline = (page: Page, wanted: RegExp[]) =>
  waitFor(
    async () => {
      const found = await timelineOf(page);
      return found.length === wanted.length && wanted.every((each, index) => each.test(found[index]!));
    },
    `the timeline ${wanted.join(', ')}`,
  );
const replaceNow = async (page: Page, reason: string): Promise<string> => {
  await dialog(page).getByLabel('Reason').fill(reason);
  await dialog(page).getByRole('button', { name: 'Replace link' }).click();
  const link = await page.locator('[data-secret]').innerText();
  expect(link).toMatch(/#[\w-]{40,}$/);
  await button(page, 'Close').click();
  return link;
};

it('a support person replaces a lost link once, from two windows, and sees what happened to it', async () => {
  const page = await stage.signIn(context);
  const link = await aLink(page, 'order-1007');
  await page.getByRole('link', { name: 'Reward links', exact: true }).click();
  const find = page.getByLabel('Reference or id');
  await find.fill('order-1007');
  const other = await context.newPage();
  await stage.goto(other, '/reward-links?reference=order-1007');
  for (const each of [page, other]) {
    await button(each, 'Replace link: order-1007').click();
    await dialog(each)
      .getByText('The lost link of order-1007 stops working at once, and a new one worth €')
      .waitFor();
  }
  expect(await violations(page)).toEqual([]);
  await screenshot(page, 'reward-links-replace');
  const replacement = await replaceNow(page, 'Went to the wrong address');
  expect(replacement).not.toBe(link);
  expect(await replaceNow(other, 'Was lost')).toBe(replacement);
  await other.close();
  await page.getByText('Replaced', { exact: true }).waitFor();
  await page.getByText('Replacement', { exact: true }).waitFor();
  expect(await page.getByRole('rowheader').count()).toBe(2);
  expect(await page.content()).not.toContain(replacement.split('#')[1]);

  // The newest is first.
  await button(page, 'order-1007').nth(1).click();
  await untilTimeline(page, [/^Made by /, /^Cancelled by /, /^Replaced by link .* by .* “Went to the wrong/]);
  expect(await violations(page)).toEqual([]);
  await screenshot(page, 'reward-link');
  await page.setViewportSize({ width: 360, height: 740 });
  expect(await scrollsSideways(page)).toBe(false);
  await screenshot(page, 'reward-link-360');
  await page.setViewportSize({ width: 1280, height: 900 });
  const original = new URL(page.url()).searchParams.get('link')!;
  await dialog(page)
    .getByRole('button', { name: /^link / })
    .click();
  await untilTimeline(page, [/^Made in place of link .* by .* “Went to the wrong/]);
  await button(page, 'Close').click();
  await dialog(page).waitFor({ state: 'detached' });

  // The start of the id is the reference that the recipient sees.
  for (const id of [original, original.slice(0, 8)]) {
    await find.fill('order-1007');
    await waitFor(async () => (await page.getByRole('rowheader').count()) === 2, 'both links');
    await find.fill(id);
    await waitFor(async () => (await page.getByRole('rowheader').count()) === 1, `the link ${id}`);
    // With the time of the cancellation, so that the link has no last day any more.
    await page.getByRole('cell', { name: /^Cancelled.*\d\d:\d\d/ }).waitFor();
    expect(await page.locator('td[data-column="Works until"]').innerText()).toBe('–');
  }

  // Also a link whose card does not work.
  await stage.reveal(replacement);
  await stage.goto(page, '/reward-links?reference=order-1007&state=REVEALED');
  await button(page, 'order-1007').click();
  await dialog(page).getByText('Opened', { exact: true }).first().waitFor();
  // What the drawer is for stands out, not the button that closes it.
  expect(await dialog(page).locator('.button.main').allInnerTexts()).toEqual(['Replace']);
  await dialog(page).getByRole('button', { name: 'Replace link: order-1007' }).click();
  await page.getByText('If the card does not work: order-1007 gets another link worth €').waitFor();
  const form = page.getByRole('dialog', { name: 'Replace this link?' });
  await form.getByLabel('Reason').fill('The till rejected the code');
  await form.getByRole('button', { name: 'Replace link' }).click();
  const second = await page.locator('[data-secret]').innerText();
  expect([link, replacement]).not.toContain(second);
  await page
    .getByRole('dialog', { name: 'The new link is ready' })
    .getByRole('button', { name: 'Close' })
    .click();
  await untilTimeline(page, [/^Made in place of/, /^Opened by its recipient/, /^Replaced by/]);
}, 180_000);

it('names nobody for a link that the API cancelled a day before it was replaced', async () => {
  const page = await stage.signIn(context);
  await aLink(page, 'order-1008');
  await stage.goto(page, '/reward-links?reference=order-1008');
  await button(page, 'order-1008').click();
  const id = new URL(page.url()).searchParams.get('link')!;
  const { key } = stage.mine;
  await http({ url: stage.fleet.urls['gift-cards']! }, { key })
    .post(`/reward-links/${id}/cancel`)
    .expect(200);
  await stage.goto(page, '/reward-links?reference=order-1008');
  await button(page, 'Replace link: order-1008').click();
  await replaceNow(page, 'Asked for again');
  await stage.fleet.database.query(
    `update gift_cards.reward_links set created_at = created_at + interval '1 day' where replaces = $1`,
    [id],
  );
  await stage.goto(page, `/reward-links?link=${id}`);
  await untilTimeline(page, [/^Made by /, /^Cancelled$/, /^Replaced by link .* by /]);
  await dialog(page).getByText('It was cancelled through the API').waitFor();
}, 180_000);

it('an operator withdraws a recalled batch, sees its progress and which links had been opened', async () => {
  const { pool } = stage.mine;
  const rows = Array.from({ length: 30 }, (_, nth) => `Recalled-${nth},${nth},25,EUR,FR,2039-12-31,B-7`);
  await gift()
    .post(`/admin/pools/${pool}/cards`)
    .set('content-type', 'text/csv')
    .send(`code,pin,denomination,currency,country,valid_until,batch\n${rows.join('\n')}`)
    .expect(200);
  // Cards with an end of validity go first, so both links get cards of the batch.
  const clients = await stage.window();
  const client = await stage.signIn(clients);
  const opened = await aLink(client, 'recall-opened');
  await aLink(client, 'recall-waiting');
  await stage.reveal(opened);

  const page = await stage.signIn(context, ADMIN_KEY, `/pools/${pool}`);
  await page.getByText('No cards have been withdrawn.').waitFor();
  // Each upload leads to the form with its cards chosen, not those of the newest upload.
  await page
    .getByRole('button', { name: /^Withdraw these cards: / })
    .last()
    .click();
  const { searchParams } = new URL(page.url());
  expect(await dialog(page).getByLabel('Upload').inputValue()).toBe(searchParams.get('withdraw'));
  const newest = await dialog(page).getByLabel('Upload').locator('option').first().getAttribute('value');
  expect(newest).not.toBe(searchParams.get('withdraw'));
  await button(page, 'Cancel').click();
  expect(page.url()).not.toContain('withdraw=');
  await button(page, 'Withdraw cards').click();
  await dialog(page).getByLabel('Which cards').selectOption('A list of codes');
  await dialog(page).getByLabel('Reason').fill('Recalled by the issuer');
  await button(page, 'Review').click();
  await dialog(page).getByText('Enter 1 to 1,000 codes.').waitFor();
  await dialog(page).getByLabel('Which cards').selectOption('A batch');
  await dialog(page).getByText('Enter 1 to 1,000 codes.').waitFor({ state: 'detached' });
  await dialog(page).getByLabel('Batch', { exact: true }).fill('B-8');
  await button(page, 'Review').click();
  await dialog(page).getByText('No card of this pool matches.').waitFor();
  await dialog(page).getByLabel('Batch', { exact: true }).fill('B-7');
  await dialog(page).getByLabel('Cards on outstanding links').selectOption('Cancel these links now');
  expect(await violations(page)).toEqual([]);
  await screenshot(page, 'pool-withdraw');
  await button(page, 'Review').click();
  const confirm = page.getByRole('alertdialog');
  expect(await confirm.innerText()).toMatch(
    /Withdraw these cards of Harbour .+ \(Name of .+\) for good\?.+batch B-7\. 28 without a link \(€700\), 1 on outstanding links \(€25\), 1 opened\. .*Outstanding links to these cards stop working at once/s,
  );
  await screenshot(page, 'pool-withdraw-confirm');
  // Going back keeps what was entered.
  await confirm.getByRole('button', { name: 'Go back' }).click();
  expect(await dialog(page).getByLabel('Batch', { exact: true }).inputValue()).toBe('B-7');
  await button(page, 'Review').click();
  await confirm.getByRole('button', { name: 'Withdraw cards' }).click();
  await page.waitForSelector('[data-withdrawal="done"]', { timeout: 60_000 });
  const withdrawal = page.locator('[data-withdrawal]');
  expect(await withdrawal.innerText()).toContain(
    'Withdrawn: 29, of them from links that were cancelled: 1. Kept on links: 0. Opened before: 1.',
  );
  await withdrawal.locator('summary', { hasText: 'Links opened before (1)' }).click();
  await stage.goto(client, '/reward-links?reference=recall-opened');
  const linkId = withdrawal.getByRole('row').locator('code').first();
  const id = await linkId.innerText();
  await withdrawal.locator('summary', { hasText: 'Cancelled links (1)' }).click();
  const cancelled = await linkId.innerText();
  const { body } = await gift().get(`/admin/pools/${pool}/withdrawals`).expect(200);
  const links = { cancelled_links: [cancelled], redeemed_links: [id] };
  expect(body).toMatchObject([{ ...links, batch: 'B-7', reserved: 'cancel' }]);
  expect(await violations(page)).toEqual([]);
  await screenshot(page, 'pool-withdrawn');
  await button(page, 'Delete').click();
  await confirm.getByText('This pool has had cards, so it cannot be deleted.').waitFor();
  expect(await confirm.getByRole('button').allInnerTexts()).toEqual(['Go back']);
  await confirm.getByRole('button', { name: 'Go back' }).click();
  await page.setViewportSize({ width: 360, height: 740 });
  expect(await scrollsSideways(page)).toBe(false);
  await waitFor(async () => {
    await stage.goto(client, '/reward-links?reference=recall-waiting');
    return (await client.getByRole('cell', { name: 'Cancelled' }).count()) === 1;
  }, 'the cancelled link');
  // From the withdrawal, the operator finds whom the link is for.
  await button(page, cancelled.slice(0, 8)).click();
  await dialog(page).getByText('recall-waiting').waitFor();
  await button(client, 'recall-waiting').click();
  await untilTimeline(client, [/^Made by /, /^Its card was withdrawn/, /^Cancelled/]);
  expect(await dialog(client).getByText('It was cancelled through the API').count()).toBe(0);

  // An upload that was withdrawn says so, and offers nothing more.
  const upload = await gift()
    .post(`/admin/pools/${pool}/cards`)
    .set('content-type', 'text/csv')
    .send('code,denomination,currency,country\nRecalled-alone,25,EUR,FR')
    .expect(200);
  await gift()
    .post(`/admin/pools/${pool}/withdrawals`)
    .set('Idempotency-Key', randomUUID())
    .send({ reason: 'Printed twice', load_id: upload.body.load_id, reserved: 'keep' })
    .expect(202);
  await button(page, 'Close').click();
  await button(page, 'Stop viewing').click();
  await page.getByRole('heading', { level: 1, name: stage.mine.account }).waitFor();
  await stage.goto(page, `/pools/${pool}`);
  const withdrawn = page.locator('[data-load]').first();
  await withdrawn.getByText(/^A withdrawal of its cards began .*: Printed twice\.$/).waitFor();
  expect(await withdrawn.getByRole('button', { name: 'Withdraw these cards' }).count()).toBe(0);
  await clients.close();
}, 240_000);
