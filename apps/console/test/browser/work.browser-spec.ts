import { http, scrollsSideways, violations, waitFor } from '@perkway/testing';
import { randomUUID } from 'node:crypto';
import type { BrowserContext, Page } from 'playwright-core';
import {
  ADMIN_KEY,
  cardRows,
  clipboardOf,
  ConsoleStage,
  HUMAN,
  perkBody,
  screenshot,
  untilSaid,
  untilShown,
} from './console-stage';

const stage = new ConsoleStage();
let context: BrowserContext;
beforeAll(() => stage.start(), 300_000);
afterAll(() => stage.stop());
beforeEach(async () => {
  context = await stage.window({ acceptDownloads: true, viewport: { width: 1280, height: 900 } });
});
afterEach(() => context.close());

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
/** Focuses each field of the form near the bottom of the window, and lists those that the sticky buttons then cover. */
const COVERED_FIELDS = `[...document.querySelectorAll('form:has(.form-end) .field')].flatMap((field) => {
  const input = field.querySelector('input:not([type=file]), textarea');
  if (!input) return [];
  return [0, 70, 100, 130].flatMap((above) => {
    document.activeElement.blur();
    window.scrollBy(0, input.getBoundingClientRect().bottom - innerHeight + above);
    input.focus();
    const { top } = field.closest('form').querySelector('.form-end').getBoundingClientRect();
    return field.getBoundingClientRect().bottom > top ? [field.textContent] : [];
  });
})`;
/** Events of days on the operators' home. */
const SAME_DAY = { day_events: 10, day_events_before: 10 };
const SILENT_DAY = { day_events: 0, day_events_before: 150 };
const dialog = (page: Page) => page.getByRole('dialog');

async function downloaded(page: Page, click: Promise<unknown>): Promise<string[]> {
  const [file] = await Promise.all([page.waitForEvent('download', { timeout: 60_000 }), click]);
  let text = '';
  for await (const chunk of await file.createReadStream()) text += String(chunk);
  return text.trim().split(/\r?\n/);
}

/** Inserts clicks of the previous month directly, because tracking cannot backdate events. */
async function insertClicksOfLastMonth(): Promise<void> {
  const { account, campaign, perks } = stage.mine;
  const today = new Date();
  const [from, to] = [1, 0].map((back) =>
    new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - back, 1)).toISOString(),
  ) as [string, string];
  const partition = `tracking_events_${from.slice(0, 7).replace('-', '_')}`;
  const { query } = stage.fleet.database;
  const [known] = await query(`select to_regclass('analytics.${partition}') is not null as exists`);
  if (!known!.exists)
    await query(
      `create table analytics.${partition} partition of analytics.tracking_events for values from ('${from}') to ('${to}')`,
    );
  await query(
    `insert into analytics.tracking_events
       (account_id, occurred_at, id, type, perk_id, campaign_id, journey_id, channel, traffic_class, traffic_reason)
     select $1, $2::timestamptz + interval '10 days' + n * interval '1 minute', 'past-' || n, 'incentive_click',
       case when n % 4 = 0 then $4 else $5 end, $3, 'past-' || n, 'outreach', 'human', 'test'
     from generate_series(1, 20) as n`,
    [account, from, campaign, perks[0], perks[2]],
  );
  await query(
    `insert into analytics.dirty_hours (account_id, hour)
     select $1, hour from generate_series($2::timestamptz, $3::timestamptz - interval '1 hour', interval '1 hour') as hour
     where hour < (select closing_to from analytics.rollup_state) on conflict do nothing`,
    [account, from, to],
  );
}

const file = (name: string, text: string) => ({ name, mimeType: 'text/csv', buffer: Buffer.from(text) });

describe('a marketing manager', () => {
  it('finds the best perk of last month and downloads its numbers', async () => {
    await insertClicksOfLastMonth();
    const page = await stage.signIn(context);
    await page.getByRole('link', { name: 'Campaigns', exact: true }).click();
    await page.getByRole('link', { name: 'Harbour spring' }).click();
    await page.getByRole('heading', { level: 1, name: 'Harbour spring' }).waitFor();
    await page.getByLabel('Dates', { exact: true }).last().selectOption('Last month');
    const best = page.getByRole('table', { name: 'By perk' }).getByRole('row').nth(1);
    await best.filter({ hasText: 'Harbour offer 3' }).waitFor();
    expect(await best.innerText()).toContain('15');
    // Cards that load above would move the button.
    await untilShown(page);
    expect(await downloaded(page, button(page, 'Perks as CSV').click())).toEqual([
      'Perk,Perk id,Views,Clicks,Clicks with bots,Clicked,Converted,Value',
      'Harbour offer 3,Harbour-perk-3,0,15,15,15,0,',
      'Harbour offer 1,Harbour-perk-1,0,5,5,5,0,',
      'Harbour offer 2,Harbour-perk-2,0,0,0,0,0,',
    ]);
  }, 120_000);

  it('puts a pixel and a link of a perk into a mail, and sees who opened it', async () => {
    // Uses the other account, because later tests check the figures of this one.
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const page = await stage.signIn(context, stage.theirs.key, `/campaigns/${stage.theirs.campaign}`);
    await page.getByRole('tab', { name: 'Send' }).click();
    const copied = async (name: string) => {
      await button(page, name).click();
      await untilSaid(page, 'Copied');
      return clipboardOf(context);
    };
    await page.getByRole('alert').filter({ hasText: 'Do not send these yet' }).waitFor();
    const suggested = page.locator('datalist option');
    await suggested.first().waitFor({ state: 'attached' });
    expect(await suggested.evaluateAll((all: { value: string }[]) => all.map(({ value }) => value))).toEqual([
      'mail',
    ]);
    await page.getByLabel('Your mailer').selectOption('Customer.io');
    // The links below let people redeem the perks.
    await page.locator('[data-snippet=reward]').waitFor();
    await page
      .getByLabel('The message', { exact: true })
      .selectOption('Only presents the perks, and leads to one of your pages: teaser pixel');
    await page.getByLabel('Source (utm_source)').fill('spring & sun');
    await waitFor(
      async () => (await page.innerText('[data-snippet=teaser]')).includes('utm_source=spring+%26+sun'),
      'the source in the pixel',
    );
    await page.getByLabel('Mailing (utm_campaign)').fill('May "news" & <more>');
    await page.getByLabel('Version (utm_content)').fill('B=2?');
    await waitFor(async () => {
      const shown = await page.innerText('[data-snippet=teaser]');
      return ['utm_campaign=May+%22news%22+%26+%3Cmore%3E', 'utm_content=B%3D2%3F'].every((part) =>
        shown.includes(part),
      );
    }, 'the name and the version of the mailing in the pixel');
    const placeholder = '{{ customer.id | url_encode }}';
    expect(await page.innerText('[data-snippet=placeholder]')).toBe(placeholder);
    const [pixel, link, url] = [
      await copied('Copy HTML: Teaser pixel'),
      await copied('Copy HTML: Foreign offer 2'),
      await copied('Copy URL: Foreign offer 2'),
    ];
    expect(link).toContain(`&amp;journeyId=${placeholder}">Foreign offer 2</a>`);
    expect(url).toContain(`&journeyId=${placeholder}`);
    const all = await copied('Copy all 3 as HTML');
    expect(all.split('\n')[1]).toBe(link);
    expect(all.match(/<a href/g)).toHaveLength(3);
    await page.getByText('Recipients see the “Name for recipients” of your account.').waitFor();
    // Clicks of other mailings are no test of this one.
    await page.getByText('Nothing arrived in the last hour.').waitFor();
    await screenshot(page, 'campaign-send');

    // The mailer leaves the placeholder in a preview.
    const follow = async (to: string) => {
      const { status } = await fetch(to, { headers: { 'user-agent': 'curl/8.5.0' }, redirect: 'manual' });
      expect(status).toBe(302);
    };
    await follow(url);
    const notReplaced = page.getByRole('alert').filter({ hasText: 'has not replaced the placeholder' });
    await waitFor(async () => {
      await button(page, 'Refresh').click();
      return notReplaced.isVisible();
    }, 'the warning about the placeholder');
    await page.getByText(`Last click: perk Foreign offer 2, recipient’s id “${placeholder}”.`).waitFor();
    expect(await violations(page)).toEqual([]);
    await screenshot(page, 'campaign-send-placeholder');

    // Fills in the placeholder as the mailer does for one recipient, and opens the mail in a browser.
    const recipient = 'ann & bob=1';
    const filled = (html: string) => html.replace(placeholder, encodeURIComponent(recipient));
    // A script follows the link first, so the step says why the results leave out the click.
    await follow(filled(url));
    await stage.untilCounted(stage.theirs, 'incentive_clicks.count', 1, {
      filters: [{ member: 'incentive_clicks.journey_id', operator: 'equals', values: [recipient] }],
    });
    await button(page, 'Refresh').click();
    const leftOut = page.getByText('The results leave out the last click: it came from a bot or a script');
    await leftOut.filter({ hasText: '(user-agent:curl)' }).waitFor();
    const mail = await (await stage.window({ userAgent: HUMAN })).newPage();
    const loaded = mail.waitForResponse((response) => response.url().includes('tracking-pixel'));
    await mail.setContent(
      `<!doctype html><html><body><table role="presentation" width="600"><tr><td>${filled(pixel)}</td></tr>
       <tr><td>Dear Ann, ${filled(link)}</td></tr></table></body></html>`,
    );
    expect((await loaded).status()).toBe(200);
    const offer = mail.waitForRequest('https://fernway.example/**');
    await mail.getByRole('link', { name: 'Foreign offer 2' }).click();
    await offer;
    await mail.context().close();
    for (const cube of ['teaser_views', 'incentive_clicks'])
      await stage.untilCounted(stage.theirs, `${cube}.count_people`, 1, {
        filters: [
          { member: `${cube}.journey_id`, operator: 'equals', values: [recipient] },
          { member: `${cube}.utm_source`, operator: 'equals', values: ['spring & sun'] },
          { member: `${cube}.utm_campaign`, operator: 'equals', values: ['May "news" & <more>'] },
          { member: `${cube}.utm_content`, operator: 'equals', values: ['B=2?'] },
        ],
      });
    await button(page, 'Refresh').click();
    await page.getByText(/^Last view \S+( [AP]M)?, last click \S+( [AP]M)?\.$/).waitFor();
    await leftOut.waitFor({ state: 'detached' });
    await notReplaced.waitFor({ state: 'detached' });
    await page.getByText(`Last view: recipient’s id “${recipient}”.`).waitFor();
    await page.getByText(`Last click: perk Foreign offer 2, recipient’s id “${recipient}”.`).waitFor();
    await page.getByRole('link', { name: 'See the results' }).click();
    await page.reload();
    const source = page
      .getByRole('table', { name: 'By source' })
      .getByRole('row')
      .filter({ hasText: 'spring' });
    await source.waitFor();
    expect((await source.innerText()).replaceAll(/\s+/g, ' ')).toBe(
      'spring & sun 1 1 None before 100% 0 0% –',
    );
    await page.getByLabel('Compare').selectOption('Version');
    const version = page
      .getByRole('table', { name: 'By version' })
      .getByRole('row')
      .filter({ hasText: 'B=2?' });
    await version.waitFor();
    expect((await version.innerText()).replaceAll(/\s+/g, ' ')).toBe('B=2? 1 1 None before 100% 0 0% –');
  }, 120_000);

  it('sees in which mailers a placeholder of their own would break the mail', async () => {
    const page = await stage.signIn(
      context,
      stage.mine.key,
      `/campaigns/${stage.mine.campaign}/send?mailer=own`,
    );
    await page.getByText('Enter the placeholder of your mailer').first().waitFor();
    const own = page.getByLabel('Placeholder for the recipient’s id');
    await own.fill('{{ "id" }}');
    await page.getByText('without quotes, angle brackets').waitFor();
    await own.fill('%RECIPIENT_ID%');
    await page.locator('[data-snippet=reward]').getByText('journeyId=%RECIPIENT_ID%').waitFor();
    await page.getByLabel('Your mailer').selectOption('Mailchimp');
    await page.locator('[data-snippet=reward]').getByText('journeyId=*|UNIQID|*').waitFor();
  }, 120_000);

  it('creates 200 links for a campaign, cancels one, and sees a gift being opened', async () => {
    await stage.fleet
      .admin('gift-cards')
      .post(`/admin/pools/${stage.mine.pool}/cards`)
      .set('content-type', 'text/csv')
      .send(cardRows(200, 'More'))
      .expect(200);
    const page = await stage.signIn(context);
    await stage.goto(page, `/campaigns/${stage.mine.campaign}/send?utm_source=spring-mail`);
    await page.getByRole('link', { name: 'Make reward links' }).click();
    const today = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' }).format(new Date());
    // The time tells the jobs of a day apart.
    const suggests = (name: string) =>
      waitFor(
        async () =>
          expect(await dialog(page).getByLabel('Name').inputValue()).toMatch(
            new RegExp(`^${name}, ${today}, \\d\\d:\\d\\d$`),
          ),
        `the name ${name}`,
      );
    await suggests('Harbour spring');
    await dialog(page).getByLabel('Campaign', { exact: true }).selectOption('None');
    await suggests('Harbour voucher');
    await dialog(page).getByLabel('Campaign', { exact: true }).selectOption('Harbour spring');
    await dialog(page).getByLabel('Name').fill('Spring mailing');
    await waitFor(
      async () =>
        (await dialog(page).getByLabel('Campaign', { exact: true }).inputValue()) === stage.mine.campaign,
      'the campaign of the mailing',
    );
    await dialog(page).getByText('Recipients see the “Name for recipients” of your account.').waitFor();
    await dialog(page).getByText('neither a shop URL nor instructions').waitFor();
    await dialog(page).getByLabel('Links for').selectOption('A number of people');
    await dialog(page).getByLabel('How many').fill('5000');
    await dialog(page)
      .getByRole('status')
      .filter({
        hasText: /Links asked for: 5,000\. Cards available: \d+\..*The stock is 4,\d{3} cards short/,
      })
      .waitFor();
    await dialog(page).getByLabel('Links for').selectOption('A list of recipients');
    const template = await downloaded(page, button(page, 'CSV template').click());
    expect(template[0]).toBe('reference');
    const ofFile = dialog(page).getByLabel('From a CSV file');
    await ofFile.setInputFiles(file('mailing.csv', 'email,journeyId\nann@mail.example,1'));
    const columns = dialog(page).getByLabel('Column with the references');
    await columns.waitFor();
    expect(await dialog(page).locator('.field-error').count()).toBe(0);
    await columns.selectOption('email');
    expect(await dialog(page).getByRole('textbox', { name: 'References' }).inputValue()).toBe(
      'ann@mail.example',
    );
    const customers = Array.from({ length: 200 }, (_, nth) => `customer-${nth}`);
    const rows = customers.map((customer, nth) => `journey-${nth},${customer}`);
    await ofFile.setInputFiles(file('mailing.csv', ['journeyId,reference', ...rows].join('\n')));
    await dialog(page).getByText('Links asked for: 200. Cards available: ').waitFor();
    await dialog(page).getByText('cards short').waitFor({ state: 'detached' });
    expect(await dialog(page).getByRole('textbox', { name: 'References' }).inputValue()).toBe(
      customers.join('\n'),
    );
    const areIds = dialog(page).getByLabel(
      'The references are the ids that the mailer puts into the messages',
    );
    await areIds.uncheck();
    await button(page, 'Continue').click();
    await dialog(page).getByText('The links count apart from the views and clicks').waitFor();
    await dialog(page).getByText('like its other links: spring-mail, email.').waitFor();
    await button(page, 'Back').click();
    await areIds.check();
    await button(page, 'Continue').click();
    await dialog(page).getByText('200 links of €25, worth €5,000 in total.').waitFor();
    await dialog(page)
      .getByText(/^For Harbour spring\. From the pool Harbour voucher\. The links work until the end of /)
      .waitFor();
    await dialog(page).getByText('Each link counts in the journey of its recipient').waitFor();
    await screenshot(page, 'gift-cards-check');
    await button(page, 'Back').click();
    expect(await dialog(page).getByLabel('Name').inputValue()).toBe('Spring mailing');
    await button(page, 'Continue').click();
    await button(page, 'Make 200 links (€5,000)').click();
    // The job continues while the person is on another screen, and is shown again on return.
    await dialog(page).waitFor({ state: 'detached' });
    const fields = page.url().split('?')[1]!;
    await page.getByRole('link', { name: 'Overview', exact: true }).click();
    await page.getByRole('link', { name: 'Gift cards', exact: true }).click();
    await page.waitForSelector('[data-job="done"]', { timeout: 60_000 });
    expect(await page.innerText('[data-job]')).toMatch(
      /^Spring mailing[\s\S]*€25 each[\s\S]*200 of 200 made, worth €5,000, for Harbour spring/,
    );
    await page.getByText('add the links to the file of recipients').waitFor();
    await screenshot(page, 'gift-cards-job');
    const lines = await downloaded(page, button(page, 'Links as CSV').click());
    expect(lines[0]).toBe('reference,link,expiry,state');
    expect(new Set(lines.slice(1).map((line) => line.split(',')[1])).size).toBe(200);
    await button(page, 'Add the links to a file of yours…').click();
    await button(page, 'Save file with links').click();
    await dialog(page).getByText('Choose a file first.').waitFor();
    await dialog(page)
      .getByLabel('Your CSV file')
      .setInputFiles(
        file(
          'export.csv',
          'Email,UNIQID,Phone\nann@mail.example,customer-7,+1 555\nbo@mail.example,nobody,@bo\n',
        ),
      );
    const joined = await downloaded(page, button(page, 'Save file with links').click());
    const linkOf7 = lines.find((line) => line.startsWith('customer-7,'))!.split(',')[1];
    expect(joined).toEqual([
      'Email,UNIQID,Phone,link',
      `ann@mail.example,customer-7,+1 555,${linkOf7}`,
      'bo@mail.example,nobody,@bo,',
    ]);
    await dialog(page).getByText('1 of 2 rows have a link, found by the column “UNIQID”.').waitFor();
    expect(await violations(page)).toEqual([]);
    await screenshot(page, 'gift-cards-add-links');
    await page.keyboard.press('Escape');
    // The job knows its mailing, also if the person comes back another day.
    await stage.goto(page, '/gift-cards');
    await page.getByRole('link', { name: 'Continue with step 5 of Send' }).click();
    await page.getByRole('heading', { name: '5. Send a test to yourself' }).waitFor();
    expect(await page.getByLabel('Source').inputValue()).toBe('spring-mail');
    // Send has its fields again if the person stayed on the screen.
    await stage.goto(page, `/gift-cards?${fields}`);
    await page.getByRole('link', { name: 'Continue with step 5 of Send' }).click();
    await page.getByRole('heading', { name: '5. Send a test to yourself' }).waitFor();
    expect(await page.getByLabel('Source').inputValue()).toBe('spring-mail');
    await page.getByText('the column with the id that stands for *|UNIQID|*').waitFor();
    await page.goBack();
    await button(page, 'Make many links').click();
    // A list without a campaign asks for no journeys.
    expect(await dialog(page).getByRole('checkbox').count()).toBe(0);
    await button(page, 'Continue').click();
    await dialog(page).getByText('Enter at least one reference.').waitFor();
    await dialog(page)
      .getByRole('textbox', { name: 'References' })
      .fill('customer-1\ncustomer-1\ncustomer-2\nsomebody-new');
    await button(page, 'Continue').click();
    await dialog(page).getByText('1 line repeats a reference of the list.').waitFor();
    // Nor does it belong to the mailing, although the URL still leads back to it.
    expect(await dialog(page).getByText('like its other links').count()).toBe(0);
    await dialog(page).getByText('2 references already got a link from a job, or will get one.').waitFor();
    await screenshot(page, 'gift-cards-linked');
    await button(page, 'Remove lines that would get a second link').click();
    expect(await dialog(page).getByRole('textbox', { name: 'References' }).inputValue()).toBe('somebody-new');
    await button(page, 'Continue').click();
    await button(page, 'Make 1 link (€25)').waitFor();
    expect(
      await dialog(page)
        .getByText(/repeats a reference|already got a link/)
        .count(),
    ).toBe(0);
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Campaigns', exact: true }).click();
    await page.getByRole('link', { name: 'Harbour spring' }).click();
    await page.getByText('200 links were made for 200 journeys').waitFor();

    await page.getByRole('link', { name: 'Reward links', exact: true }).click();
    await page.getByLabel('Reference or id').fill('customer-7');
    await button(page, 'Cancel link: customer-7').click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel link' }).click();
    await untilSaid(page, 'The link is cancelled');
    await page.getByRole('cell', { name: 'Cancelled' }).waitFor();
    await page.getByLabel('State').selectOption('Outstanding');
    await page.getByText('No link matches').waitFor();
    await page.getByLabel('State').selectOption('Expired or cancelled');
    await page.getByRole('cell', { name: 'Cancelled' }).waitFor();
    await page.getByLabel('State').selectOption('Any state');

    await page.getByLabel('Reference or id').fill('customer-8');
    await page.getByRole('cell', { name: 'Outstanding' }).waitFor();
    const made = await page.getByRole('cell', { name: / by console: / }).innerText();
    await page.getByLabel('Made by').fill('nobody');
    await page.getByText('No link matches').waitFor();
    await page.getByLabel('Made by').fill(made.slice(made.indexOf('console: ')));
    await page.getByRole('cell', { name: 'Outstanding' }).waitFor();
    await page.getByRole('switch', { name: 'Auto-refresh' }).press('Space');
    await stage.reveal(lines.find((line) => line.startsWith('customer-8,'))!.split(',')[1]!);
    await page.getByRole('cell', { name: /^Opened/ }).waitFor();
    await screenshot(page, 'reward-links-live');

    await stage.goto(page, '/gift-cards');
    const now = await downloaded(page, button(page, 'Links as CSV').click());
    const stateOf = (reference: string) =>
      now.find((line) => line.startsWith(`${reference},`))!.split(',')[3];
    expect(['customer-6', 'customer-7', 'customer-8'].map(stateOf)).toEqual([
      'waiting',
      'cancelled',
      'opened',
    ]);

    await page.getByText('What became of the links').first().click();
    const count = async (state: string) => (await page.innerText(`[data-links=${state}] dd`)).split(/\s/)[0];
    await page.locator('[data-links=waiting]').getByText('198').waitFor();
    expect([await count('opened'), await count('cancelled'), await count('expired')]).toEqual([
      '1',
      '1',
      '0',
    ]);
    const results = await downloaded(page, button(page, 'Results as CSV').click());
    expect(results.find((line) => line.startsWith('customer-8,'))).toMatch(
      /^customer-8,opened,20[\d-]+T[\d:.]+Z,$/,
    );
    expect(results.join()).not.toContain('#');
    await page.getByRole('link', { name: '1 Opened: Spring mailing', exact: true }).last().waitFor();
    // The list of all links leads to the lists of each job, which has the same title there.
    await stage.goto(page, '/reward-links');
    await page.getByRole('link', { name: 'Links of a link job' }).click();
    const jobs = page.locator('#link-jobs');
    await jobs.getByRole('link', { name: 'Spring mailing', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Spring mailing', exact: true }).waitFor();
    await page.getByLabel('State').selectOption('Opened');
    const ofJob = page.getByRole('table', { name: 'Reward links' }).getByRole('row');
    await waitFor(async () => (await ofJob.count()) === 2, 'the one opened link');
    expect(await ofJob.nth(1).innerText()).toMatch(/^customer-8\s+Opened/);
    await screenshot(page, 'link-job');
    await page.setViewportSize({ width: 360, height: 740 });
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme });
      // Loaded again, because the backgrounds of buttons change in a transition.
      await page.reload();
      await button(page, 'Cancel the rest…').waitFor();
      await ofJob.nth(1).waitFor();
      expect(await violations(page)).toEqual([]);
    }
    expect(await scrollsSideways(page)).toBe(false);
    await screenshot(page, 'link-job-360');
    await page.setViewportSize({ width: 1280, height: 900 });
    // The counts are there, too, with the button that cancels the rest.
    await page.locator('[data-links=waiting]').getByText('198').waitFor();
    await button(page, 'Cancel the rest…').waitFor();
    await page.getByLabel('State').selectOption('Any state');
    await button(page, 'Show more').click();
    await page.getByRole('link', { name: 'customer-8', exact: true }).click();
    await dialog(page).getByText('Opened').first().waitFor();
    // The cancelled link was lost, so the recipient gets another one.
    await stage.goto(page, '/reward-links?reference=customer-7');
    await button(page, 'Replace link: customer-7').click();
    await dialog(page).getByLabel('Reason').fill('Cancelled by mistake');
    await dialog(page).getByRole('button', { name: 'Replace link' }).click();
    await page.locator('[data-secret]').waitFor();
    await button(page, 'Close').click();
    await page.getByRole('link', { name: 'Links of a link job' }).click();
    await jobs.getByRole('link', { name: 'Spring mailing', exact: true }).click();
    await page.getByLabel('State').selectOption('Cancelled');
    const replaced = ofJob.filter({ hasText: 'customer-7' });
    await replaced.getByText('Replaced by').waitFor();
    await screenshot(page, 'link-job-replaced');
    await replaced.getByRole('link', { name: /^link [\da-f]{8}$/ }).click();
    await dialog(page).getByText('Made in place of').waitFor();
    await stage.goto(page, '/gift-cards');
    await page.getByText('What became of the links').first().click();
    await button(page, 'Cancel the rest…').click();
    await page.getByRole('alertdialog').getByText('198 links worth €4,950 stop working at once').waitFor();
    await button(page, 'Cancel links').click();
    await untilSaid(page, '199 links are cancelled.');
    await waitFor(async () => (await count('waiting')) === '0', 'the counts after the cancellation');
    expect([await count('waiting'), await count('opened'), await count('cancelled')]).toEqual([
      '0',
      '1',
      '199',
    ]);
    await screenshot(page, 'gift-cards-cancelled-rest');
  }, 180_000);

  it('creates one link, which is shown once', async () => {
    const page = await stage.signIn(context);
    await stage.goto(page, '/gift-cards#link-jobs');
    await button(page, 'Make one link').click();
    await dialog(page).getByLabel('Reference').fill('only-one');
    await button(page, 'Make link').click();
    const link = await page.locator('[data-secret]').innerText();
    expect(link).toMatch(/#[\w-]{40,}$/);
    await screenshot(page, 'gift-cards-made');
    await button(page, 'Close').click();
    expect(new URL(page.url()).hash).toBe('#link-jobs');
    await stage.goto(page, '/reward-links?reference=only-one');
    await page.getByRole('rowheader', { name: 'only-one' }).waitFor();
    expect(await page.content()).not.toContain(link.split('#')[1]);
  }, 120_000);

  it('freezes a campaign into a report that others read until it is revoked', async () => {
    const page = await stage.signIn(context);
    // Without the clicks of last month, which are within the usual 30 days at the beginning of a month.
    const today = new Date().toISOString().slice(0, 10);
    await stage.goto(page, `/campaigns/${stage.mine.campaign}?from=${today}&to=${today}`);
    await button(page, 'Freeze as a report').click();
    await page.getByLabel('Comment').fill('Two mailings.\nThe second had the weekend first.');
    await button(page, 'Freeze').click();
    const address = await page.locator('[data-secret]').innerText();
    await button(page, 'Close').click();

    const others = await stage.window();
    const reader = await others.newPage();
    await reader.goto(address);
    await reader.getByRole('heading', { level: 1, name: 'Harbour spring: results' }).waitFor();
    // The six of the stage, and those of the 200 links above, one of which was opened.
    expect(await reader.innerText('main')).toContain('3 of 206 journeys clicked');
    await reader
      .getByText('199 of the journeys got only a reward link; of the others, 42.9% clicked.')
      .waitFor();
    expect(await reader.innerText('main')).not.toMatch(/journey-\d/);
    await reader.getByText('The second had the weekend first.').waitFor();
    // A perk of the campaign that nobody clicked.
    await reader.getByRole('row', { name: 'Harbour offer 3 0 0 0% 0%' }).waitFor();
    await screenshot(reader, 'report');
    await reader.emulateMedia({ media: 'print' });
    await screenshot(reader, 'report-printed');
    // A report of an earlier release.
    await stage.fleet.database.query(
      `update console.reports set body = body #- '{funnel,gift_only_recipients}' #- '{steps,3}'`,
    );
    await reader.reload();
    await reader.getByText('3 of 206 journeys clicked').waitFor();
    expect(await reader.innerText('main')).not.toContain('got only a reward link');

    await page.getByRole('link', { name: 'Reports', exact: true }).click();
    await button(page, 'New report').click();
    await page.getByLabel('Campaign', { exact: true }).selectOption('Harbour spring');
    await page.getByLabel('Title', { exact: true }).fill('From the list');
    await button(page, 'Freeze').click();
    await page.locator('[data-secret]').waitFor();
    await button(page, 'Close').click();
    await page.getByRole('link', { name: 'History: From the list' }).click();
    await page.getByText('Changes by operators are not listed.').waitFor();
    // The values before and after are shown without another click.
    await page.getByRole('region', { name: 'Audit log' }).getByText('From the list').waitFor();
    await page.goBack();
    await button(page, 'Revoke: Harbour spring: results').click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).click();
    await untilSaid(page, 'The report is revoked');
    await reader.reload();
    await reader.getByRole('heading', { level: 1, name: 'This report cannot be read' }).waitFor();
    await others.close();
  }, 120_000);

  it('sees on the first day, and where nothing was tracked, what to do next', async () => {
    const { account, key } = await stage.fleet.anAccount();
    const page = await stage.signIn(context, key);
    const steps = page.getByRole('list').filter({ hasText: 'Make a reward link and open it' });
    await steps.waitFor();
    expect(await page.locator('[data-figure]').count()).toBe(0);
    expect(await violations(page)).toEqual([]);
    await screenshot(page, 'first-day');
    // Steps that need what the account lacks lead nowhere, and say so.
    for (const need of ['perk collection', 'campaign', 'pool of gift cards'])
      await steps.getByText(`this account has no ${need} yet`).waitFor();
    expect(await steps.getByRole('link').allInnerTexts()).toEqual([
      'Let your server read them: ten minutes with Perkway',
    ]);
    await page
      .getByText(/for our account .+: a perk collection, a campaign,? and a pool of gift cards\./)
      .waitFor();
    await button(page, 'Copy').waitFor();
    await steps.getByRole('link').click();
    await page.getByRole('heading', { level: 1, name: 'Documentation' }).waitFor();
    await stage.goto(page, '/reports');
    await page.getByText('Ask your operator for one.').waitFor();
    expect(await button(page, 'New report').isDisabled()).toBe(true);
    for (const [path, action] of [
      ['/statements', 'To the pools'],
      ['/reports', 'To the campaigns'],
    ] as const) {
      await stage.goto(page, path);
      await page.getByRole('link', { name: action }).waitFor();
    }
    await stage.goto(page, '/reward-links');
    await page.getByText('No reward links yet').waitFor();
    // Without a pool there is nothing to make a link of.
    await page.getByText('Ask your operator for a pool').waitFor();
    expect(await button(page, 'Make one link').isDisabled()).toBe(true);
    // Nor does the form open later, once there is a pool.
    await stage.goto(page, '/gift-cards?make=many&campaign=any');
    await waitFor(async () => new URL(page.url()).search === '', 'the form to be given up');

    const campaign = `first-${account}`;
    await stage.fleet
      .admin('boost')
      .put(`/admin/campaigns/${campaign}`)
      .send({ owner: account, name: 'The first one', incentives: stage.mine.perks })
      .expect(200);
    await stage.goto(page, '/');
    await steps.getByRole('link', { name: 'Put the pixel and the links of a campaign' }).waitFor();
    await stage.goto(page, `/campaigns/${campaign}`);
    await page.getByText('No views or clicks yet').waitFor();
    await screenshot(page, 'campaign-not-sent');
    await page.getByRole('link', { name: 'Get the pixel and the links' }).click();
    await page.locator('[data-snippet=reward]').waitFor();

    const owner = { ...stage.mine, account, key, campaign };
    await stage.track(owner, { event: 'teaser_view', journeyId: 'the-first' });
    await stage.untilCounted(owner, 'campaign_funnel.journeys', 1);
    const old = '?from=2025-01-01&to=2025-01-31';
    for (const path of ['/', `/campaigns/${campaign}`]) {
      await stage.goto(page, path + old);
      await page.getByText('The latest event was on').waitFor();
      // Neither tables of zeros nor cards that say so again.
      expect(await page.locator('main').getByRole('heading', { level: 2 }).allInnerTexts()).toEqual([]);
      expect(await page.locator('main').getByRole('table').count()).toBe(0);
      await page.getByRole('link', { name: 'Show the 30 days up to it' }).click();
      await page.getByText('0 of 1 journeys clicked').waitFor();
    }
    await page.goBack();
    await page.getByText('The latest event was on').waitFor();
    await screenshot(page, 'campaign-nothing-in-dates');
  }, 120_000);

  it('finds perks by their keywords', async () => {
    const page = await stage.signIn(context);
    await stage.goto(page, '/perks');
    await page.getByLabel('Search').fill('keyword-of-harbour-offer-2');
    await page.getByText('1 of 3 perks').waitFor();
    await page.getByRole('heading', { level: 3, name: 'Harbour offer 2' }).waitFor();
  }, 120_000);
});

describe('an operator', () => {
  it('sets up an account, its key, a campaign of ten perks from a file and a pool with 1,000 cards', async () => {
    const account = `client-${randomUUID().slice(0, 8)}`;
    const page = await stage.signIn(context, ADMIN_KEY);

    await page.getByRole('link', { name: 'Accounts', exact: true }).click();
    await button(page, 'New account').click();
    await page.getByLabel('Id', { exact: true }).fill(account);
    await page.getByLabel('Name', { exact: true }).fill('A new client');
    // What the host rejects is said at the field.
    await page.getByLabel('Web sites').fill('no origin');
    await page.getByLabel('Value without approval').fill('euros 5');
    await button(page, 'Save').click();
    await page.locator('.field', { hasText: 'Web sites' }).locator('.field-error').waitFor();
    await page.locator('.field', { hasText: 'Value without approval' }).locator('.field-error').waitFor();
    await page.getByLabel('Web sites').fill('');
    await page.getByLabel('Value without approval').fill('');
    await button(page, 'Save').click();
    await page.getByRole('heading', { level: 1, name: 'A new client' }).waitFor();
    // What loads above the button moves it: a press and a release at two places are not a click.
    await page.locator('.loading').first().waitFor({ state: 'detached' });
    await button(page, 'Create key').click();
    await dialog(page).getByLabel('Name').fill('Web shop');
    await dialog(page).getByRole('button', { name: 'Create key' }).click();
    const key = await page.locator('[data-secret]').innerText();
    await button(page, 'I have copied it').click();
    expect(await page.content()).not.toContain(key);

    await page.getByRole('link', { name: 'Catalogue', exact: true }).click();
    await page.getByRole('link', { name: 'Import', exact: true }).click();
    await page.getByLabel('Files').setInputFiles(file('perks.csv', perkRows(account, 'Half price')));
    await page.getByText('10 new, 0 changed, 0 unchanged').waitFor();
    expect((await stage.fleet.admin('perks').get(`/admin/perks/${account}-1`)).status).toBe(404);
    await button(page, 'Write 10 changes').click();
    await untilSaid(page, 'The import is written');
    // Choosing the perks again with another title shows only that difference.
    await page.getByLabel('Files').setInputFiles(file('again.csv', perkRows(account, 'A third off')));
    await page.getByText('0 new, 10 changed, 0 unchanged').waitFor();
    await page.getByText('Half price 1', { exact: true }).waitFor();
    await screenshot(page, 'catalogue-import-differences');
    await page.getByLabel('Files').setInputFiles(file('same.csv', perkRows(account, 'Half price')));
    await page.getByText('0 new, 0 changed, 10 unchanged').waitFor();

    await page.getByRole('link', { name: 'All campaigns', exact: true }).click();
    await button(page, 'New campaign').click();
    await page.getByLabel('Id', { exact: true }).fill(`${account}-launch`);
    await page.getByLabel('Name', { exact: true }).fill('Launch');
    await page.getByLabel('Account', { exact: true }).fill(account);
    await page
      .getByLabel('From a CSV file')
      .setInputFiles(file('perks.csv', perkRows(account, 'Half price')));
    await page.getByText('Perks (10)').waitFor();
    await button(page, 'Save').click();
    await page.getByRole('heading', { level: 1, name: 'Launch' }).waitFor();

    await page.getByRole('link', { name: 'All pools', exact: true }).click();
    await button(page, 'New pool').click();
    await page.getByRole('heading', { level: 1, name: 'New pool' }).waitFor();
    await page.getByLabel('Account', { exact: true }).fill(account);
    await page.getByLabel('Product name').fill('Book voucher');
    await page.getByLabel('Another language').fill('fr');
    await button(page, 'Add language').click();
    await page.getByLabel('Product name in French').fill('Bon pour des livres');
    await button(page, 'Save').click();
    await page.getByRole('heading', { level: 1, name: 'Book voucher' }).waitFor();
    const { body: pools } = await stage.fleet
      .admin('gift-cards')
      .get('/admin/pools')
      .query({ owner: account });
    expect(pools.data[0].product.translations).toEqual({ fr: { name: 'Bon pour des livres' } });
    const bad = 'broken-card,1,none,EUR,FR';
    await page.getByLabel('File').setInputFiles(file('cards.csv', `${cardRows(1_000, 'New')}\n${bad}`));
    await button(page, 'Check file').click();
    await page.getByText('1,000 of 1,001 rows can be uploaded.').waitFor();
    await page.getByRole('row', { name: '€25 FR – 1,000 €25,000' }).waitFor();
    await screenshot(page, 'pool-check');
    await button(page, 'Upload 1,000 cards').click();
    await page.waitForSelector('[data-load="finished"]', { timeout: 60_000 });
    expect(await page.innerText('[data-load]')).toMatch(
      /^cards\.csv, uploaded .*1,000 uploaded, 0 already there or repeated, 1 rejected/s,
    );
    await button(page, 'Withdraw cards').click();
    const upload = dialog(page).getByLabel('Upload', { exact: true });
    expect(await upload.innerText()).toMatch(/^cards\.csv, uploaded .*: 1,000 cards$/);
    await page.keyboard.press('Escape');
    await page.getByText('Rejected rows (1)').click();
    // As in a spreadsheet, where the header is row 1.
    await page.getByRole('columnheader', { name: 'Row in the spreadsheet' }).waitFor();
    await page.getByRole('rowheader', { name: '1,002' }).waitFor();
    expect(await downloaded(page, button(page, 'Download CSV').click())).toEqual([
      'row,reason',
      '1002,The value is not a number above 0',
    ]);
    await page.getByRole('table', { name: 'Stock' }).getByRole('cell', { name: '1,000' }).waitFor();
    await screenshot(page, 'pool-upload');

    await page.getByRole('link', { name: 'Audit log', exact: true }).click();
    const launched = page.getByRole('link', { name: 'Created campaign Launch', exact: true });
    await launched.first().waitFor();
    expect(await page.content()).not.toContain(key);
    await screenshot(page, 'audit-log');
    const shown = await downloaded(page, button(page, 'These entries as CSV').click());
    expect(shown[0]).toBe('at,by,account,what,call,outcome');
    expect(shown).toContainEqual(
      expect.stringMatching(/^\d{4}-.*,Created .*Launch.*,PUT boost \/admin\/campaigns\/.+-launch,Done$/),
    );
    // The import is one row, or two if it crossed a minute, and opens to its ten entries.
    await page.getByLabel('Kind').selectOption('Perks');
    // A click while the entries of all kinds still show could be lost.
    await launched.first().waitFor({ state: 'detached' });
    const runs = page.getByRole('button', { name: /^Created perk, \d+ times$/ });
    const perks = page.getByRole('link', { name: /^Created perk Half price \d+$/ });
    await runs.first().waitFor();
    expect(await perks.count()).toBeLessThan(5);
    for (const run of await runs.all()) await run.click();
    await waitFor(async () => (await perks.count()) === 10, 'an entry for each perk');
    await page.getByRole('link', { name: 'Created perk Half price 7', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Half price 7' }).waitFor();

    // The new client can use the console at once.
    const clients = await stage.window();
    const client = await stage.signIn(clients, key);
    await client.getByRole('link', { name: 'Campaigns', exact: true }).click();
    await client.getByRole('link', { name: 'Launch' }).waitFor();
    await client.getByRole('link', { name: 'Gift cards', exact: true }).click();
    await client.getByRole('heading', { name: 'Book voucher' }).waitFor();
    await clients.close();
  }, 240_000);

  it('sees what is wrong in a file by row and column before anything is written, and writes the rest', async () => {
    const mark = `import-${randomUUID().slice(0, 8)}`;
    const page = await stage.signIn(context, ADMIN_KEY, '/catalogue/import');
    const choose = (...rows: string[]) =>
      page.getByLabel('Files', { exact: true }).setInputFiles({
        name: 'perks.csv',
        mimeType: 'text/csv',
        buffer: Buffer.from(rows.join('\n')),
      });
    const header = 'id,title,offer_url,offer_slug,partner.id,partner.name,categories,coupon,is_coupon_perk';
    const url = 'https://fernway.example/offer';
    let isBusyOver = false;

    await choose(
      header,
      `${mark}-good,Good,${url},good,fernway,Fernway,7,CODE,false`,
      `${mark}-url,Bad URL,fernway.example,bad,fernway,Fernway,7,,`,
      `${mark}-title,,${url},no-title,fernway,Fernway,7,,`,
      `${mark}-category,Category,${url},category,fernway,Fernway,7;99,,`,
      // The console does not check this title's length, so only the perks host rejects it.
      `${mark}-long,${'long '.repeat(2_000)},${url},long,fernway,Fernway,7,,`,
    );
    // The host is too busy for the first attempt to write the good perk.
    await page.route(
      (address) => address.pathname.endsWith(`/admin/perks/${mark}-good`),
      async (route) => {
        if (route.request().method() !== 'PUT' || isBusyOver) return route.fallback();
        isBusyOver = true;
        await route.fulfill({
          status: 503,
          headers: { 'retry-after': '1' },
          json: { code: 'DEPENDENCY_UNAVAILABLE' },
        });
      },
    );
    await page.getByText('2 new, 0 changed, 0 unchanged · 3 problems').waitFor();
    const lines = await downloaded(page, button(page, 'Download problems').click());
    expect(lines.map((line) => line.split(',').slice(0, 3).join())).toEqual([
      'file,row,column',
      'perks.csv,3,offer_url',
      'perks.csv,4,title',
      'perks.csv,5,categories',
    ]);
    const problems = page.getByRole('table', { name: 'Problems in the files' });
    await problems.getByRole('row', { name: /5 categories .*unknown category 99/ }).waitFor();
    await screenshot(page, 'catalogue-import-problems');

    await button(page, 'Write 2 changes').click();
    await page.getByText('1 of 2 written · 1 refused').waitFor();
    expect(isBusyOver).toBe(true);
    const perks = stage.fleet.admin('perks');
    await perks.get(`/admin/perks/${mark}-good`).expect(200);
    for (const name of ['url', 'title', 'category', 'long'])
      await perks.get(`/admin/perks/${mark}-${name}`).expect(404);
    await choose(header, `${mark}-good,Good,${url},good,fernway,Fernway,7,CODE,false`);
    await page.getByText('0 new, 0 changed, 1 unchanged').waitFor();

    // An unknown column keeps back the whole file, and hides no other problem.
    await choose(
      `${header},colour`,
      `${mark}-two,Two,${url},two,fernway,Fernway,7,,,red`,
      `${mark}-three,Three,fernway.example,three,fernway,Fernway,99,,,red`,
    );
    await page.getByText('0 new, 0 changed, 0 unchanged · 3 problems').waitFor();
    await problems.getByRole('row', { name: /1 colour unknown column/ }).waitFor();
    await problems.getByRole('row', { name: /3 offer_url / }).waitFor();
    await problems.getByRole('row', { name: /3 categories .*unknown category 99/ }).waitFor();

    // Without ids: they are made as in the form, and the category is given by its name.
    await choose(
      // The labels of the form are columns, too.
      'Title,Offer URL,Partner,categories',
      `${mark} tea,${url},${mark} House,outdoors`,
      `${mark} milk,${url},,`,
      `${mark} cake,${url},,`,
    );
    await page.getByText('1 new, 0 changed, 0 unchanged · 2 problems').waitFor();
    await page.getByText(`${mark}-house-${mark}-tea`, { exact: true }).waitFor();
    await problems.getByRole('row', { name: /3–4 partner\.name .* milk" .*, and 1 more row/ }).waitFor();
    const template = await downloaded(page, button(page, 'CSV template').click());
    expect(template).toEqual([
      expect.stringMatching(/^id,title,.*,locations$/),
      expect.stringMatching(/^,Example: this row is ignored,/),
    ]);
    await choose(...template);
    await page.getByText('0 new, 0 changed, 0 unchanged').waitFor();
    expect(await problems.count()).toBe(0);
  }, 240_000);

  it('creates a perk with the form, sees each error at its field, and translates it side by side', async () => {
    const mark = randomUUID().slice(0, 8);
    const id = `velt-${mark}-to-go-slow-rides-for-two`;
    const page = await stage.signIn(context, ADMIN_KEY, '/catalogue');
    await page.getByRole('table', { name: 'Perks' }).waitFor();
    await waitFor(
      async () =>
        (await page.getByRole('row', { name: 'Harbour offer 1' }).first().innerText())
          .replaceAll(/\s+/g, ' ')
          .includes('Harbour offer 1 partner Outdoors'),
      'the category of the perk',
    );
    await page.getByRole('link', { name: 'New perk' }).click();
    await page.getByLabel('Title', { exact: true }).fill('Slow rides for two');
    // Required fields say so to everybody.
    const required = page.locator('.field:has(:required) > label');
    expect(await required.allInnerTexts()).toEqual(
      expect.arrayContaining(['Title', 'Offer URL', 'Partner', 'Partner id', 'Offer slug', 'Id']),
    );
    const marks = `[...document.querySelectorAll('.field > label')].filter((label) =>
      (getComputedStyle(label, '::after').content.includes('required')) !== label.nextElementSibling.required)`;
    expect(await page.evaluate(`${marks}.map(({ innerText }) => innerText)`)).toEqual([]);
    // A perk of a partner whose name is the beginning of the new one, under an id that is not made of it.
    await stage.fleet
      .admin('perks')
      .put(`/admin/perks/${mark}-of-velt`)
      .send({ ...perkBody(`${mark} of Velt`), partner: { id: `group-${mark}`, name: `Velt ${mark}` } })
      .expect(200);
    const partner = page.getByLabel('Partner', { exact: true });
    const partnerId = page.getByLabel('Partner id');
    await partner.focus();
    await page.locator(`#partners option[value="Velt ${mark}"]`).waitFor({ state: 'attached' });
    await partner.pressSequentially(`Velt ${mark}`);
    expect(await partnerId.inputValue()).toBe(`group-${mark}`);
    await partner.pressSequentially(' To Go');
    expect(await partnerId.inputValue()).toBe(`velt-${mark}-to-go`);
    await page.getByLabel('Offer URL').fill('https://fernway.example/rides');
    expect(await page.getByLabel('Id', { exact: true }).inputValue()).toBe(id);
    await page.getByLabel('Outdoors').check();
    await page.getByLabel('Where', { exact: true }).fill('FR\nDE/Berlin');
    await page.getByLabel('Logo URL').fill('https://fernway.example/logo.svg');
    await page.getByLabel('Offer slug').fill('not a slug');
    await button(page, 'Save').click();
    const slug = page.getByLabel('Offer slug');
    await page.locator('[aria-invalid]').waitFor();
    expect(await slug.getAttribute('aria-invalid')).toBe('true');
    expect(await page.evaluate('document.activeElement.getAttribute("aria-invalid")')).toBe('true');
    expect(await violations(page)).toEqual([]);
    await screenshot(page, 'perk-error');
    await slug.fill('slow-rides');
    await page.locator('[aria-invalid]').waitFor({ state: 'detached' });
    expect(await page.getByRole('alert').count()).toBe(0);

    await page.getByLabel('Another language').fill('FR');
    await page.getByLabel('Another language').press('Enter');
    await page.getByLabel('Title in French').fill('Balades pour deux');
    expect(await page.locator('.side-by-side').first().innerText()).toContain('Slow rides for two');
    expect(await violations(page)).toEqual([]);
    await screenshot(page, 'perk-translation');

    // The YAML tab shows the same perk, and edits there appear in the form.
    await page.getByRole('tab', { name: 'YAML' }).click();
    const yaml = page.getByRole('textbox', { name: 'YAML' });
    expect(await yaml.inputValue()).toMatch(
      /^title: Slow rides for two\n[^]*locations:\n {2}- country: FR\n[^]*fr:\n {4}title: Balades pour deux/m,
    );
    const written = await yaml.inputValue();
    await yaml.fill(`${written}\n  - broken: [`);
    await page.getByText(/Row \d+: not valid YAML/).waitFor();
    expect(await button(page, 'Save').isDisabled()).toBe(true);
    expect(await violations(page)).toEqual([]);
    await screenshot(page, 'perk-yaml');
    await page.getByRole('tab', { name: 'Edit' }).click();
    await page.getByText('The YAML has a problem').waitFor();
    await page.getByRole('tab', { name: 'YAML' }).click();
    await yaml.fill(written.replace('callout: ""', 'callout: Half price'));
    await page.getByRole('tab', { name: 'Edit' }).click();
    expect(await page.getByLabel('Short value line', { exact: true }).inputValue()).toBe('Half price');

    // Unsaved edits do not vanish.
    await page.getByRole('link', { name: 'Accounts', exact: true }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Go back' }).click();
    await button(page, 'Save').click();
    await untilSaid(page, 'Saved');
    await page.getByRole('heading', { level: 1, name: 'Slow rides for two' }).waitFor();
    const perks = stage.fleet.admin('perks');
    expect((await perks.get(`/admin/perks/${id}`).expect(200)).body).toMatchObject({
      ...{ title: 'Slow rides for two', callout: 'Half price', offer_slug: 'slow-rides', categories: [7] },
      partner: { id: `velt-${mark}-to-go`, name: `Velt ${mark} To Go` },
      locations: [{ country: 'FR' }, { country: 'DE', region: 'Berlin' }],
      media: { banner: null, logo: 'https://fernway.example/logo.svg' },
      translations: { fr: { title: 'Balades pour deux' } },
    });
    await page.getByLabel('Title', { exact: true }).fill('Slow rides for all');
    await partner.fill(`Velt ${mark}`);
    expect(await partnerId.inputValue()).toBe(`group-${mark}`);
    await partner.fill(`Velt ${mark} and more`);
    expect(await partnerId.inputValue()).toBe(`velt-${mark}-to-go`);
    await button(page, 'Save').click();
    const saved = async () => (await perks.get(`/admin/perks/${id}`).expect(200)).body;
    await waitFor(async () => (await saved()).title === 'Slow rides for all', 'the new title');
    // A stored slug stays.
    expect((await saved()).offer_slug).toBe('slow-rides');
  }, 180_000);

  it('arranges a collection by keyboard and by drag, and a campaign whose perks are picked by picture', async () => {
    const [one, two, three] = stage.mine.perks as [string, string, string];
    const { account, mark } = stage.mine;
    const collection = `${mark}-arranged-${randomUUID().slice(0, 8)}`;
    const perks = stage.fleet.admin('perks');
    const ranks = (...ids: string[]) => ids.map((id, index) => ({ id, rank: 10 * (index + 1) }));
    await perks
      .put(`/admin/perk-collections/${collection}`)
      .send({ owner: account, groups: [{ name: 'First', rank: 5, perks: ranks(one, two, three) }] })
      .expect(200);
    const page = await stage.signIn(context, ADMIN_KEY, `/catalogue/collections/${collection}`);
    const listOf = (group: string) => page.getByRole('list', { name: `Perks of ${group}` });
    const shown = async (list: ReturnType<typeof listOf>) =>
      (await list.getByRole('listitem').allInnerTexts()).map((text) => /offer \d/.exec(text)?.[0]);
    await listOf('First').getByText('Harbour offer 1').waitFor();

    // By keyboard: the focus stays with the perk.
    await button(page, 'Move down: Harbour offer 1').focus();
    await page.keyboard.press('Enter');
    await page
      .getByRole('status')
      .filter({ hasText: 'Harbour offer 1 is now number 2 of 3 in First.' })
      .waitFor();
    await page.keyboard.press('ArrowDown');
    expect(await shown(listOf('First'))).toEqual(['offer 2', 'offer 3', 'offer 1']);
    expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe(
      'Move down: Harbour offer 1',
    );

    await button(page, 'Add a group').click();
    await page.getByLabel('Name of the group').nth(1).fill('Second');
    await button(page, 'Add perks to Second…').click();
    await dialog(page).getByLabel('Find a perk').fill('Harbour offer');
    await dialog(page)
      .getByRole('button', { name: /Harbour offer 1/ })
      .click();
    expect(
      await dialog(page)
        .getByRole('button', { name: /Harbour offer 1/ })
        .getAttribute('aria-pressed'),
    ).toBe('true');
    expect(await violations(page)).toEqual([]);
    await screenshot(page, 'perk-picker');
    await button(page, 'Done').click();

    // By drag, within a group and to another one.
    const handle = (list: ReturnType<typeof listOf>, title: string) =>
      list.getByRole('listitem').filter({ hasText: title }).locator('.drag-handle');
    await handle(listOf('First'), 'Harbour offer 1').dragTo(
      listOf('First').getByRole('listitem').filter({ hasText: 'Harbour offer 2' }),
    );
    expect(await shown(listOf('First'))).toEqual(['offer 1', 'offer 2', 'offer 3']);
    await handle(listOf('First'), 'Harbour offer 3').dragTo(
      listOf('Second').getByRole('listitem').filter({ hasText: 'Harbour offer 1' }),
    );
    expect(await shown(listOf('Second'))).toEqual(['offer 3', 'offer 1']);
    // A perk is in a group once.
    await handle(listOf('First'), 'Harbour offer 1').dragTo(listOf('Second'));
    expect(await shown(listOf('First'))).toEqual(['offer 1', 'offer 2']);
    await page
      .getByRole('region', { name: 'Second' })
      .locator('.perk-group-head .drag-handle')
      .dragTo(page.getByRole('region', { name: 'First' }).locator('.perk-group-head'));
    await page.getByRole('status').filter({ hasText: 'Second is now number 1 of 2.' }).waitFor();
    await page.getByLabel('Another language').fill('fr');
    await button(page, 'Add language').click();
    await page.getByLabel('Group 1 in French').fill('Deuxième');
    expect(await violations(page)).toEqual([]);
    await screenshot(page, 'collection-arranged');
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await scrollsSideways(page)).toBe(false);
    await screenshot(page, 'collection-arranged-360');
    await page.setViewportSize({ width: 1280, height: 900 });
    await button(page, 'Save').click();
    await untilSaid(page, 'Saved');
    const { body } = await perks.get(`/admin/perk-collections/${collection}`).expect(200);
    expect(body.groups).toMatchObject([
      { name: 'Second', perks: [{ id: three }, { id: one }], translations: { fr: { name: 'Deuxième' } } },
      { name: 'First', perks: [{ id: one }, { id: two }] },
    ]);
    // Different ranks are kept and only change places.
    expect(body.groups.map(({ rank }: { rank: number }) => rank)).toEqual([5, 6]);

    // Until the collections are read again, the picker has them in their earlier order.
    await page.reload();
    await page.getByRole('link', { name: 'All campaigns', exact: true }).click();
    await button(page, 'New campaign').click();
    await page.getByLabel('Name', { exact: true }).fill(`Picked ${collection}`);
    await page.getByLabel('Account', { exact: true }).fill(account);
    await button(page, 'Choose perks…').click();
    await dialog(page).getByLabel('Collection').selectOption(collection);
    await button(page, 'Add all 3 perks of the collection').click();
    await dialog(page).getByText('3 perks chosen.').waitFor();
    await dialog(page)
      .getByRole('button', { name: /Harbour offer 1/ })
      .click();
    await button(page, 'Done').click();
    await button(page, 'Move up: Harbour offer 2').click();
    expect(await violations(page)).toEqual([]);
    await screenshot(page, 'campaign-picked');
    await button(page, 'Save').click();
    await untilSaid(page, 'Saved');
    await page.waitForURL(/campaign-editor\/(?!new)/);
    const campaign = decodeURIComponent(page.url().split('/').at(-1)!);
    const saved = await stage.fleet.admin('boost').get(`/admin/campaigns/${campaign}`).expect(200);
    expect(saved.body).toMatchObject({ owner: account, incentives: [two, three] });
  }, 180_000);

  it('folds the groups of a large collection', async () => {
    const [one, two, three] = stage.mine.perks as [string, string, string];
    const collection = `${stage.mine.mark}-large-${randomUUID().slice(0, 8)}`;
    const group = (nth: number, ...ids: string[]) => ({
      ...{ name: `G${nth}`, rank: nth },
      perks: ids.map((id, index) => ({ id, rank: index + 1 })),
    });
    const groups = [
      ...[group(1, one), group(2, two)],
      ...Array.from({ length: 10 }, (_, nth) => group(nth + 3, one, two, three)),
    ];
    const path = `/admin/perk-collections/${collection}`;
    const perks = stage.fleet.admin('perks');
    await perks.put(path).send({ owner: stage.mine.account, groups }).expect(200);
    const page = await stage.signIn(context, ADMIN_KEY, `/catalogue/collections/${collection}`);
    const lists = page.getByRole('list', { name: /^Perks of G/ });
    const listOf = (name: string) => page.getByRole('list', { name: `Perks of ${name}`, exact: true });
    await button(page, 'Show 3 perks of G12').waitFor();
    expect(await lists.count()).toBe(0);
    expect(await violations(page)).toEqual([]);
    await screenshot(page, 'collection-folded');

    // A perk that moves to a folded group stays in sight, with the focus.
    await button(page, 'Show 1 perk of G1').click();
    await button(page, 'Move down: Harbour offer 1').focus();
    await page.keyboard.press('Enter');
    await listOf('G2').getByText('Harbour offer 1').waitFor();
    await page.locator('button:focus[aria-label="Move down: Harbour offer 1"]').waitFor();
    await button(page, 'Hide 0 perks of G1').click();
    await listOf('G1').waitFor({ state: 'detached' });
    await listOf('G2')
      .getByRole('listitem')
      .filter({ hasText: 'Harbour offer 1' })
      .locator('.drag-handle')
      .dragTo(button(page, 'Show 0 perks of G1'));
    await listOf('G1').getByText('Harbour offer 1').waitFor();

    await button(page, 'Hide all perks').click();
    await button(page, 'Show all perks').click();
    await listOf('G12').waitFor();
    expect(await lists.count()).toBe(12);
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await scrollsSideways(page)).toBe(false);
    await button(page, 'Save').click();
    await untilSaid(page, 'Saved');
    const { body } = await perks.get(path).expect(200);
    expect(body.groups.slice(0, 2)).toMatchObject([{ perks: [{ id: one }] }, { perks: [{ id: two }] }]);
    await perks.delete(path).expect(204);
  }, 120_000);

  it('sees what somebody else has changed in the meantime, and decides', async () => {
    const page = await stage.signIn(context, ADMIN_KEY);
    const id = stage.mine.perks[1]!;
    const elsewhere = (title: string) =>
      stage.fleet
        .admin('perks')
        .put(`/admin/perks/${id}`)
        .send({ ...perkBody('Harbour offer 2'), title })
        .expect(200);
    const conflict = page.getByRole('heading', { name: 'Somebody else has changed this in the meantime' });
    await stage.goto(page, `/catalogue/perks/${id}`);
    await elsewhere('Their title');
    await page.getByLabel('Short value line').fill('My callout');
    await button(page, 'Save').click();
    await conflict.waitFor();
    await page.getByText('The form now has what they changed: Title.').waitFor();
    expect(await page.getByLabel('Title').inputValue()).toBe('Their title');
    await button(page, 'Save').click();
    await untilSaid(page, 'Saved');
    const { body } = await stage.fleet.admin('perks').get(`/admin/perks/${id}`).expect(200);
    expect(body).toMatchObject({ title: 'Their title', callout: 'My callout' });
    await elsewhere('Changed by another');
    await waitFor(async () => {
      const logged = `select from console.audit_outcomes where after ->> 'title' = 'Changed by another'`;
      return (await stage.fleet.database.query(logged)).length === 1;
    }, 'the change in the audit log');
    await page.getByLabel('Title').fill('Changed here');
    let showLog = () => {};
    const log = new Promise<void>((resolve) => (showLog = resolve));
    await page.route('**/api/audit-log?*', async (route) => {
      await log;
      await route.continue();
    });
    await button(page, 'Save').click();
    // Without waiting for the audit log.
    await conflict.waitFor();
    // The form is longer than the window.
    expect(await page.evaluate('document.activeElement.getAttribute("role")')).toBe('alert');
    await page.getByLabel('Short value line').fill('Mine alone');
    showLog();
    await page.getByText(/^Saved by API key \S+ on .+\d\d:\d\d.*\.$/).waitFor();
    expect(await page.evaluate('document.activeElement.value')).toBe('Mine alone');
    const clash = page.getByRole('group', { name: 'Title', exact: true });
    await clash.getByText('Before: Their title').waitFor();
    const mine = clash.getByRole('radio', { name: 'Mine: Changed here' });
    expect(await mine.isChecked()).toBe(true);
    expect(await page.getByLabel('Title').first().inputValue()).toBe('Changed here');
    await clash.getByRole('radio', { name: 'Theirs: Changed by another' }).check();
    expect(await mine.isChecked()).toBe(false);
    expect(await page.getByLabel('Title').first().inputValue()).toBe('Changed by another');
    expect(await page.getByLabel('Short value line').inputValue()).toBe('Mine alone');
    await screenshot(page, 'perk-conflict');
    await button(page, 'Discard my changes').click();
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Save');
    expect(await page.getByLabel('Short value line').inputValue()).not.toBe('Mine alone');
    await page.getByLabel('Title').fill('Harbour offer 2');
    await button(page, 'Save').click();
    await untilSaid(page, 'Saved');

    // The audit log keeps no codes, so an earlier version takes the one in the form.
    const perks = stage.fleet.admin('perks');
    await waitFor(
      async () => (await perks.get(`/admin/perks/${id}`)).body.title === 'Harbour offer 2',
      'the saved perk',
    );
    const withCode = { ...perkBody('With a code'), coupon: 'SAIL-AWAY' };
    await perks.put(`/admin/perks/${id}`).send(withCode).expect(200);
    await stage.goto(page, `/catalogue/perks/${id}?tab=history`);
    const entry = page.getByRole('row', { name: 'Changed perk With a code' });
    const rejected = page.getByRole('row', { name: 'Attempt: ' }).first();
    const putBack = () =>
      entry.getByRole('button', { name: 'Put the version before this into the form' }).click();
    await rejected.getByText('Not saved: someone else had changed it (412)').waitFor();
    await rejected.getByText('Nothing changed').click();
    await rejected.getByText('PUT perks /admin/perks/').waitFor();
    expect(await rejected.locator('.difference').count()).toBe(0);
    await putBack();
    await page.getByText('That version may have had another, or none: check the one in the form.').waitFor();
    expect(await page.getByLabel('Title').first().inputValue()).toBe('Harbour offer 2');
    expect(await page.getByLabel('Shared code').inputValue()).toBe('SAIL-AWAY');
    await elsewhere('Without a code');
    await button(page, 'Save').click();
    await conflict.waitFor();
    expect(await page.getByText('The form has the version before').count()).toBe(0);
    await button(page, 'Discard my changes').click();
    await page.getByRole('tab', { name: 'History' }).click();
    // The cached list shows first. When the newer entry arrives, the previous one stays open.
    await page.getByRole('row', { name: 'Changed perk Without a code' }).first().waitFor();
    await entry
      .getByRole('term')
      .filter({ hasText: /^Title$/ })
      .waitFor();
    await putBack();
    await page.getByText('If that version had one, it is missing here').waitFor();
    expect(await page.getByLabel('Shared code').count()).toBe(0);
    await perks.put(`/admin/perks/${id}`).send(perkBody('Harbour offer 2')).expect(200);
  }, 120_000);
});

const perkRows = (account: string, title: string) =>
  [
    'id,title,description,callout,redemption_note,details,offer_url,offer_slug,partner.id,partner.name,categories',
    ...Array.from(
      { length: 10 },
      (_, nth) =>
        `${account}-${nth + 1},${title} ${nth + 1},In words,Now,By itself,None,https://fernway.example/${nth},offer-${nth},fernway,Fernway,7`,
    ),
  ].join('\n');

/** Creates an account with events on the day before only. */
async function aSilentAccount(): Promise<string> {
  const { account } = await stage.fleet.anAccount();
  await stage.fleet.database.query(
    `insert into analytics.event_hours (account_id, type, hour, events, people, perks)
     values ($1, 'perk_click', date_trunc('hour', now()) - interval '30 hours', 150, 150, 0)`,
    [account],
  );
  return account;
}

/** Creates an account with a pool of this many cards, and makes links; returns the last one's id. */
async function anAccountWithLinks(cards: number, links: number) {
  const { account, key } = await stage.fleet.anAccount();
  const [pool, gifts] = [randomUUID(), stage.fleet.admin('gift-cards')];
  await gifts.put(`/admin/pools/${pool}`).send({ owner: account, product: { name: 'Quiet voucher' } });
  const load = gifts.post(`/admin/pools/${pool}/cards`).set('content-type', 'text/csv');
  await load.send(cardRows(cards, 'Quiet')).expect(200);
  const link = () =>
    http({ url: stage.fleet.urls['gift-cards']! }, { key })
      .post(`/pool/${pool}/reward-links?idempotencyKey=${randomUUID()}`)
      .set('x-created-by', 'tests')
      .send({ denomination: 25, currency: 'EUR', expires_at: Math.floor(Date.now() / 1000) + 86_400 })
      .expect(201);
  let linkId = '';
  for (let nth = 0; nth < links; nth += 1) linkId = (await link()).body.id;
  return { account, key, pool, linkId, link };
}

describe('an operator', () => {
  const rowsOf = async (page: Page, name: string) => {
    const texts = await page.getByRole('table', { name }).getByRole('row').allInnerTexts();
    return texts.slice(1).map((text) => text.replaceAll(/\s+/g, ' ').trim());
  };

  it('finds a change in the audit log by its object, and in the history of the object', async () => {
    const page = await stage.signIn(context, ADMIN_KEY, '/catalogue/categories/7');
    await page.getByLabel('Name', { exact: true }).fill('Outdoors and sea');
    await page.getByRole('tab', { name: 'History' }).click();
    await page.getByRole('table', { name: 'History of 7' }).waitFor();
    await page.getByRole('tab', { name: 'Edit' }).click();
    // Switching tabs does not leave the screen, so it loses no input.
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Outdoors and sea');
    await button(page, 'Save').click();
    await untilSaid(page, 'Saved');
    await page.getByRole('tab', { name: 'History' }).click();
    // Its entries have the name that it had then.
    const created = page.getByRole('row').filter({ hasText: 'Created category Outdoors' });
    await created.first().waitFor();
    const changed = page.getByRole('row', { name: 'Changed category Outdoors and sea' }).first();
    // The history of an object shows what its newest entry changed. Its account is the same in each.
    await changed.locator('.differences').getByText('Outdoors and sea').waitFor();
    expect(await changed.getByRole('term').allInnerTexts()).toEqual(['Name']);
    // The one that was the newest before stays open.
    expect(await page.locator('details[open]').count()).toBe(2);
    expect(await page.getByRole('columnheader', { name: 'Account' }).count()).toBe(0);
    await screenshot(page, 'history');
    // A version goes into the form, and is saved like any edit.
    await page.getByRole('tab', { name: 'Edit' }).click();
    await page.getByLabel('Slug').fill('sea');
    await page.getByRole('tab', { name: 'History' }).click();
    expect(await created.getByRole('button').count()).toBe(0);
    const earlier = changed.getByRole('button', { name: 'Put the version before this into the form' });
    await earlier.click();
    await page.getByText('Replace your unsaved changes?').waitFor();
    await button(page, 'Replace').click();
    await page.getByText(/^The form has the version before the change of .+\. It is not saved yet/).waitFor();
    await page.locator('.restored:focus').waitFor({ timeout: 5_000 });
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Outdoors');
    expect(await page.getByLabel('Slug').inputValue()).toBe('outdoors');
    expect(await violations(page)).toEqual([]);
    await screenshot(page, 'history-restored');
    await button(page, 'Discard my changes').click();
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Outdoors and sea');
    await page.getByRole('tab', { name: 'History' }).click();
    await earlier.click();
    await button(page, 'Save').click();
    await untilSaid(page, 'Saved');
    await page.getByText('The form has the version before').waitFor({ state: 'detached' });
    const categories = stage.fleet.admin('perks');
    expect((await categories.get('/admin/categories/7').expect(200)).body.name).toBe('Outdoors');

    await page.getByRole('link', { name: 'Audit log', exact: true }).click();
    expect(await page.locator('time').first().innerText()).toMatch(/\d\d:\d\d:\d\d/);
    await page.getByLabel('Outcome').selectOption('Done');
    await page.getByLabel('Kind').selectOption('Categories');
    await page.getByLabel('Object').fill('7');
    await page.getByLabel('Person or key').fill('bootst');
    await waitFor(async () => {
      const rows = await rowsOf(page, 'Audit log');
      return (
        rows.length > 0 &&
        rows.every((row) => /^(?!.*Attempt).*(Created|Changed) category Outdoors\b/.test(row))
      );
    }, 'the changes of the category');
    await page.reload();
    await page.getByRole('table', { name: 'Audit log' }).waitFor();
    expect(await page.getByLabel('Object').inputValue()).toBe('7');
    const outcome = page.getByLabel('Outcome');
    await outcome.selectOption('Rejected');
    await page.getByText('No change matches').waitFor();
    await outcome.selectOption('Any outcome');
    // What operators did with an account and its possessions.
    await page.getByLabel('Kind').selectOption('Any kind');
    await page.getByLabel('Object').fill('');
    await page.getByLabel('Account').fill(stage.mine.account);
    const campaign = page.getByRole('row').filter({ hasText: 'Created campaign Harbour' }).first();
    await campaign.waitFor();
    // The entry is by an operator, and about this account.
    await campaign.getByRole('link', { name: `Name of ${stage.mine.account}`, exact: true }).waitFor();
    // An entry takes one line, even with an account of a long name. Its author and call are among its details.
    expect((await campaign.boundingBox())!.height).toBeLessThan(40);
    expect(await page.getByRole('columnheader').allInnerTexts()).toEqual([
      'When',
      'Who',
      'Account',
      'What',
      'Changes',
    ]);
    await screenshot(page, 'audit-log-of-account');
    const call = campaign.getByText('PUT boost /admin/campaigns/');
    expect(await call.isVisible()).toBe(false);
    await campaign.locator('summary').click();
    await call.waitFor();
    await campaign.getByText(/^API key \S+, .*\d{4}.* \d\d:\d\d:\d\d$/).waitFor();
    expect((await campaign.getByRole('term').allInnerTexts()).toSorted()).toEqual([
      'Account',
      'Name',
      'Perks',
    ]);
    expect((await rowsOf(page, 'Audit log')).filter((row) => row.includes('Foreign'))).toEqual([]);
    await page.getByLabel('To', { exact: true }).fill('2020-01-01');
    await page.getByText('No change matches').waitFor();
  }, 120_000);

  it('is led by the audit log to what became of a deleted object', async () => {
    const page = await stage.signIn(context, ADMIN_KEY, '/catalogue/categories/new');
    // Ids are suggested, so the form asks for them last.
    expect(await page.locator('form.form label').last().innerText()).toBe('Id');
    await page.getByLabel('Name', { exact: true }).fill('Short-lived');
    await page.getByLabel('Slug').fill('short-lived');
    await page.getByLabel('Id', { exact: true }).fill('77');
    await button(page, 'Save').click();
    await page.getByRole('heading', { level: 1, name: 'Short-lived' }).waitFor();
    await button(page, 'Delete').click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { level: 1, name: 'Catalogue' }).waitFor();
    await stage.goto(page, '/audit-log?kind=categories&object=77');
    await page.getByRole('link', { name: 'Created category Short-lived' }).click();
    await page.getByText('It was deleted, or never created').waitFor();
    const deleted = page.getByRole('row', { name: 'Deleted category Short-lived' });
    await deleted.waitFor();
    expect(await violations(page)).toEqual([]);
    await deleted.getByRole('button', { name: 'Put the version before this into the form' }).click();
    await page.getByText(/^The form has the version before the change of/).waitFor();
    await button(page, 'Save').click();
    await untilSaid(page, 'Saved');
    await button(page, 'Delete').click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { level: 1, name: 'Catalogue' }).waitFor();
    // What belongs to a pool goes with it, without errors.
    await stage.goto(page, `/pools/${randomUUID()}`);
    await page.getByText('It was deleted, or never created').waitFor();
    await page.getByRole('heading', { name: 'Upload cards' }).waitFor({ state: 'detached' });
    expect(await page.getByRole('alert').count()).toBe(0);
  }, 120_000);

  it('sees when each account tracked its last event, and what a collection has', async () => {
    const page = await stage.signIn(context, ADMIN_KEY, '/accounts');
    const { account, collection } = stage.mine;
    const accounts = page.getByRole('table', { name: 'Accounts' });
    await accounts
      .getByRole('row', { name: `Name of ${account}` })
      .getByText(/ago|now/)
      .waitFor();
    await accounts.getByRole('row', { name: 'Platform' }).getByText('None in two weeks').waitFor();
    await stage.goto(page, '/catalogue/collections');
    await page.getByRole('link', { name: collection }).waitFor();
    const row = (await rowsOf(page, 'Collections')).find((text) => text.startsWith(collection));
    expect(row).toMatch(new RegExp(`^${collection} 1 \\d+ Name of ${account} `));
    // A limit on one pool offers the pools of the account by name, and those of no other.
    await stage.goto(page, '/limit-editor/new');
    const onlyPool = page.getByLabel('Only this pool');
    const hint = page.locator('.field', { hasText: 'Only this pool' });
    await hint.getByText('Choose the account first.').waitFor();
    expect(await onlyPool.isDisabled()).toBe(true);
    expect(await violations(page)).toEqual([]);
    await screenshot(page, 'limit-without-account');
    // A limit needs links, or an amount with its currency.
    const required = page.locator('.field:has(:required) > label');
    expect(await required.allInnerTexts()).toEqual(['Account', 'Links', 'Id']);
    await page.getByLabel('Amount', { exact: true }).fill('5');
    await waitFor(
      async () => (await required.allInnerTexts()).join() === 'Account,Currency,Id',
      'the marks of required fields',
    );
    await page.getByLabel('Amount', { exact: true }).fill('');
    await page.getByLabel('Account', { exact: true }).fill(account);
    const pools = page.locator(`datalist option[value="${stage.mine.pool}"]`);
    await pools.waitFor({ state: 'attached' });
    expect(await pools.textContent()).toBe('Harbour voucher');
    expect(await page.locator(`datalist option[value="${stage.theirs.pool}"]`).count()).toBe(0);
    await onlyPool.fill('No such pool');
    await onlyPool.blur();
    await hint.getByText('No pool has this id or name.').waitFor();
    expect(await onlyPool.inputValue()).toBe('No such pool');
    // A part that one of them has is enough.
    await onlyPool.fill('harbour vou');
    await onlyPool.blur();
    await hint.getByText('Harbour voucher').waitFor();
    expect(await onlyPool.inputValue()).toBe(stage.mine.pool);
    await page.getByLabel('Account', { exact: true }).fill(stage.theirs.account);
    await page.locator(`datalist option[value="${stage.theirs.pool}"]`).waitFor({ state: 'attached' });
    expect(await pools.count()).toBe(0);
    expect(await onlyPool.inputValue()).toBe('');
    await stage.goto(page, '/catalogue');
    // Ids stand below the titles, where none is split between two letters.
    await page.getByRole('rowheader', { name: `Harbour offer 1 ${stage.mine.perks[0]}` }).waitFor();
  }, 120_000);

  it('orders accounts by their traffic and by its change, which is counted once', async () => {
    const [mine, theirs] = [stage.mine.account, stage.theirs.account];
    const page = await stage.signIn(context, ADMIN_KEY, '/health');
    let counts = 0;
    await page.route('**/api/operators-home', async (route) => {
      counts += 1;
      const home = (await (await route.fetch()).json()) as object;
      const last = { last_event_at: new Date(Date.now() - 86_400_000).toISOString() };
      const traffic = [
        { account_id: mine, events: 6_000, events_before: 20_000, ...SAME_DAY, ...last },
        { account_id: theirs, events: 2_000, events_before: 1_000, ...SAME_DAY, ...last },
      ];
      await route.fulfill({ json: { ...home, traffic } });
    });
    await page.getByRole('link', { name: 'Accounts', exact: true }).click();
    const table = page.getByRole('table', { name: 'Accounts' });
    await table.getByText('6,000').waitFor();
    const first = table.getByRole('row').nth(1);
    await table.getByRole('button', { name: 'Last 7 days' }).click();
    await first.filter({ hasText: mine }).waitFor();
    await table.getByRole('button', { name: 'Change from week before' }).click();
    await first.filter({ hasText: theirs }).getByText('+100%').waitFor();
    await table.getByRole('button', { name: 'Change from week before' }).click();
    await first.filter({ hasText: mine }).getByText('−70%').waitFor();
    expect(decodeURIComponent(page.url())).toMatch(/order=Change.from.week.before/);
    expect(await violations(page)).toEqual([]);
    await screenshot(page, 'accounts-ordered');
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await scrollsSideways(page)).toBe(false);
    expect(await page.getByText('Scroll sideways to see all columns').count()).toBe(0);
    await screenshot(page, 'accounts-ordered-360');
    await page.getByText(/^\d+ accounts$/).waitFor();
    await page.getByLabel('Search').fill(theirs);
    await page.getByText('1 account', { exact: true }).waitFor();
    expect(await rowsOf(page, 'Accounts')).toEqual([expect.stringContaining(theirs)]);
    expect(counts).toBe(1);
  }, 120_000);

  it('sees what needs attention, and views the console of an account without changing it', async () => {
    const { account } = stage.mine;
    const [silent, quiet] = [await aSilentAccount(), (await anAccountWithLinks(8, 5)).account];
    // A younger stock has too little history for a forecast.
    await stage.fleet.database.query(
      `with aged as (
         update gift_cards.pools set created_at = now() - interval '3 days' where owner = $1 returning id
       )
       update gift_cards.inventories set created_at = now() - interval '3 days' where pool_id in (select id from aged)`,
      [quiet],
    );
    const short = await anAccountWithLinks(1, 0);
    const theirs = await stage.window();
    const client = await stage.signIn(theirs, short.key, '/gift-cards');
    await button(client, 'Make many links').click();
    await dialog(client).getByLabel('Name').fill('Too many');
    await dialog(client).getByLabel('Links for').selectOption('A number of people');
    await dialog(client).getByLabel('How many').fill('2');
    await button(client, 'Continue').click();
    await button(client, 'Make 2 links (€50)').click();
    await client.waitForSelector('[data-job="failed"]');
    await theirs.close();
    const page = await stage.signIn(context, ADMIN_KEY);
    await page.getByRole('heading', { level: 1, name: 'Operations' }).waitFor();
    let alarms: string[] = [];
    // An app that responds too late on a busy machine is reported as down.
    await waitFor(async () => {
      await page.reload();
      await page.locator('[data-findings]').waitFor();
      alarms = await rowsOf(page, 'Needs attention');
      // This fleet has neither `links` nor a page that the console knows.
      expect(alarms.slice(0, 3)).toEqual([
        expect.stringMatching(
          /^Critical Down\. Click URLs of perks do not open\. links \d+ \w+ \d{4}, \d\d:\d\d or earlier What to do about AppDown$/,
        ),
        expect.stringMatching(
          /^Critical Down\. Recipients cannot open their reward links\. allocation-page /,
        ),
        expect.stringMatching(new RegExp(`^Critical Events have stopped .*${silent} .* See its traffic$`)),
      ]);
    }, 'the alarms');
    for (const alarm of [
      /^Critical Lasts 1 day: 3 left, 1.67 used per day .* voucher, €25, FR, Name of .* Not recorded Upload cards$/,
      /^Warning Link job ended early Too many, Name of .* \d+ \w+ \d{4}, \d\d:\d\d See the link job$/,
      /^Warning Webhook fails crm, Name of .* \d+ \w+ \d{4}, \d\d:\d\d See the error$/,
      // Three of the four have a row of their own.
      /^Warning 1 more Failing webhooks Not recorded See all$/,
    ])
      expect(alarms).toContainEqual(expect.stringMatching(alarm));
    await page.getByRole('link', { name: 'What to do about AppDown' }).first().click();
    await page.locator('#appdown:focus').waitFor();
    await page.goBack();
    await page.locator('[data-findings]').waitFor();
    const lowStock = await rowsOf(page, 'Low stock');
    const dates = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });
    expect(lowStock).toContain(
      `Critical Quiet voucher Name of ${quiet} €25, FR 3 1.67 1 day ${dates.format(Date.now() + (9 / 5) * 86_400_000)}`,
    );
    // Nobody made a link of these, so nothing says when they run out.
    const unused = `Foreign voucher Name of ${stage.theirs.account} €25, FR 5`;
    expect(await rowsOf(page, 'Low, not used recently')).toContain(unused);
    expect(lowStock.filter((row) => row.includes('Foreign'))).toEqual([]);
    const [{ events }] = (await stage.fleet.database.query(
      `select count(*)::integer as events from analytics.tracking_events
       where account_id = $1 and occurred_at > now() - interval '6 days'`,
      [account],
    )) as [{ events: number }];
    expect(await rowsOf(page, 'Traffic')).toContainEqual(
      expect.stringMatching(
        new RegExp(
          `^Name of ${account} Last event (now|\\d+ minutes? ago) \\d+ \\d+ \\S+ ${events} \\d+ .*View as client$`,
        ),
      ),
    );
    const traffic = await rowsOf(page, 'Traffic');
    expect(traffic).toContain(`Name of ${silent} Events have stopped 0 150 −100% 150 0 New View as client`);
    expect(traffic.filter((row) => row.startsWith('Platform'))).toEqual([]);
    expect(await rowsOf(page, 'Failing webhooks')).toEqual(
      expect.arrayContaining([
        expect.stringMatching(`crm Name of ${account} Fails since`),
        expect.stringMatching(`former Name of ${account} Disabled .* 410 Gone`),
      ]),
    );
    expect(await rowsOf(page, 'Link jobs')).toContainEqual(
      expect.stringMatching(
        `Too many Name of ${short.account} Ended early The pool has no card left .* 2 .* View as client`,
      ),
    );
    await screenshot(page, 'operations');
    // One step leads to the object, in the console of its account.
    await button(page, `See the error: crm, Name of ${account}`).click();
    await page.getByRole('heading', { level: 1, name: 'crm' }).waitFor();
    await page.getByText(`as the people of Name of ${account} do`).waitFor();
    await page.getByRole('heading', { name: /^Failing since / }).waitFor();
    await page.getByRole('heading', { name: 'Deliveries' }).waitFor();
    await untilShown(page);
    expect(await page.innerText('main')).not.toContain('scope');
    await screenshot(page, 'viewing-webhook');
    await stage.goto(page, '/integration/webhooks');
    await page.getByRole('link', { name: 'crm' }).waitFor();
    await button(page, 'Stop viewing').click();
    await page.getByRole('heading', { level: 1, name: account }).waitFor();
    await stage.goto(page, '/home');
    await button(page, `See the link job: Too many, Name of ${short.account}`).click();
    await page.locator('[data-job="failed"]').getByText('The pool has no card left').waitFor();
    await button(page, 'Stop viewing').click();
    await page.getByRole('heading', { level: 1, name: short.account }).waitFor();
    await stage.goto(page, '/home');
    await page.getByRole('button', { name: `View as client: Name of ${account}` }).click();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await page.getByText(`as the people of Name of ${account} do`).waitFor();
    await page.waitForSelector('[data-figure="clicks"]');
    expect(await page.getByRole('link', { name: 'Accounts', exact: true }).count()).toBe(0);
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Gift cards' }).click();
    await button(page, 'Make one link').click();
    await dialog(page).getByText('You only view this account').waitFor();
    expect(await button(page, 'Make link').isDisabled()).toBe(true);
    await screenshot(page, 'viewing');
    await page.keyboard.press('Escape');
    await button(page, 'Stop viewing').click();
    await page.getByRole('heading', { level: 1, name: account }).waitFor();
    await page.getByRole('tab', { name: 'History' }).click();
    await page.getByText(`Viewed Name of ${account} as client`).first().waitFor();
  }, 120_000);

  it('shows which accounts lost events, and says so where there is nothing to list', async () => {
    const [mine, theirs] = [stage.mine.account, stage.theirs.account];
    const page = await stage.signIn(context, ADMIN_KEY, '/health');
    let hasWebhooks = false;
    /** Whether no alarm has a known time. */
    let isTimeless = false;
    /** When `theirs` had its last event, relative to the last full hour. */
    let lastMs = -2 * 3_600_000;
    await page.route('**/api/operators-home', async (route) => {
      const home = (await (await route.fetch()).json()) as { day_to: string };
      const last = (ms: number) => ({ last_event_at: new Date(Date.parse(home.day_to) + ms).toISOString() });
      const traffic = [
        { account_id: mine, events: 60, events_before: 200, ...SAME_DAY, ...last(0) },
        { account_id: theirs, events: 20, events_before: 200, ...SILENT_DAY, ...last(lastMs) },
      ];
      const json = { ...home, traffic, webhooks: [], has_webhooks: hasWebhooks };
      await route.fulfill({ json: isTimeless ? { ...json, link_jobs: [] } : json });
    });
    const value = (product: string, available: number, per_day: number | null) => ({
      ...{ pool_id: stage.mine.pool, account_id: mine, denomination: 25, currency: 'EUR', country: 'FR' },
      ...{ product, available, per_day, days_left: per_day && Math.floor(available / per_day) },
    });
    await page.route('**/api/low-stock', (route) =>
      route.fulfill({
        json: [
          value('Few', 3, 0.3),
          value('Asleep', 4, null),
          value('Fast', 40, 20),
          value('Gone', 0, null),
          { ...value('Some', 2, 2), days_left: null },
        ],
      }),
    );
    await page.route('**/api/low-codes', (route) =>
      route.fulfill({ json: [{ perk_id: 'p', title: 'Codes', available: 30, days_left: 5, per_day: 6 }] }),
    );
    await page.route('**/api/health', async (route) => {
      const health = (await (await route.fetch()).json()) as object;
      const none = { apps: [], outbox: [], consumers: [], webhooks: null };
      await route.fulfill({
        json: { ...health, ...(isTimeless ? none : { erasures_oldest_seconds: 2 * 3_600 }) },
      });
    });
    await stage.goto(page, '/home');
    await page.locator('[data-findings]').waitFor();
    // The first to run out comes first, also with too little history, and what nobody uses is no alarm.
    const low = await rowsOf(page, 'Low stock');
    expect(low.map((row) => row.split(' ').slice(0, 2).join(' '))).toEqual([
      // A rate with too little history is no reason for a critical alarm.
      ...['Critical Gone', 'Warning Some', 'Critical Fast', 'Warning Codes', 'Warning Few'],
    ]);
    expect(low[1]).toContain('At this rate under 3 days; too little history for a date');
    expect(await rowsOf(page, 'Low, not used recently')).toHaveLength(1);
    const alarms = async () => (await rowsOf(page, 'Needs attention')).join('\n');
    expect(await alarms()).toContain(
      `Critical Has run out Gone, €25, FR, Name of ${mine} Not recorded Upload cards`,
    );
    expect(await alarms()).toContain(
      `Critical Lasts 2 days: 40 left, 20 used per day Fast, €25, FR, Name of ${mine} Not recorded Upload cards`,
    );
    expect(await alarms()).toContain(
      `Warning Lasts 10 days: 3 left, 0.3 used per day Few, €25, FR, Name of ${mine} Not recorded Upload cards`,
    );
    expect(await alarms()).toContain(
      'Warning Lasts 5 days: 30 left, 6 used per day Single-use codes of Codes Not recorded Load codes',
    );
    expect(await alarms()).toMatch(
      /Warning An erasure has not finished for over an hour token-issuer \d+ \w+/,
    );
    expect(await alarms()).toMatch(
      new RegExp(
        `Critical Events have stopped Name of ${theirs} \\d+ \\w+ \\d{4}, \\d\\d:00 See its traffic`,
      ),
    );
    const theirRow = async () => (await rowsOf(page, 'Traffic')).find((row) => row.includes(theirs));
    expect(await theirRow()).toMatch(/Events have stopped Last event [23] hours ago 0 150 −100%/);
    // They are back, within the hour that the day leaves out.
    lastMs = 0;
    await stage.goto(page, '/home');
    await page.locator('[data-findings]').waitFor();
    expect(await theirRow()).toMatch(/Last event (now|\d+ minutes? ago) 0 150 −100%/);
    const drops = page.getByRole('row', { name: theirs }).locator('.change-down');
    expect(await drops.allInnerTexts()).toEqual(['−90%']);
    expect(await alarms()).not.toContain('Events have stopped');
    // The greatest loss first.
    expect(await alarms()).toMatch(
      new RegExp(
        `90% fewer events than the week before Name of ${theirs} Not recorded See its traffic\n.*70% fewer events than the week before Name of ${mine} Not recorded See its traffic`,
      ),
    );
    await page.getByText('No account has an enabled webhook.').waitFor();
    // The screen says how old its figures are, and reads all of them again.
    const refreshed = page.locator('[data-refreshed]');
    const at = async () => Number(await refreshed.getAttribute('data-refreshed'));
    const before = await at();
    expect(await refreshed.innerText()).toMatch(/^Refreshed \d\d:\d\d:\d\d$/);
    hasWebhooks = true;
    await button(page, 'Refresh').click();
    await page.getByText('No enabled webhook fails.').waitFor();
    await waitFor(async () => (await at()) > before, 'all figures to be read again');
    hasWebhooks = false;
    // Tables stand below each other, each as wide as the screen.
    const [traffic, lowStock, failing] = await Promise.all(
      ['#traffic', '#low-stock', '#failing-webhooks'].map((card) => page.locator(card).boundingBox()),
    );
    expect([lowStock!.width, failing!.width]).toEqual([traffic!.width, traffic!.width]);
    await page.getByRole('link', { name: `See its traffic: Name of ${mine}`, exact: true }).click();
    await page.getByRole('heading', { level: 1, name: `Name of ${mine}` }).waitFor();
    hasWebhooks = true;
    await stage.goto(page, '/home');
    await page.getByText('No enabled webhook fails.').waitFor();
    const since = page.getByRole('columnheader', { name: 'Since', exact: true });
    await page.getByRole('table', { name: 'Needs attention' }).locator(since).waitFor();
    isTimeless = true;
    await stage.goto(page, '/home');
    await page.locator('[data-findings]').waitFor();
    expect(await alarms()).toContain(`Critical Has run out Gone, €25, FR, Name of ${mine} Upload cards`);
    expect(await page.getByRole('table', { name: 'Needs attention' }).locator(since).count()).toBe(0);

    await page.route(/\/api\/gift\/admin\/limits/, (route) =>
      route.fulfill({ json: { data: [], next_cursor: null } }),
    );
    await stage.goto(page, '/limit-editor');
    await page.getByText('No account has a limit').waitFor();
    expect(await button(page, 'New limit').count()).toBe(1);
  }, 120_000);

  it('sees every app and consumer with numbers, and what limits are for', async () => {
    const page = await stage.signIn(context, ADMIN_KEY, '/health');
    await page.getByRole('table', { name: 'Apps' }).waitFor();
    // An app that responds too late on a busy machine is reported as down until the next refresh.
    await waitFor(
      async () =>
        expect((await rowsOf(page, 'Apps')).map((row) => row.split(' ').slice(0, 2).join(' '))).toEqual(
          expect.arrayContaining(['analytics-ingest Up', 'analytics-query Up', 'console Up', 'events Up']),
        ),
      'all apps to be up',
    );
    // Apps that are down come first, with the time when this window first saw it.
    expect((await rowsOf(page, 'Apps'))[0]).toMatch(/^(links|allocation-page) Down/);
    const down = await rowsOf(page, 'Needs attention');
    expect(down[0]).toMatch(/^Critical Down\. .* \d\d:\d\d or earlier What to do about AppDown$/);
    const consumers = await rowsOf(page, 'Consumers of the event stream');
    expect(consumers).toEqual([
      expect.stringMatching(/^analytics-ingest \S+\/analytics-query \d+ \d+ /),
      expect.stringMatching(/^events \S+\/events \d+ \d+ /),
    ]);
    // This screen is always refreshed, and the switch says so.
    await page.getByText('Auto-refresh on').waitFor();
    expect(await page.getByRole('switch', { name: 'Auto-refresh' }).isDisabled()).toBe(true);
    const refreshed = page.locator('[data-refreshed]');
    const at = await refreshed.getAttribute('data-refreshed');
    await waitFor(async () => (await refreshed.getAttribute('data-refreshed')) !== at, 'the next refresh');
    await screenshot(page, 'health-numbers');
    await page.getByRole('link', { name: 'Accounts', exact: true }).click();
    await page.getByText('Auto-refresh off').waitFor();
    await stage.goto(page, '/limits');
    expect(await page.innerText('main')).not.toContain('Your operator');
    await stage.goto(page, '/limit-editor');
    await page.getByText('A limit caps the number or the value of the reward links').waitFor();
  }, 120_000);

  it('sees what an account has, and gets to it', async () => {
    const { account, pool } = stage.theirs;
    const page = await stage.signIn(context, ADMIN_KEY, `/accounts/${account}`);
    const holdings = page.getByRole('table', { name: 'Resources' });
    await holdings.getByText('foreign-month').waitFor();
    expect(await rowsOf(page, 'Resources')).toEqual([
      'Collections Foreign-collection New',
      'Campaigns Foreign spring New',
      'Pools Foreign voucher New',
      'Limits foreign-month New',
    ]);
    await page.getByRole('table', { name: 'Webhooks' }).waitFor();
    const webhooks = await rowsOf(page, 'Webhooks');
    for (const state of [
      /^orders http:\S+ Works 0 View as client$/,
      /^crm http:\S+ Fails since /,
      /^former http:\S+ Disabled .* 410 Gone 0 View as client$/,
    ])
      expect(webhooks).toContainEqual(expect.stringMatching(state));
    // Its state comes before the form.
    await page.getByRole('table', { name: 'People' }).or(page.getByText('Nobody yet.')).waitFor();
    expect(await page.locator('main h2').allInnerTexts()).toEqual([
      ...['Traffic', 'Resources', 'Webhooks', 'API keys', 'People', 'Settings'],
    ]);
    // An operator may change every account, so the console explains the role and asks first.
    const olga = `olga-${randomUUID().slice(0, 8)}@perkway.example`;
    await page.getByLabel('E-mail address').fill(olga);
    await page.getByText('nothing of other accounts').waitFor();
    await page.getByLabel('Role', { exact: true }).selectOption('Operator of all accounts (ADMIN)');
    await page.getByText('May see and change every account').waitFor();
    await button(page, 'Add person').click();
    const asked = page.getByRole('alertdialog');
    await asked.getByText(`${olga} may then see and change every account`).waitFor();
    expect(await violations(page)).toEqual([]);
    await button(page, 'Go back').click();
    await asked.waitFor({ state: 'detached' });
    expect(await rowsOf(page, 'People')).not.toContainEqual(expect.stringContaining(olga));
    await button(page, 'Add person').click();
    await asked.getByRole('button', { name: 'Add operator' }).click();
    const added = page.getByRole('row', { name: `${olga} Operator of all accounts (ADMIN)` });
    await added.waitFor();
    await button(page, `Remove: ${olga}`).click();
    await asked.getByRole('button', { name: 'Remove' }).click();
    await added.waitFor({ state: 'detached' });
    const [stored] = await stage.fleet.database.query<{ events: number; last: Date }>(
      `select count(*)::integer as events, max(occurred_at) as last from analytics.tracking_events
       where account_id = $1 and occurred_at > now() - interval '6 days'`,
      [account],
    );
    const traffic = page.locator('section', { has: page.getByRole('heading', { name: 'Traffic' }) });
    expect(await traffic.locator('time').getAttribute('datetime')).toBe(stored!.last.toISOString());
    // The last 24 full hours leave out the current one.
    expect((await traffic.locator('dd').allInnerTexts()).slice(1)).toEqual([
      expect.stringMatching(/^\d+( New)?$/),
      '0',
      `${stored!.events} New`,
      '0',
    ]);
    await screenshot(page, 'account-holdings');
    expect(await page.evaluate(COVERED_FIELDS)).toEqual([]);
    await page.getByRole('link', { name: 'Audit log', exact: true }).last().click();
    await page.getByRole('table', { name: 'Audit log' }).waitFor();
    expect(await page.getByLabel('Account').inputValue()).toBe(account);
    await page
      .getByText(`Let ${olga} sign in for Name of ${account} as an operator of all accounts`)
      .waitFor();
    await page.goBack();
    await untilShown(page);
    await holdings.getByRole('link', { name: 'Foreign voucher' }).click();
    await page.getByRole('heading', { level: 1, name: 'Foreign voucher' }).waitFor();
    await page.getByText(pool, { exact: true }).waitFor();
    // Recipients would not learn who sent the gift: both screens say so, and lead to the setting.
    const noShop = page.getByText('neither a shop URL nor instructions');
    await noShop.waitFor();
    await page.getByLabel('Product name', { exact: true }).fill('');
    await button(page, 'Save').click();
    await page.getByText('This pool has no product name').waitFor();
    await page.getByLabel('Product name', { exact: true }).fill('Foreign voucher');
    await page.getByLabel('How to spend the card', { exact: true }).fill('Show the code.');
    await button(page, 'Save').click();
    await page.getByText('This pool has no product name').waitFor({ state: 'detached' });
    expect(await noShop.count()).toBe(0);
    const noBrand = page.getByText('do not learn who sent the gift');
    await noBrand.getByRole('link', { name: 'Set the name for recipients' }).click();
    await page.getByRole('heading', { level: 1, name: `Name of ${account}` }).waitFor();
    await noBrand.getByRole('link', { name: 'Set the name for recipients' }).click();
    await page.getByLabel('Name for recipients').fill('Foreign Bank');
    await button(page, 'Save').click();
    await noBrand.waitFor({ state: 'detached' });
    await stage.goto(page, `/accounts/${account}`);
    await holdings.getByRole('link', { name: 'New: Pools' }).click();
    await page.getByRole('heading', { level: 1, name: 'New pool' }).waitFor();
    await waitFor(async () => (await page.getByLabel('Account').inputValue()) === account, 'the account');
    await page.goBack();
    await holdings.getByRole('link', { name: 'Pools', exact: true }).click();
    // Nobody uses it, so it is no warning here either.
    await page.locator('.badge.plain', { hasText: 'Low: €25' }).waitFor();
    expect(await rowsOf(page, 'All pools')).toEqual([
      expect.stringMatching(`^Foreign voucher ${pool.slice(0, 8)} Low: €25, FR has 5 .*${account}`),
    ]);
    // No column is cut at this width, 1,280 px.
    expect(await page.getByText('Scroll sideways to see all columns').count()).toBe(0);
    await page.getByLabel('Account').fill('');
    await page.getByRole('link', { name: 'Harbour voucher' }).waitFor();
    await page.getByLabel('Search').fill(pool);
    await page.getByRole('link', { name: 'Harbour voucher' }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: account }).click();
    await page.getByRole('heading', { level: 1, name: `Name of ${account}` }).waitFor();
  }, 120_000);

  it('sees what an account has used of its limits', async () => {
    const limit = `per-pool-${randomUUID().slice(0, 8)}`;
    const limits = stage.fleet.admin('gift-cards');
    const { account, pool, link } = await anAccountWithLinks(60, 3);
    const put = (id: string, body: object) =>
      limits
        .put(`/admin/limits/${id}`)
        .send({ owner: account, period: 'year', ...body })
        .expect(200);
    await put(`${limit}-all`, { links: 1_000 });
    await put(limit, { links: 50, per: 'pool_id' });
    const page = await stage.signIn(context, ADMIN_KEY, `/limit-editor?owner=${account}`);
    const list = page.getByRole('table', { name: 'Limits' });
    await list.getByText('3 of 1,000 links', { exact: true }).waitFor();
    await list.getByRole('link', { name: 'See usage by pool' }).click();
    const used = page.getByRole('table', { name: `Used: ${limit}` });
    await used.getByRole('row', { name: /^Quiet voucher 3 of 50 links/ }).waitFor();
    expect(await violations(page)).toEqual([]);
    await screenshot(page, 'limit-used');
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await scrollsSideways(page)).toBe(false);
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.getByLabel('Links', { exact: true }).fill('60');
    await button(page, 'Save').click();
    await used.getByRole('row', { name: /^Quiet voucher 3 of 60 links/ }).waitFor();
    await put(limit, { links: 5, per: 'pool_id' });
    await link();
    await stage.goto(page, '/home');
    const alarm = page.getByRole('table', { name: 'Needs attention' }).getByRole('row');
    await alarm
      .filter({ hasText: /Limit is nearly used up.*Change the limit/ })
      .first()
      .waitFor();
    const nearlyUsed = page.getByRole('table', { name: 'Limits that are nearly used up' });
    await nearlyUsed
      .getByRole('row', { name: new RegExp(`^${limit} .* Pool: Quiet voucher 4 of 5 links`) })
      .waitFor();
    expect(await nearlyUsed.getByText(`${limit}-all`).count()).toBe(0);
    await screenshot(page, 'operations-limits');
    // The list of pools and the pool's own screen say the same.
    const unknown = 'Too little history to forecast';
    await stage.goto(page, `/pools?owner=${account}`);
    await page.getByRole('table', { name: 'All pools' }).getByText(unknown).waitFor();
    await stage.goto(page, `/pools/${pool}`);
    const stock = page.getByRole('table', { name: 'Stock' });
    await stock.getByText(unknown).waitFor();
    // The longest words in place of a number of days.
    await page.route('**/api/stock?*', async (route) => {
      const values = (await (await route.fetch()).json()) as object[];
      await route.fulfill({ json: values.map((value) => ({ ...value, per_day: 30 })) });
    });
    await page.setViewportSize({ width: 1024, height: 800 });
    await stage.goto(page, `/pools/${pool}`);
    await stock.getByText('At this rate under 3 days').waitFor();
    expect(await page.getByText('Scroll sideways to see all columns').count()).toBe(0);
    await screenshot(page, 'pool-narrow');
    await page.unroute('**/api/stock?*');
    await page.setViewportSize({ width: 1280, height: 900 });
  }, 120_000);

  it('sees what uses an object before deleting it', async () => {
    const { account, collection, campaign, perks, pool } = stage.mine;
    const limit = `used-${randomUUID().slice(0, 8)}`;
    const limits = stage.fleet.admin('gift-cards');
    const body = {
      owner: account,
      links: 5_000,
      period: 'year',
      only: { pool_id: pool, campaign_id: campaign },
    };
    await limits.put(`/admin/limits/${limit}`).send(body).expect(200);
    const page = await stage.signIn(context, ADMIN_KEY, `/catalogue/perks/${perks[0]}`);
    const usedIn = page.locator('section', { has: page.getByRole('heading', { name: 'Used in' }) });
    await usedIn.getByRole('link', { name: collection, exact: true }).waitFor();
    await usedIn.getByRole('link', { name: 'Harbour spring', exact: true }).waitFor();
    const ofAccount = usedIn.getByRole('listitem').filter({ hasText: `Name of ${account}: Harbour spring` });
    await ofAccount.waitFor();
    expect(await usedIn.innerText()).not.toContain('Foreign');
    await button(page, 'Delete').click();
    const confirm = page.getByRole('alertdialog');
    await confirm.getByRole('link', { name: collection, exact: true }).waitFor();
    await confirm.getByText('“Harbour offer 1” cannot be deleted').waitFor();
    expect(await confirm.getByRole('button', { name: 'Delete' }).count()).toBe(0);
    expect(await violations(page)).toEqual([]);
    await screenshot(page, 'delete-used-perk');
    await button(page, 'Go back').click();
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await scrollsSideways(page)).toBe(false);
    await page.setViewportSize({ width: 1280, height: 900 });
    expect(await violations(page)).toEqual([]);
    await screenshot(page, 'perk-used-in');

    await stage.goto(page, '/catalogue/categories/7');
    await usedIn.getByRole('link', { name: 'Harbour offer 1', exact: true }).waitFor();
    for (const path of [`/pools/${pool}`, `/campaign-editor/${campaign}`]) {
      await stage.goto(page, path);
      await usedIn.getByRole('link', { name: limit }).waitFor();
      // This limit counts every pool and campaign.
      expect(await usedIn.getByRole('link').allInnerTexts()).not.toContain('harbour-month');
    }
    await usedIn.getByRole('link', { name: limit }).click();
    await page.getByRole('heading', { level: 1, name: limit }).waitFor();
    await limits.delete(`/admin/limits/${limit}`).expect(204);
  }, 120_000);

  it('loads single-use codes of a perk from a file, and pasted ones', async () => {
    const path = `/catalogue/perks/${stage.mine.mark}-single`;
    const single = { ...perkBody('Harbour single'), is_coupon_perk: true };
    await stage.fleet.admin('perks').put(`/admin/perks/${stage.mine.mark}-single`).send(single).expect(200);
    const page = await stage.signIn(context, ADMIN_KEY, `/catalogue/perks/${stage.mine.perks[0]}`);
    await page.getByLabel('Title').first().waitFor();
    expect(await page.getByText('Single-use codes').count()).toBe(0);
    await stage.goto(page, path);
    const untilLeft = (codes: string) =>
      waitFor(async () => (await page.innerText('[data-codes=left] dd')) === codes, `${codes} codes`);
    await untilLeft('0');
    let loads = 0;
    page.on('request', (request) => (loads += request.url().endsWith('/coupon-codes') ? 1 : 0));
    const choose = (text: string) =>
      page.getByLabel('File of codes').setInputFiles({
        name: 'codes.csv',
        mimeType: 'text/csv',
        buffer: Buffer.from(text),
      });
    const load = async (action: string) => {
      await button(page, action).click();
      const confirm = page.getByRole('alertdialog', { name: `${action} for “Harbour single”?` });
      await confirm.getByText('First code:').waitFor();
      await confirm.getByRole('button', { name: action }).click();
      await confirm.waitFor({ state: 'detached' });
    };
    await choose(`batch,code\nspring,SPA-1\nspring,SPA-2\nspring,\nspring,${'X'.repeat(256)}\n`);
    await page.getByText('Longer than 255 characters: 1, in row 5. Correct them first.').waitFor();
    expect(await button(page, 'Load 3 codes').isDisabled()).toBe(true);
    const noHeader = page.getByText('the first row is loaded as a code');
    await choose('Coupon code\nSPA-1\n');
    await page.getByText('First code: Coupon code, last code: SPA-1').waitFor();
    await noHeader.waitFor();
    await choose('batch;code\nspring;SPA-1\nspring;SPA-2\nspring;\nspring;SPA-1\n');
    await page.getByText('Rows: 4. Different codes: 2. Repeated: 1. Without a code: 1.').waitFor();
    expect(loads).toBe(0);
    expect(await noHeader.count()).toBe(0);
    await load('Load 2 codes');
    await untilSaid(page, 'New codes: 2. Already there: 0.');
    await untilLeft('2');
    await page.getByLabel('Or paste codes').fill('SPA-2\n\n  SPA-3 \n');
    await load('Load 2 codes');
    await untilSaid(page, 'New codes: 1. Already there: 1.');
    await untilLeft('3');
    expect(await page.getByLabel('Or paste codes').inputValue()).toBe('');
    loads = 0;
    await choose(Array.from({ length: 10_000 }, (_, nth) => `${nth}`.padStart(40, 'X')).join('\n'));
    await load('Load 10,000 codes');
    await untilSaid(page, 'New codes: 10,000.');
    await untilLeft('10,003');
    // Two requests with codes, as one would exceed the limit of a body, and one for the stock.
    expect(loads).toBe(3);
    expect(await violations(page)).toEqual([]);
    await screenshot(page, 'coupon-codes');
  }, 120_000);

  it('jumps to an account, a pool, a key or a link, with the keyboard alone', async () => {
    const { account, pool, keyId } = stage.mine;
    // More than 50 cards, so that the pool is in no list of low stock.
    const quiet = await anAccountWithLinks(60, 1);
    const page = await stage.signIn(context, ADMIN_KEY, '/health');
    const finder = page.getByRole('dialog', { name: 'Search all accounts' });
    const find = async (text: string) => {
      await page.keyboard.press('Control+k');
      await finder.getByLabel('Name or id').waitFor();
      await page.keyboard.type(text);
    };
    const focused = () => page.evaluate<string>('document.activeElement.textContent');
    await find('harbour');
    await finder.getByText(/^\d+ found$/).waitFor();
    for (const group of ['Campaigns', 'Perks', 'Collections', 'Pools', 'Limits'])
      await finder.getByRole('region', { name: group }).getByRole('link').first().waitFor();
    expect(await violations(page)).toEqual([]);
    await screenshot(page, 'search');
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await scrollsSideways(page)).toBe(false);
    await screenshot(page, 'search-360');
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.keyboard.press('ArrowDown');
    expect(await focused()).toContain('Harbour spring');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Harbour spring' }).waitFor();
    await finder.waitFor({ state: 'detached' });

    await find(pool.slice(9));
    await finder.getByText('1 found').waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Harbour voucher' }).waitFor();

    await find(keyId);
    await finder.getByRole('region', { name: 'API keys' }).getByText(account).waitFor();
    await finder.getByText('1 found').waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: `Name of ${account}` }).waitFor();
    expect(await page.evaluate('document.activeElement.id')).toBe('main');

    await find(quiet.linkId.slice(0, 8));
    const found = finder.getByRole('region', { name: 'Reward links' });
    await found.getByText(`€25, of Name of ${quiet.account}`).waitFor();
    expect(await found.innerText()).toMatch(/, outstanding, expires on \d/);
    await screenshot(page, 'search-link');
    await page.keyboard.press('Enter');
    const drawer = page.getByRole('dialog', { name: 'Reward link' });
    await drawer.getByText(quiet.linkId).waitFor();
    await page.keyboard.press('Escape');
    await button(page, 'Stop viewing').click();
    await page.getByRole('heading', { level: 1, name: `Name of ${quiet.account}` }).waitFor();

    await find('no such thing');
    await finder.getByText('Nothing found').waitFor();
    await page.keyboard.press('Escape');
    await finder.waitFor({ state: 'detached' });
    // A client's person has one account, and no search over all.
    const client = await stage.signIn(await stage.window());
    await client.keyboard.press('Control+k');
    expect(await client.getByRole('button', { name: 'Search', exact: true }).count()).toBe(0);
    expect(await client.getByRole('dialog').count()).toBe(0);
    await client.context().close();
  }, 120_000);

  it('loads more of a long list, and says how many entries are shown', async () => {
    const ids = Array.from({ length: 51 }, (_, nth) => 5_000 + nth);
    const catalogue = stage.fleet.admin('perks');
    for (const id of ids)
      await catalogue
        .put(`/admin/categories/${id}`)
        .send({ slug: `paged-${id}`, name: `Paged ${id}` })
        .expect(200);
    const page = await stage.signIn(context, ADMIN_KEY, '/catalogue/categories');
    await page.getByLabel('Search').fill('paged');
    await page.getByText('The first 50 categories', { exact: true }).waitFor();
    expect(await rowsOf(page, 'Categories')).toHaveLength(50);
    await screenshot(page, 'list-first-page');
    // The search is in the URL.
    await page.reload();
    await button(page, 'Show more').click();
    await page.getByText('51 categories', { exact: true }).waitFor();
    const rows = await rowsOf(page, 'Categories');
    expect(rows.map((row) => row.split(' ')[1])).toEqual(ids.map(String));
    expect(await button(page, 'Show more').count()).toBe(0);
    await page.getByLabel('Search').fill('paged 5050');
    await page.getByText('1 category', { exact: true }).waitFor();
    for (const id of ids) await catalogue.delete(`/admin/categories/${id}`).expect(204);
  }, 120_000);

  it('erases a person after seeing what will go, and keeps the receipt', async () => {
    const page = await stage.signIn(context, ADMIN_KEY, `/accounts/${stage.mine.account}`);
    await page.getByRole('link', { name: 'Erase a person' }).click();
    await page.getByText('Nobody has been erased yet').waitFor();
    await page.getByText(`Removes what Name of ${stage.mine.account} has stored`).waitFor();
    const urls: string[] = [];
    page.on('request', (request) => urls.push(request.url()));
    await page.getByLabel('Id', { exact: true }).fill('journey-5');
    await button(page, 'Find').click();
    await page.getByText('Views of teasers: 1').waitFor();
    // Both kinds of ids are searched, unless one is chosen.
    await page.getByText('Nothing was counted under this id').waitFor();
    expect(await page.getByText('An e-mail address finds a person').count()).toBe(0);
    await screenshot(page, 'erase-found');
    await button(page, 'Erase the journey…').click();
    const confirm = page.getByRole('alertdialog');
    await confirm.getByText(/journey-5 of .* is erased as journey in/).waitFor();
    await confirm.getByText('Views of teasers: 1').waitFor();
    await screenshot(page, 'erase-confirm');
    await button(page, 'Erase').click();
    await confirm.waitFor({ state: 'detached' });
    // The links app does not run in this test, so the receipt says that it waits for it.
    const receipt = page.getByRole('table', { name: 'Receipts' }).getByRole('row').nth(1);
    await receipt.getByText(/Waits for .*links/).waitFor();
    await page.getByText('Views of teasers').waitFor({ state: 'detached' });
    expect(urls.filter((url) => url.includes('journey-5'))).toEqual([]);
    await page.getByLabel('Known as').selectOption('Customer');
    await page.getByLabel('Id', { exact: true }).fill('nobody@bank.example');
    await button(page, 'Find').click();
    await page.getByText('An e-mail address finds a person').waitFor();
    await page.getByText('Nothing was counted under this id').waitFor();
    await stage.fleet.database.query(
      `insert into catalog.coupon_codes (perk_id, code, pick, account, customer_id, allocated_at)
       select id, 'of-ann', null, $1, 'ann', now() from unnest($2::text[]) as id`,
      [stage.mine.account, stage.mine.perks.slice(0, 2)],
    );
    await page.getByLabel('Known as').selectOption('');
    await page.getByLabel('Id', { exact: true }).fill('ann');
    await button(page, 'Find').click();
    await page.getByText('Single-use codes: 2').waitFor();
    await page.getByText('finds events by cmeta_customer_id').waitFor();
    // The kind without data comes last.
    await page.getByText('Erasing it anyway also covers events that arrive later').waitFor();
    await button(page, 'Erase both…').waitFor();
    const buttons = page.getByRole('button', { name: /^Erase the / });
    expect(
      await buttons.evaluateAll((all) => all.map((one) => `${one.ariaLabel}: ${one.className}`)),
    ).toEqual(['Erase the customer…: button danger', 'Erase the journey…: button']);
    await screenshot(page, 'erase-one-kind-found');
    await page.getByLabel('Known as').selectOption('Customer');
    await button(page, 'Find').click();
    await button(page, 'Erase both…').waitFor({ state: 'detached' });
    await stage.fleet.database.query(`delete from catalog.coupon_codes where code = 'of-ann'`);
    expect(await button(page, 'Erase the journey…').count()).toBe(0);
    await button(page, 'Erase the customer…').waitFor();
    // A recipient of the link job above, whose references are journey ids.
    await page.getByLabel('Known as').selectOption('Journey');
    await page.getByLabel('Id', { exact: true }).fill('customer-9');
    await button(page, 'Find').click();
    await page.getByText('Rows of link jobs: 1').waitFor();
    expect(await violations(page)).toEqual([]);
    await screenshot(page, 'erased');
    await page.getByLabel('Known as').selectOption('');
    await page.getByLabel('Id', { exact: true }).fill('customer-8');
    await button(page, 'Find').click();
    await button(page, 'Erase both…').click();
    await confirm.getByText('is erased as journey and customer in every app').waitFor();
    // Once for each kind.
    expect(await confirm.getByText('Rows of link jobs: 1').count()).toBe(2);
    await button(page, 'Erase').click();
    await confirm.waitFor({ state: 'detached' });
    const kinds = page.getByRole('table', { name: 'Receipts' }).getByRole('row');
    await waitFor(async () => expect(await kinds.count()).toBe(4), 'a receipt of each kind');
    expect((await kinds.allInnerTexts()).join()).toMatch(/Customer[^]*Journey/);
    const rows = await downloaded(page, button(page, 'Receipts as CSV').click());
    expect(rows[0]).toBe('receipt,kind,requested_at,state,completed_at');
    expect(rows.slice(1).map((row) => row.split(',').slice(1, 2))).toEqual([
      ['customer_id'],
      ['journey_id'],
      ['journey_id'],
    ]);
    await page.getByRole('link', { name: 'The audit log says who' }).click();
    const erasures = page.getByRole('row', { name: /Erased a person of/ });
    await erasures.first().waitFor();
    // Three in a minute are one row.
    const run = page.getByRole('button', { name: /^Erased a person of/ });
    if ((await run.count()) > 0) await run.first().click();
    const erased = erasures.filter({ has: page.locator('summary') }).first();
    await erased.locator('summary').click();
    expect(rows.join()).toContain(await erased.locator('p code').innerText());
    // The receipt has the progress; the entry has the request.
    const members = await erased.locator('dt').allTextContents();
    expect(members).toContain('kind');
    expect(members.filter((one) => /^(state|parts)/.test(one))).toEqual([]);
  }, 120_000);
});

describe('keys and sessions', () => {
  it('sign-in, navigation and dialogs work with the keyboard only', async () => {
    const page = await context.newPage();
    await page.goto(stage.url);
    await page.getByLabel('API key').waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.type(stage.mine.key);
    await page.keyboard.press('Enter');
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
    await untilShown(page);
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('main');

    const entry = page.getByRole('link', { name: 'Integration', exact: true });
    await entry.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Integration' }).waitFor();
    expect(await page.evaluate('document.activeElement.id')).toBe('main');
    await untilShown(page);
    await page.getByRole('tab', { name: 'API', exact: true }).focus();
    await page.keyboard.press('ArrowRight');
    await page.getByRole('heading', { name: 'Try it' }).waitFor();
    await page.keyboard.press('ArrowLeft');
    await button(page, 'Create key').focus();
    await page.keyboard.press('Enter');
    await dialog(page).waitFor();
    // The dialog takes the focus a moment after it appears; only then does it get the key.
    await page.locator('[role=dialog]:focus-within').waitFor();
    await page.keyboard.press('Escape');
    await dialog(page).waitFor({ state: 'detached' });
    await page.locator('button:focus', { hasText: /^Create key$/ }).waitFor();
  }, 120_000);

  it('a key is created, shown once and revoked', async () => {
    const page = await stage.signIn(context);
    await stage.goto(page, '/integration');
    await button(page, 'Create key').click();
    await dialog(page).getByLabel('Name').and(page.locator(':focus')).waitFor();
    await dialog(page).getByText('or for a person of it who signs in to this console').waitFor();
    await dialog(page).getByLabel('Role', { exact: true }).selectOption('JOURNEY: pages in browsers');
    await dialog(page).getByText('Nobody can sign in with it.').waitFor();
    await dialog(page).getByLabel('Role', { exact: true }).selectOption('USER: servers and people');
    await dialog(page).getByLabel('Name').focus();
    await page.keyboard.type('For the till');
    await page.keyboard.press('Enter');
    const key = await page.locator('[data-secret]').innerText();
    await screenshot(page, 'integration-key');
    await button(page, 'I have copied it').click();
    await page.getByRole('rowheader', { name: 'For the till' }).waitFor();
    expect(await page.content()).not.toContain(key);
    await page.getByText(`…${key.slice(-4)}`).waitFor();
    await button(page, 'Revoke: For the till').click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).click();
    await untilSaid(page, 'The key is revoked');
    await page.getByRole('row', { name: /For the till.*Revoked/ }).waitFor();
  }, 120_000);

  it('a key with scopes and a last day is created, warned about and rotated', async () => {
    const page = await stage.signIn(context);
    await stage.goto(page, '/integration');
    await button(page, 'Create key').click();
    await dialog(page).getByLabel('Name').fill('For the CRM');
    await dialog(page).getByLabel('Full access of its role').uncheck();
    await dialog(page).getByRole('button', { name: 'Create key' }).click();
    await dialog(page).getByText('Choose at least one.').waitFor();
    await dialog(page).getByLabel('links:create').check();
    await dialog(page)
      .getByLabel('Last day')
      .fill(new Date(Date.now() + 5 * 86_400_000).toISOString().slice(0, 10));
    await screenshot(page, 'integration-create-key');
    await dialog(page).getByRole('button', { name: 'Create key' }).click();
    const first = await page.locator('[data-secret]').innerText();
    await button(page, 'I have copied it').click();
    await page.getByRole('row', { name: /For the CRM.*links:create.*Ends/ }).waitFor();
    await page.getByText('Ends within 14 days: For the CRM.').waitFor();

    await button(page, 'Rotate: For the CRM').click();
    await dialog(page).getByLabel('The old key still works for').selectOption('1 hour');
    await screenshot(page, 'integration-rotate-key');
    await dialog(page).getByRole('button', { name: 'Rotate' }).click();
    await page.getByText('Your new key').waitFor();
    const second = await page.locator('[data-secret]').innerText();
    await button(page, 'I have copied it').click();
    await page.getByText(`…${second.slice(-4)}`).waitFor();
    // Only the new key can be rotated.
    expect(await button(page, 'Rotate: For the CRM').count()).toBe(1);
    const gift = (key: string) => http({ url: stage.fleet.urls['gift-cards']! }, { key });
    for (const key of [first, second]) expect((await gift(key).get('/pools')).status).toBe(403);
    for (const key of [first, second]) expect(await page.content()).not.toContain(key);
  }, 120_000);

  it('no key stays in the browser after sign-in', async () => {
    const bodies: string[] = [];
    context.on('response', (response) => {
      if (response.url().includes('/api/'))
        void response.text().then(
          (text) => bodies.push(text),
          () => {},
        );
    });
    const page = await stage.signIn(context);
    for (const path of ['/', '/integration', '/integration/hosts', '/gift-cards'])
      await stage.goto(page, path);
    const kept = await page.evaluate(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href, history.state])',
    );
    const databases = await page.evaluate('indexedDB.databases().then((all) => all.length)');
    expect(databases).toBe(0);
    for (const text of [kept as string, await page.content(), ...bodies])
      expect(text.toLowerCase()).not.toContain(stage.mine.key.toLowerCase());
    expect(await page.evaluate('document.cookie')).toBe('');
  }, 120_000);

  it('finance downloads the statement of a closed month, and its signed form', async () => {
    const { query } = stage.fleet.database;
    const [from] = await query<{ month: string }>(
      `select to_char(date_trunc('month', now() at time zone 'UTC') - interval '1 month', 'YYYY-MM') as month`,
    );
    const month = from!.month;
    await query(`update gift_cards.cards set loaded_at = '${month}-02T00:00:00Z'`);
    // Last, because the app then closes the month at any moment.
    await query(`update gift_cards.pools set created_at = '${month}-01T12:00:00Z'`);
    const page = await stage.signIn(context);
    await page.getByRole('link', { name: 'Statements', exact: true }).click();
    await page.getByText('This month is not over').waitFor();
    expect(await button(page, 'Download signed').isDisabled()).toBe(true);

    await page.getByLabel('Month').selectOption(month);
    await page.getByText('This month is closed').waitFor();
    const lastDay = new Date(Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)), 0)).getUTCDate();
    await page.getByText(new RegExp(`^1\\W+${lastDay} \\w+ \\d{4}, in UTC\\.`)).waitFor();
    expect(page.url()).toContain(`month=${month}`);
    const [header, row] = await downloaded(page, button(page, 'Download CSV').click());
    expect(header).toContain('pool_id,currency,country,denomination,opening_cards,opening_amount');
    expect(row).toContain(`${stage.mine.pool},EUR,`);
    const shown = await page.getByRole('region', { name: 'Stock by pool and value' }).innerText();
    expect(shown).toContain('Harbour voucher');
    expect(shown).not.toContain('Foreign');
    const hint = page.getByText('Scroll sideways to see all columns.');
    const widths: [number, number][] = [
      [1_280, 0],
      [600, 2],
      [360, 0],
    ];
    for (const [width, hints] of widths) {
      await page.setViewportSize({ width, height: 900 });
      await waitFor(async () => (await hint.count()) === hints, `${hints} hints at ${width} px`);
    }
    await page.setViewportSize({ width: 600, height: 900 });
    const head = page.getByRole('rowheader', { name: 'Harbour voucher' }).last();
    const left = async () => Math.round((await head.boundingBox())!.x);
    const before = await left();
    await page
      .getByRole('region', { name: 'Links by pool and value' })
      .evaluate((region: { scrollLeft: number }) => {
        region.scrollLeft = 150;
      });
    expect(await left()).toBe(before);
    await screenshot(page, 'statement-900');
    const [jws] = await downloaded(page, button(page, 'Download signed').click());
    const payload = JSON.parse(Buffer.from(jws!.split('.')[1]!, 'base64url').toString()) as object;
    expect(payload).toMatchObject({ account: stage.mine.account, month, closed: true });
  }, 120_000);

  it('a wrong key gets an error, and signing in again after a session returns to the same screen', async () => {
    const page = await context.newPage();
    await page.goto(`${stage.url}/reward-links?state=RESERVED`);
    await page.getByLabel('API key').fill('wrong-key-0123456789abcdef');
    await button(page, 'Sign in').click();
    await page.getByText('This key is not known').first().waitFor();
    await page.getByLabel('API key').fill(stage.mine.key);
    await button(page, 'Sign in').click();
    await page.getByRole('heading', { level: 1, name: 'Reward links' }).waitFor();
    expect(page.url()).toBe(`${stage.url}/reward-links?state=RESERVED`);

    await context.clearCookies();
    await page.getByLabel('State').selectOption('Opened');
    await page.getByText('Sign in to open the page that you asked for').waitFor();
    await page.getByLabel('API key').fill(stage.mine.key);
    await button(page, 'Sign in').click();
    await page.getByRole('heading', { level: 1, name: 'Reward links' }).waitFor();
    expect(page.url()).toBe(`${stage.url}/reward-links?state=REVEALED`);

    await button(page, 'Sign out').click();
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
    // The overview has its dates in the query alone.
    const overview = `${stage.url}/?from=2026-01-01&to=2026-01-31&show=views`;
    await page.goto(overview);
    await page.getByLabel('API key').fill(stage.mine.key);
    await button(page, 'Sign in').click();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    expect(page.url()).toBe(overview);

    await button(page, 'Sign out').click();
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
    await page.goBack();
    await page.getByLabel('API key').waitFor();
  }, 120_000);

  it('people sign in through their provider, with the role that their account gives them', async () => {
    const { account, mark } = stage.mine;
    await stage.fleet
      .admin('token-issuer')
      .put(`/admin/accounts/${account}/people/ann@bank.example`)
      .send({ role: 'USER' })
      .expect(200);
    // The login that the provider reports.
    await context.setExtraHTTPHeaders({ 'x-login': 'ann@bank.example' });
    const page = await context.newPage();
    await page.goto(`${stage.url}/reward-links?state=RESERVED`);
    await page.getByRole('link', { name: 'Sign in with Ostervale accounts' }).click();
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
    expect(page.url()).toBe(`${stage.url}/reward-links?state=RESERVED`);
    await page.getByRole('link', { name: 'Campaigns', exact: true }).click();
    await page.getByRole('link', { name: `${mark} spring` }).waitFor();
    await page.getByText('ann@bank.example').first().waitFor();
    expect(await page.getByRole('link', { name: 'Accounts', exact: true }).count()).toBe(0);
    expect(await page.evaluate('document.cookie')).toBe('');

    await stage.fleet
      .admin('token-issuer')
      .delete(`/admin/accounts/${account}/people/ann@bank.example`)
      .expect(204);
    await waitFor(
      async () => (await page.evaluate("fetch('/api/session').then(({ status }) => status)")) === 401,
      'the end of the session',
    );
  }, 120_000);

  it('unknown people cannot sign in and see why', async () => {
    await context.setExtraHTTPHeaders({ 'x-login': 'stranger@bank.example' });
    const page = await context.newPage();
    await page.goto(stage.url);
    await page.getByRole('link', { name: 'Sign in with Ostervale accounts' }).click();
    await page.getByText('This e-mail address may not sign in here').first().waitFor();
    expect(page.url()).toContain('/sign-in?error=PERSON_UNKNOWN');
    expect(await page.getByRole('navigation', { name: 'Main' }).count()).toBe(0);
  }, 120_000);

  it('shows what failed, and continues on retry', async () => {
    const page = await stage.signIn(context);
    let isUnavailable = true;
    await page.route('**/api/gift/pools', (route) =>
      isUnavailable
        ? route.fulfill({
            status: 503,
            contentType: 'text/plain',
            headers: { 'retry-after': '1' },
            body: 'SERVICE_UNAVAILABLE',
          })
        : route.continue(),
    );
    await page.getByRole('link', { name: 'Gift cards', exact: true }).click();
    await page.getByText('That did not work.').waitFor();
    await screenshot(page, 'gift-cards-failed');
    isUnavailable = false;
    await button(page, 'Try again').first().click();
    await page.getByRole('heading', { name: 'Harbour voucher' }).waitFor();
  }, 120_000);
});

it('causes no browser errors', () => {
  expect(stage.complaints).toEqual([]);
});
