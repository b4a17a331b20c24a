import {
  BundledApp,
  closeAll,
  http,
  testEnvironment,
  testNats,
  waitFor,
  type AppProcess,
  type Answering,
  type TestDatabase,
  type TestNats,
} from '@perkway/testing';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import {
  Analytics,
  anAccountId,
  analyticsDatabase,
  click,
  fakeTokenIssuer,
  Publisher,
  signingKey,
  tokenFor,
} from './support.js';

const ROWS = 50_000;
const account = anAccountId();
const neighbour = anAccountId();
const key = signingKey('k1');
const QUERY = { dimensions: ['perk_clicks.journey_id', 'perk_clicks.occurred_at'], limit: ROWS };

let database: TestDatabase;
let nats: TestNats;
let issuer: Answering<object>;
let publisher: Publisher;
/** A process of its own, because its memory is looked at. */
let app: AppProcess;
let analytics: Analytics;

beforeAll(async () => {
  const bundling = BundledApp.build('analytics-query');
  [database, nats] = await Promise.all([analyticsDatabase(), testNats()]);
  issuer = await fakeTokenIssuer(nats.url, () => [key]);
  app = await (await bundling).spawn(testEnvironment('analytics-query', { database, nats }));
  await app.ready();
  publisher = await Publisher.connect(nats.url);
  analytics = new Analytics(app.url, tokenFor(account, key));
  await publisher.events(click(account));
  await waitFor(async () => expect(await analytics.count('perk_clicks.count')).toBe(1), '1 of them');
  await database.query(
    `insert into tracking_events (account_id, occurred_at, id, type, perk_id, journey_id)
     select account, now() - n * interval '1 ms', 'n-' || n, 'perk_click', 'perk', 'journey-' || n
     from unnest($1::text[]) account, generate_series(1, $2::int) n`,
    [[account, neighbour], ROWS + 100],
  );
}, 60_000);
afterAll(async () => {
  await app?.kill('SIGTERM');
  await closeAll(publisher, issuer, database, nats);
});

const residentMb = (): number => {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${app.pid}/status`, 'utf8'))![1];
  return (Number(kib) * 1024) / 1e6;
};

/** The most that the process holds while something is done. */
async function peakMb(work: () => Promise<unknown>): Promise<number> {
  let peak = 0;
  const timer = setInterval(() => (peak = Math.max(peak, residentMb())), 10);
  try {
    await work();
    return Math.max(peak, residentMb());
  } finally {
    clearInterval(timer);
  }
}

/** Asks, and reads nothing yet. */
async function begin(query: object): Promise<IncomingMessage> {
  const params = new URLSearchParams({ query: JSON.stringify(query) });
  const request = httpRequest(`${app.url}/cubejs-api/v1/load?${params}`, {
    headers: { authorization: analytics.token },
    agent: false,
  }).end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.pause();
  return response;
}

it('holds a little of large answers, however many and however slowly they are read', async () => {
  const answers: Promise<IncomingMessage>[] = [];
  const peak = await peakMb(async () => {
    for (let offset = 0; offset < 16; offset += 1) answers.push(begin({ ...QUERY, offset }));
    // Some have begun, and nobody reads; the others wait for their turn.
    await Promise.race(answers);
    expect((await http(app).get('/livez')).status).toBe(200);
    for (const answer of answers) {
      const response = await answer;
      expect(response.statusCode).toBe(200);
      let bytes = 0;
      for await (const chunk of response) bytes += (chunk as Buffer).length;
      expect(bytes).toBeGreaterThan(2_000_000);
    }
  });
  expect(peak).toBeLessThan(300);
}, 90_000);

/** Reads an answer and keeps nothing but its beginning. */
async function ask(token: string, queries: object[]): Promise<string> {
  const body = JSON.stringify({ query: queries, queryType: 'multi' });
  const request = httpRequest(`${app.url}/cubejs-api/v1/load`, {
    method: 'POST',
    headers: { authorization: token, 'content-type': 'application/json' },
    agent: false,
  });
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  let start = '';
  try {
    for await (const chunk of response) if (start.length < 200) start += (chunk as Buffer).toString();
  } catch {
    return 'broken off';
  }
  const { error } = response.statusCode === 200 ? {} : (JSON.parse(start) as { error?: string });
  return [response.statusCode, error].join(' ').trim();
}

it('bears 200 requests for as much as there may be and more, of two accounts, while others track and look', async () => {
  const hostile = (member: string, queries: number) =>
    Array.from({ length: queries }, (_, index) => ({
      measures: ['perk_clicks.count'],
      dimensions: [member],
      timeDimensions: [{ dimension: 'perk_clicks.occurred_at', granularity: 'second' }],
      limit: ROWS,
      offset: index,
    }));
  const theirs = new Analytics(app.url, tokenFor('meanwhile', key));
  const answers = new Map<string, number>();
  const peak = await peakMb(async () => {
    const asked = Array.from({ length: 200 }, async (_, index) => {
      const member = `perk_clicks.${['journey_id', 'perk_id', 'collection_id', 'utm_source'][index % 4]!}`;
      const token = tokenFor(index % 2 ? account : neighbour, key);
      // Different ones, because equal requests share a run.
      const queries = hostile(member, index % 4 < 2 ? 50 : 5).map((query) => ({
        ...query,
        limit: ROWS - index,
      }));
      const answer = await ask(token, queries);
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
    });
    await publisher.events(...Array.from({ length: 100 }, () => click('meanwhile')));
    await waitFor(async () => expect(await theirs.count('perk_clicks.count')).toBe(100), '100 of them');
    await Promise.all(asked);
  });
  const TOO_MUCH =
    '400 The queries of one request may ask for at most 250000 rows together: give them smaller limits';
  expect(answers.get(TOO_MUCH)).toBe(100);
  // The others are whole, took too long, came too many at once, ran into their deadline while they were sent, or the
  // database had no time to say so.
  for (const answer of answers.keys())
    expect(answer).toMatch(/^(200|broken off|400 .*(250000 rows|took longer)|429 Too many queries|503)/);
  expect(peak).toBeLessThan(512);
}, 90_000);
