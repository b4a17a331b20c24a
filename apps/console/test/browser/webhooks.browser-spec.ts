import { TRACKING_EVENT_VERSION, type CampaignViewEvent } from '@perkway/domain';
import { http, scrollsSideways, violations, waitFor } from '@perkway/testing';
import type { BrowserContext, Page } from 'playwright-core';
import { ConsoleStage, neverShow, screenshot, untilSaid } from './console-stage';
import { publishEvents } from './random-events';

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
const confirm = (page: Page, name: string) =>
  page.getByRole('alertdialog').getByRole('button', { name, exact: true }).click();

async function expectNoFault(page: Page, name: string): Promise<void> {
  expect([name, await violations(page)]).toEqual([name, []]);
  await screenshot(page, name);
  await page.setViewportSize({ width: 360, height: 740 });
  expect([name, await scrollsSideways(page)]).toEqual([name, false]);
  await screenshot(page, `${name}-360`);
  await page.setViewportSize({ width: 1280, height: 900 });
}

/** Takes the secret that a dialog shows; from then on no screenshot may have it. */
async function takeSecret(page: Page, name: string): Promise<string> {
  const secret = await page.locator('[data-secret]').innerText();
  expect(secret).toMatch(/^whsec_/);
  await expectNoFault(page, name);
  neverShow(secret);
  await button(page, 'I have copied it').click();
  await page.locator('[data-secret]').waitFor({ state: 'detached' });
  expect(await page.content()).not.toContain(secret);
  return secret;
}

describe('a webhook', () => {
  it('is created with its secret shown once, pinged, changed, disabled, enabled and deleted', async () => {
    const page = await stage.signIn(context);
    await stage.goto(page, '/integration/webhooks');
    await button(page, 'Create webhook').click();
    await dialog(page).getByLabel('URL').fill('https://10.0.0.1/hook');
    await dialog(page).getByLabel('Id').fill('gifts');
    await dialog(page).getByLabel('All events').uncheck();
    await dialog(page).getByLabel('Limit reached').waitFor();
    // No app sends it.
    expect(await dialog(page).getByLabel('Stock low').count()).toBe(0);
    await dialog(page).getByRole('button', { name: 'Create webhook' }).click();
    await dialog(page).getByText('Choose at least one type.').waitFor();
    await dialog(page).getByLabel('Gift card opened').check();
    await dialog(page).getByRole('button', { name: 'Create webhook' }).click();
    await dialog(page).getByText('Must not lead to a private').waitFor();
    expect(await dialog(page).getByLabel('URL').getAttribute('aria-invalid')).toBe('true');
    expect(await page.evaluate('document.activeElement.type')).toBe('url');
    await expectNoFault(page, 'webhook-url-refused');
    await dialog(page).getByLabel('URL').fill(stage.receiverUrl('/accept'));
    await dialog(page).getByRole('button', { name: 'Create webhook' }).click();
    await takeSecret(page, 'webhook-secret-shown-once');

    await page.getByRole('heading', { level: 1, name: 'gifts' }).waitFor();
    await page.getByText('No deliveries yet').waitFor();
    await button(page, 'Send ping').click();
    await page.getByRole('row', { name: /webhook\.ping .*Delivered 1 204/ }).waitFor();
    await screenshot(page, 'webhook-pinged');

    await button(page, 'Edit').click();
    await dialog(page).getByLabel('Link expired').check();
    await dialog(page).getByLabel('Keep the order').check();
    await dialog(page).getByRole('button', { name: 'Save' }).click();
    await untilSaid(page, 'Saved');
    await page.locator('dd', { hasText: 'reward_link.expired' }).waitFor();
    await page.locator('dd', { hasText: 'By subject' }).waitFor();

    await page.getByRole('switch', { name: 'Enabled' }).press('Space');
    await confirm(page, 'Disable');
    await page.getByText('Nothing is delivered to it but pings').waitFor();
    expect(await button(page, 'Replay…').isDisabled()).toBe(true);
    await page.getByRole('switch', { name: 'Enabled' }).press('Space');
    await untilSaid(page, 'The webhook is enabled.');

    await button(page, 'Delete').click();
    await confirm(page, 'Delete');
    await untilSaid(page, 'The webhook is deleted.');
    await page.getByRole('link', { name: 'orders' }).waitFor();
    expect(await page.getByRole('link', { name: 'gifts' }).count()).toBe(0);
  }, 180_000);

  it('is not overwritten by a form that began with an older version, and can be changed after that', async () => {
    const [page, other] = [await stage.signIn(context), await context.newPage()];
    const description = (of: Page) => dialog(of).getByLabel('Description');
    for (const each of [page, other]) {
      await stage.goto(each, '/integration/webhooks/orders');
      await button(each, 'Edit').click();
    }
    await description(other).fill('Theirs');
    await button(other, 'Save').click();
    await untilSaid(other, 'Saved');
    await description(page).fill('Mine');
    await button(page, 'Save').click();
    await dialog(page).getByText('Somebody else has changed this in the meantime.').waitFor();
    await button(page, 'Cancel').click();
    await page.locator('dd', { hasText: 'Theirs' }).waitFor();
    await button(page, 'Edit').click();
    expect(await description(page).inputValue()).toBe('Theirs');
    await description(page).fill('Mine');
    await button(page, 'Save').click();
    await untilSaid(page, 'Saved');
    // The other page still has the version before.
    await other.getByRole('switch', { name: 'Enabled' }).press('Space');
    await confirm(other, 'Disable');
    await other.getByRole('alertdialog').getByText('Somebody else has changed this').waitFor();
    await other.locator('dd', { hasText: 'Mine' }).waitFor({ state: 'attached' });
    await confirm(other, 'Disable');
    await untilSaid(other, 'The webhook is disabled.');
    await other.getByText('Nothing is delivered to it but pings').waitFor();
    await other.getByRole('switch', { name: 'Enabled' }).press('Space');
    await untilSaid(other, 'The webhook is enabled.');
  }, 120_000);

  it('gets a new secret, shown once, while the previous one still signs', async () => {
    const page = await stage.signIn(context);
    await stage.goto(page, '/integration/webhooks/orders');
    await button(page, 'Rotate secret').click();
    await page.getByText('signed with both, the old and the new one, for 24 hours').waitFor();
    await confirm(page, 'Rotate secret');
    await takeSecret(page, 'webhook-secret-rotated');
  }, 120_000);

  it('shows why a delivery failed, and retries it', async () => {
    const page = await stage.signIn(context);
    await stage.goto(page, '/integration/webhooks/crm');
    await page.getByLabel('State').selectOption('Failed');
    await page.getByText('No delivery is in this state.').waitFor();
    await page.getByLabel('State').selectOption('Pending');
    const row = page.getByRole('row', { name: /conversion\.recorded .*Retrying \d 503/ });
    await row.waitFor();
    const attempts = async () => Number(await row.getByRole('cell').nth(1).innerText());
    const before = await attempts();
    await row.getByRole('button', { name: /^Retry/ }).click();
    await untilSaid(page, 'The event is sent again now.');
    await waitFor(async () => (await attempts()) > before, 'one more attempt');
    await row.getByRole('button', { name: /^JSON/ }).click();
    await dialog(page).getByText('"type": "conversion.recorded"').waitFor();
    await expectNoFault(page, 'delivery-json');
    await stage.goto(page, '/integration/webhooks');
    await page.getByRole('row', { name: /crm.*Failing since/ }).waitFor();
  }, 120_000);

  it('says when and why Perkway disabled it', async () => {
    const page = await stage.signIn(context);
    await stage.goto(page, '/integration/webhooks/former');
    await page.getByRole('heading', { name: /^Perkway disabled this webhook on / }).waitFor();
    await page.getByText('410 Gone').waitFor();
    await stage.goto(page, '/integration/webhooks');
    await page.getByRole('row', { name: /former.*Disabled by Perkway/ }).waitFor();
  }, 120_000);

  it('gets the stored events of a time range again after a confirmation', async () => {
    const page = await stage.signIn(context);
    await stage.goto(page, '/integration/webhooks/orders');
    await button(page, 'Replay…').click();
    await dialog(page).getByLabel('Which time').selectOption('Custom times');
    await dialog(page).getByLabel('From').fill('2026-01-02T10:00');
    await dialog(page).getByLabel('Until').fill('2026-01-02T11:00');
    await button(page, 'Continue').click();
    await dialog(page).getByText('from 2 Jan 2026, 10:00 until 2 Jan 2026, 11:00 again').waitFor();
    await expectNoFault(page, 'webhook-replay-confirm');
    await button(page, 'Replay').click();
    await untilSaid(page, 'No event of its types is stored for this time.');
    await button(page, 'Replay…').click();
    await button(page, 'Continue').click();
    await button(page, 'Replay').click();
    await untilSaid(page, 'events are on the way.');
  }, 120_000);

  it('is rejected if the account has 20, or if its id is taken', async () => {
    for (let nth = 4; nth <= 20; nth += 1) await stage.aWebhook(stage.theirs, `webhook-${nth}`, '/accept');
    const page = await stage.signIn(context, stage.theirs.key);
    await stage.goto(page, '/integration/webhooks');
    await button(page, 'Create webhook').click();
    await dialog(page).getByLabel('URL').fill(stage.receiverUrl('/accept'));
    await dialog(page).getByLabel('Id').fill('orders');
    await dialog(page).getByRole('button', { name: 'Create webhook' }).click();
    await dialog(page).getByText('“orders” already exists').waitFor();
    await dialog(page).getByLabel('Id').fill('one-too-many');
    await dialog(page).getByRole('button', { name: 'Create webhook' }).click();
    await dialog(page).getByText('Your account has the maximum of 20 webhooks').waitFor();
  }, 120_000);

  it('leaves every change in the audit log, without a secret', async () => {
    const { account } = stage.mine;
    const { body } = await stage.fleet
      .admin('token-issuer')
      .post(`/admin/accounts/${account}/keys`)
      .send({ role: 'ADMIN', name: 'Operator of the client' })
      .expect(201);
    const page = await stage.signIn(context, body.key);
    await stage.goto(page, '/integration/webhooks/orders');
    await button(page, 'Send ping').click();
    await untilSaid(page, 'The ping is on its way.');
    await button(page, 'Rotate secret').click();
    await confirm(page, 'Rotate secret');
    await takeSecret(page, 'webhook-secret-rotated');
    await stage.goto(page, '/audit-log');
    await page.getByText('Sent a ping to webhook orders').first().waitFor();
    await page.getByText('Rotated the secret of webhook orders').first().waitFor();
    await screenshot(page, 'audit-log-webhooks');
  }, 120_000);
});

describe('the events', () => {
  it('are filtered by type and subject, shown as JSON and sent again', async () => {
    const page = await stage.signIn(context);
    await stage.goto(page, '/integration/events');
    const rows = page.getByRole('table', { name: 'Events' }).getByRole('row');
    expect(await rows.nth(1).innerText()).toContain('conversion.recorded');
    await page.getByLabel('Type').selectOption('incentive.clicked');
    await page.getByText('The latest 4 events that match').waitFor();
    await page.getByRole('button', { name: 'journey/journey-0' }).first().click();
    await page.getByText('The latest 2 events that match').waitFor();
    expect(new URL(page.url()).search).toBe('?type=incentive.clicked&subject=journey%2Fjourney-0');
    await button(page, 'JSON: Perk of a campaign clicked, journey/journey-0').first().click();
    await dialog(page).getByText('"campaign_id": "Harbour-campaign"').waitFor();
    await expectNoFault(page, 'event-json');
    await dialog(page).getByRole('button', { name: 'Close' }).click();

    await button(page, 'Send again: Perk of a campaign clicked, journey/journey-0').first().click();
    expect(await dialog(page).getByLabel('Webhook').innerText()).not.toContain('former');
    await dialog(page).getByLabel('Webhook').selectOption('orders');
    await expectNoFault(page, 'event-send-again');
    await dialog(page).getByRole('button', { name: 'Send again' }).click();
    await untilSaid(page, 'The event is on its way to orders.');

    await page.getByLabel('Subject').fill('journey/nobody');
    await page.getByText('No events').waitFor();
  }, 120_000);

  it('appear automatically while auto-refresh is on, and once on request', async () => {
    const page = await stage.signIn(context);
    await stage.goto(page, '/integration/events?type=teaser.viewed');
    const shown = (count: number) => page.getByText(`The latest ${count} events that match`).waitFor();
    const view = (journeyId: string) => stage.track(stage.mine, { event: 'teaser_view', journeyId });
    await shown(6);
    await button(page, 'Look for newer events').click();
    await button(page, 'Waiting for events…').waitFor();
    await view('journey-asked');
    await shown(7);
    await page.getByRole('button', { name: 'journey/journey-asked', exact: true }).waitFor();
    await page.getByText('Auto-refresh off').waitFor();
    await page.getByRole('switch', { name: 'Auto-refresh' }).press('Space');
    await page.getByText('Auto-refresh on').waitFor();
    await view('journey-live-1');
    await shown(8);
    await view('journey-live-2');
    await shown(9);
    expect(await page.getByRole('rowheader').count()).toBe(9);
    expect(await page.getByRole('row').nth(1).innerText()).toContain('journey-live-2');
  }, 120_000);

  it('are in the order in which they were received, with the time at which they occurred', async () => {
    const { account, key } = await stage.fleet.anAccount();
    neverShow(key);
    const view = (journey: string, at: number): CampaignViewEvent => ({
      v: TRACKING_EVENT_VERSION,
      type: 'teaser_view',
      id: journey,
      account,
      at,
      campaign: 'spring',
      journey,
      channel: 'outreach',
    });
    const now = Date.now();
    const late = Array.from({ length: 100 }, (_, nth) => view(`journey-late-${nth}`, now - 3_600_000 - nth));
    await publishEvents(stage.fleet.nats.url, [view('journey-punctual', now), ...late]);
    const feed = http({ url: stage.fleet.urls.events! }, { key });
    await waitFor(async () => (await feed.get('/events?limit=1000')).body.data.length === 101, 'the events');
    const page = await stage.signIn(context, key);
    await stage.goto(page, '/integration/events');
    await page.getByText('newest received first').waitFor();
    await page.getByText('The latest 25 events that match, of those received since').waitFor();
    await page.getByRole('columnheader', { name: 'Occurred' }).waitFor();
    const rows = page.getByRole('table', { name: 'Events' }).getByRole('row');
    expect(await rows.nth(1).innerText()).toContain('journey-late-99');
    for (const count of [50, 75, 100]) {
      await button(page, 'Show more').click();
      await page.getByText(`The latest ${count} events`).waitFor();
    }
    expect(await rows.nth(100).innerText()).toContain('journey-late-0');
    // It occurred last and was received first.
    expect(await page.getByText('journey-punctual').count()).toBe(0);
  }, 120_000);

  it('show a note if a webhook never got one, and if there are none', async () => {
    const { key } = await stage.fleet.anAccount();
    neverShow(key);
    const page = await stage.signIn(context, key);
    await stage.goto(page, '/integration/events');
    await page.getByText('No events').waitFor();
    await expectNoFault(page, 'events-empty');
    await stage.goto(page, '/integration/webhooks');
    await page.getByText('No webhooks yet').waitFor();
    await expectNoFault(page, 'webhooks-empty');

    const late = http({ url: stage.fleet.urls.events! }, { key: stage.mine.key });
    const { body } = await late
      .put('/webhooks/late')
      .send({ url: stage.receiverUrl('/accept') })
      .expect(201);
    neverShow(body.secret);
    const others = await stage.window();
    const client = await stage.signIn(others);
    await stage.goto(client, '/integration/events?type=conversion.recorded');
    await button(client, 'Send again: Conversion recorded, journey/journey-0').click();
    await dialog(client).getByLabel('Webhook').selectOption('late');
    await dialog(client).getByRole('button', { name: 'Send again' }).click();
    await dialog(client).getByText('This webhook never got the event').waitFor();
    await late.delete('/webhooks/late').expect(204);
    await others.close();
  }, 120_000);
});

it('causes no browser errors', () => {
  expect(stage.complaints).toEqual([]);
});
