import { scrollsSideways, violations, waitFor } from '@perkway/testing';
import type { BrowserContext, Page } from 'playwright-core';
import { ADMIN_KEY, ConsoleStage, screenshot, untilSaid } from './console-stage';

const stage = new ConsoleStage();
beforeAll(() => stage.start(), 300_000);
afterAll(() => stage.stop());

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const job = (page: Page, state: string) => page.locator(`[data-job="${state}"]`);

/** Signs a person in through the provider. */
async function signInPerson(context: BrowserContext, email: string): Promise<Page> {
  await stage.fleet
    .admin('token-issuer')
    .put(`/admin/accounts/${stage.mine.account}/people/${email}`)
    .send({ role: 'USER' })
    .expect(200);
  await context.setExtraHTTPHeaders({ 'x-login': email });
  const page = await context.newPage();
  await page.goto(`${stage.url}/gift-cards`);
  await page.getByRole('link', { name: 'Sign in with Ostervale accounts' }).click();
  await page.getByRole('navigation', { name: 'Main' }).waitFor({ state: 'attached' });
  await stage.goto(page, '/gift-cards');
  return page;
}

async function reviewLinks(page: Page, count: number): Promise<void> {
  await button(page, 'Make many links').click();
  await page.getByRole('dialog').getByLabel('Links for').selectOption('A number of people');
  await page.getByRole('dialog').getByLabel('How many').fill(String(count));
  await button(page, 'Continue').click();
  await page.getByRole('button', { name: `Make ${count} ` }).waitFor();
}

async function makeLinks(page: Page, count: number): Promise<void> {
  await reviewLinks(page, count);
  await page.getByRole('button', { name: `Make ${count} ` }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
}

it('an operator sets thresholds, one person makes a large job, and another one decides on it', async () => {
  const operator = await stage.window({ viewport: { width: 1280, height: 900 } });
  const account = await stage.signIn(operator, ADMIN_KEY);
  await stage.goto(account, `/accounts/${stage.mine.account}`);
  await account.getByText('Nobody yet.').waitFor();
  const warning = account.getByText(/^Nobody can approve/);
  expect(await warning.count()).toBe(0);
  await account.getByLabel('Links without approval').fill('10');
  await account.getByText('has no people who can sign in').waitFor();
  expect(await violations(account)).toEqual([]);
  await screenshot(account, 'account-without-approvers');
  await account.getByLabel('Value without approval').fill('EUR 100\nJPY 5000');
  await button(account, 'Save').click();
  await untilSaid(account, 'Saved');
  await stage.goto(account, `/accounts/${stage.mine.account}`);
  expect(await account.getByLabel('Links without approval').inputValue()).toBe('10');
  expect(await account.getByLabel('Value without approval').inputValue()).toBe('EUR 100\nJPY 5000');
  const addPerson = async (email: string) => {
    await account.getByLabel('E-mail address').fill(email);
    await button(account, 'Add person').click();
    await account.getByRole('rowheader', { name: email }).waitFor();
  };
  await addPerson('ann@harbour.example');
  await account.getByText('Nobody can approve jobs of ann@harbour.example').waitFor();
  await addPerson('ben@harbour.example');
  await warning.waitFor({ state: 'detached' });
  await operator.close();

  const [annsWindow, bensWindow, keyWindow] = [
    await stage.window({ viewport: { width: 1280, height: 900 } }),
    await stage.window({ viewport: { width: 1280, height: 900 } }),
    await stage.window(),
  ];
  const ann = await signInPerson(annsWindow, 'ann@harbour.example');
  await makeLinks(ann, 5);
  await job(ann, 'awaiting_approval').waitFor();
  expect(await ann.innerText('[data-job]')).toContain('5 links worth €125');
  await ann.getByText('1 job waits for approval').waitFor();
  expect(await button(ann, 'Approve…').count()).toBe(0);
  expect(await violations(ann)).toEqual([]);

  const withKey = await stage.signIn(keyWindow, stage.mine.key, '/gift-cards');
  await job(withKey, 'awaiting_approval').waitFor();
  expect(await withKey.innerText('[data-job]')).toContain('sign in as a person');
  expect(await button(withKey, 'Approve…').count()).toBe(0);

  const operators = await stage.window({ viewport: { width: 1280, height: 900 } });
  const home = await stage.signIn(operators, ADMIN_KEY, '/home');
  await home.getByText('Link job waits for approval').waitFor();
  const waiting = home.getByRole('table', { name: 'Link jobs' }).getByRole('row').nth(1);
  expect(await waiting.innerText()).toContain('Waits for approval');
  await waiting.getByRole('button').click();
  await job(home, 'awaiting_approval').waitFor();
  await waitFor(async () => {
    const box = await job(home, 'awaiting_approval').boundingBox();
    return box !== null && box.y >= 0 && box.y < 900;
  }, 'the job to be in view');
  await operators.close();

  const ben = await signInPerson(bensWindow, 'ben@harbour.example');
  const inMenu = (page: Page) => page.getByRole('link', { name: /^Gift cards/ });
  await inMenu(ben).getByText('1 to approve').waitFor();
  expect(await violations(ben)).toEqual([]);
  expect(await inMenu(ann).innerText()).toBe('Gift cards');
  await button(ben, 'Approve…').click();
  const dialog = ben.getByRole('dialog');
  await dialog.getByText('by ann@harbour.example').waitFor();
  await dialog.getByText(/^From Harbour voucher\. The links can be opened until \d/).waitFor();
  expect(await violations(ben)).toEqual([]);
  await screenshot(ben, 'dialog-approve');
  await ben.setViewportSize({ width: 360, height: 740 });
  expect(await scrollsSideways(ben)).toBe(false);
  await screenshot(ben, 'dialog-approve-360');
  await ben.setViewportSize({ width: 1280, height: 900 });
  await dialog.getByLabel('Comment').fill('Agreed for the spring mailing');
  await button(ben, 'Approve and make links').click();
  await job(ben, 'done').waitFor();
  expect(await inMenu(ben).innerText()).toBe('Gift cards');
  await ben.getByText(/Approved by ben@harbour\.example, .*: Agreed for the spring mailing/).waitFor();
  await screenshot(ben, 'gift-cards-approved');

  await ann.reload();
  await makeLinks(ann, 6);
  await job(ann, 'awaiting_approval').waitFor();
  await ben.reload();
  await button(ben, 'Reject…').click();
  await ben.getByRole('dialog').getByLabel('Comment').fill('Not this month');
  await button(ben, 'Reject job').click();
  await job(ben, 'rejected').waitFor();
  expect(await violations(ben)).toEqual([]);
  await ann.reload();
  await ann.getByText(/Rejected by ben@harbour\.example, .*: Not this month/).waitFor();
  await Promise.all([annsWindow, bensWindow, keyWindow].map((context) => context.close()));
}, 180_000);

it('an operator sets a limit, the account sees what is used of it, and a job says when it resets', async () => {
  const operator = await stage.window({ viewport: { width: 1280, height: 900 } });
  const editor = await stage.signIn(operator, ADMIN_KEY);
  await stage.goto(editor, '/limit-editor/new');
  await editor.getByLabel('Id', { exact: true }).fill('harbour-pools');
  await editor.getByLabel('Account', { exact: true }).fill(stage.mine.account);
  await editor.getByLabel('Links', { exact: true }).fill('7');
  await editor.getByLabel('For each').selectOption('Pool');
  await button(editor, 'Save').click();
  await editor.getByRole('heading', { level: 1, name: 'harbour-pools' }).waitFor();
  expect(await violations(editor)).toEqual([]);

  await stage.fleet
    .admin('gift-cards')
    .put('/admin/limits/harbour-people')
    .send({ owner: stage.mine.account, links: 9, period: 'month', per: 'created_by' })
    .expect(200);

  const annsWindow = await stage.window({ viewport: { width: 1280, height: 900 } });
  const ann = await signInPerson(annsWindow, 'ann@harbour.example');
  await reviewLinks(ann, 2);
  const said = ann.getByRole('dialog').getByText(/^The limit harbour-/);
  expect(await said.count()).toBe(0);
  await button(ann, 'Back').click();
  await ann.getByRole('dialog').getByLabel('How many').fill('6');
  await button(ann, 'Continue').click();
  await button(ann, 'Make 6 links (€150)').waitFor();
  expect(await said.allInnerTexts()).toEqual([
    expect.stringMatching(/^The limit harbour-people allows only 4 more links .* It resets on /),
    expect.stringMatching(/^The limit harbour-pools allows only 2 more links .* It resets on /),
  ]);
  expect(await violations(ann)).toEqual([]);
  await screenshot(ann, 'dialog-links-beyond-limit');
  await ann.setViewportSize({ width: 360, height: 740 });
  expect(await scrollsSideways(ann)).toBe(false);
  await annsWindow.close();

  const window = await stage.window({ viewport: { width: 1280, height: 900 } });
  const page = await stage.signIn(window, stage.mine.key, '/limits');
  await page.getByText('7 links per month and pool').waitFor();
  const used = page.getByRole('table', { name: 'Used: harbour-pools' });
  await used.getByRole('row', { name: /Harbour voucher.*5 of 7 links/ }).waitFor();
  const byCreator = page.getByRole('table', { name: 'Used: harbour-people' });
  await byCreator.getByRole('row', { name: /console: ann@harbour\.example.*5 of 9 links/ }).waitFor();
  expect(await violations(page)).toEqual([]);

  await stage.goto(page, '/gift-cards');
  await makeLinks(page, 4);
  await page.getByText(/The limit harbour-pools is reached: 7 of 7 links are used\. It resets on /).waitFor();
  expect(await violations(page)).toEqual([]);
  await screenshot(page, 'gift-cards-limit-reached');

  await button(editor, 'Delete').click();
  await editor.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await editor.getByRole('heading', { level: 1, name: 'All limits' }).waitFor();
  await stage.goto(page, '/limits');
  await page.getByText('1,000 links per month').waitFor();
  expect(await used.count()).toBe(0);
  await Promise.all([operator, window].map((context) => context.close()));
}, 180_000);

it('causes no browser errors', () => {
  expect(stage.complaints).toEqual([]);
});
