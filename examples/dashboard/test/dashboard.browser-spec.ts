import { jetstream } from '@nats-io/jetstream';
import { TRACKING_EVENT_VERSION, TRACKING_REPLAY_SUBJECT, type AppName } from '@perkway/domain';
import { freePort } from '@perkway/local-servers';
import {
  BundledApp,
  closeAll,
  connectTo,
  http,
  launchChromium,
  NodeProcess,
  runFolder,
  runNode,
  testDatabase,
  testEnvironment,
  testNats,
  testSecrets,
  waitFor,
  type AppProcess,
  type TestDatabase,
  type TestNats,
} from '@perkway/testing';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';

const ACCOUNT = 'dashboard-demo';
const DAY_MS = 86_400_000;
const now = Date.now();

let database: TestDatabase;
let nats: TestNats;
const apps: AppProcess[] = [];
let dashboard: NodeProcess;
let browser: Browser;
let page: Page;
const complaints: string[] = [];

async function startApp(app: AppName): Promise<AppProcess> {
  const bundle = await BundledApp.build(app);
  const environment = testEnvironment(app, { database, nats });
  const migrated = await runNode([bundle.path('migrate')], { env: environment });
  expect(migrated).toMatchObject({ exitCode: 0 });
  const started = await bundle.spawn(environment);
  apps.push(started);
  return started.ready();
}

let moments = 0;
/** Returns a different time for each event, because the drill-down merges rows with equal values. */
const aMomentBefore = (at: number): number => at - (moments += 1);
const tracked = (fields: object) => ({
  v: TRACKING_EVENT_VERSION,
  id: randomUUID(),
  account: ACCOUNT,
  at: aMomentBefore(now - 60_000),
  ...fields,
});
const click = (perk: string, daysAgo: number, traffic?: object) =>
  tracked({
    type: 'perk_click',
    collection: 'main',
    perk,
    journey: `j-${daysAgo}`,
    at: aMomentBefore(now - daysAgo * DAY_MS),
    traffic,
  });
const campaign = (type: string, journey: string, more: object = {}) =>
  tracked({ type, campaign: 'spring', journey, ...more });

const EVENTS = [
  tracked({ type: 'perk_named', account: '', perk: 'coffee', title: 'Coffee', partner: 'p' }),
  tracked({ type: 'perk_named', account: '', perk: 'tea', title: 'Tea', partner: 'p' }),
  tracked({ type: 'campaign_named', campaign: 'spring', name: 'Spring' }),
  ...Array.from({ length: 7 }, (_, index) => click('coffee', index % 3)),
  ...Array.from({ length: 4 }, () => click('tea', 2, { class: 'human', reason: 'default' })),
  click('tea', 5, { class: 'bot', reason: 'user-agent:x' }),
  // Outside the date range.
  click('tea', 60),
  tracked({ ...click('tea', 1), account: 'somebody-else' }),
  ...['a', 'b', 'c'].map((each) => campaign('teaser_view', each, { channel: 'outreach' })),
  ...['a', 'b'].map((each) => campaign('incentive_click', each, { channel: 'outreach', perk: 'coffee' })),
  campaign('conversion', 'a', { value: 12.5 }),
];

beforeAll(async () => {
  [database, nats] = await Promise.all([
    // The bundles run the migrations.
    testDatabase('analytics-query', () => Promise.resolve(), { template: 'dashboard' }),
    testNats(),
  ]);
  const [token, query] = await Promise.all([startApp('token-issuer'), startApp('analytics-query')]);
  const admin = http(token, { key: testSecrets().adminKey });
  await admin.put(`/admin/accounts/${ACCOUNT}`).send({ name: 'Demo' });
  const { body } = await admin.post(`/admin/accounts/${ACCOUNT}/keys`).send({ role: 'USER' });

  const connection = await connectTo(nats.url);
  const stream = jetstream(connection, { timeout: 1_000 });
  await waitFor(
    async () => void (await stream.publish(TRACKING_REPLAY_SUBJECT, JSON.stringify({ events: EVENTS }))),
    'the stream',
  );
  await connection.close();
  // Says what the app logged if an event is missing.
  await query.until(async () => {
    const [row] = await database.query<{ n: number }>('select count(*)::int as n from tracking_events');
    return row!.n === EVENTS.length - 3;
  }, 'all events in the event store');

  const stackFile = join(runFolder('dashboard'), 'stack.json');
  writeFileSync(
    stackFile,
    JSON.stringify({
      hosts: { token: token.url, query: query.url },
      accounts: [{ id: ACCOUNT, userKey: (body as { key: string }).key }],
    }),
  );
  const port = await freePort();
  dashboard = new NodeProcess(['--import', 'tsx', 'examples/dashboard/src/main.ts'], {
    env: { STACK_FILE: stackFile, DASHBOARD_PORT: String(port) },
  });
  await dashboard.until(() => dashboard.output.includes(`:${port}`), 'the dashboard');

  browser = await launchChromium();
  page = await browser.newPage({ timezoneId: 'America/New_York' });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('requestfailed', (request) => complaints.push(request.url()));
  await page.goto(`http://127.0.0.1:${port}/`);
  await waitFor(async () => (await page.textContent('#status')) !== 'Loading', 'the numbers');
}, 120_000);
afterAll(async () => {
  await browser?.close();
  await dashboard?.kill('SIGTERM');
  for (const app of apps) await app.kill('SIGTERM');
  await closeAll(database, nats);
});

/** Returns the texts of a table's body. */
const lines = (selector: string): Promise<string[][]> =>
  page.$$eval(`${selector} tbody tr`, (rows) =>
    rows.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent ?? '')),
  );
const requested = (sql: string) =>
  database.query<{ line: string[] }>(sql).then((rows) => rows.map(({ line }) => line));
const IN_RANGE = `account_id = '${ACCOUNT}' and occurred_at >= (now() at time zone 'UTC')::date - 29`;

it('shows the same numbers as plain queries', async () => {
  expect(await page.textContent('#status')).toBe('Up to date');
  const bars = await page.$$eval('#clicks button', (all) =>
    all.map((bar) => [bar.dataset.day!, bar.dataset.value!]),
  );
  expect(bars).toHaveLength(30);
  expect(bars.filter(([, value]) => value !== '0')).toEqual(
    await requested(
      `select array[(occurred_at at time zone 'UTC')::date::text, count(*)::text] as line from tracking_events
       where ${IN_RANGE} and type = 'perk_click' group by (occurred_at at time zone 'UTC')::date order by 1`,
    ),
  );
  expect(await lines('#perks')).toEqual(
    await requested(
      `select array[title, count(*)::text, count(*) filter (where coalesce(traffic_class, 'human') = 'human')::text] as line
       from tracking_events join perk_names using (perk_id)
       where ${IN_RANGE} and type = 'perk_click' group by title order by count(*) desc`,
    ),
  );
  expect((await lines('#funnel')).map((cells) => cells.slice(0, 8))).toEqual([
    ['Spring', '3', '3', '0', '2', '1', '0', '0'],
  ]);
});

it('shows the rows behind a number', async () => {
  await page.click('#perks tr[data-group="Tea"] td[data-measure="perk_clicks.count"] button');
  await page.waitForSelector('#drill[open] tbody tr');
  // Without the click of two months ago and the one of another account.
  const drilled = await lines('#drill-rows');
  expect(drilled).toHaveLength(5);
  expect(drilled.every((cells) => cells.includes('Tea'))).toBe(true);
  await page.click('#drill button');

  const [day, value] = await page.$eval('#clicks button:not([data-value="0"])', (bar: HTMLElement) => [
    bar.dataset.day!,
    bar.dataset.value!,
  ]);
  await page.click(`#clicks button[data-day="${day}"]`);
  await page.waitForSelector('#drill[open]');
  await waitFor(
    async () => expect(await lines('#drill-rows')).toHaveLength(Number(value)),
    'the rows of a day',
  );
  await page.click('#drill button');

  await page.click('#funnel td[data-measure="campaign_funnel.clickers"] button');
  await waitFor(async () => expect(await lines('#drill-rows')).toHaveLength(2), 'the clicks of a campaign');
});

it('reports no browser errors', () => {
  expect(complaints).toEqual([]);
});
