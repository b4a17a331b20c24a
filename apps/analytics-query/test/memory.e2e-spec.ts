import {
  BundledApp,
  closeAll,
  http,
  testEnvironment,
  testNats,
  waitFor,
  type AppProcess,
  type RpcResponder,
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
let issuer: RpcResponder<object>;
let publisher: Publisher;
/** A process of its own, because its memory is measured. */
let app: AppProcess;
let analytics: Analytics;

beforeAll(async () => {
  const bundling = BundledApp.build('analytics-query');
  [database, nats] = await Promise.all([analyticsDatabase(), testNats()]);
  issuer = await fakeTokenIssuer(nats.url, () => [key]);
  const environment = testEnvironment('analytics-query', { database, nats });
  // A busy machine takes longer than the default for sixteen large responses, one after the other.
  app = await (await bundling).spawn({ ...environment, QUERY_TIMEOUT_MS: '120000' });
  await app.ready();
  publisher = await Publisher.connect(nats.url);
  analytics = new Analytics(app.url, tokenFor(account, key));
  await publisher.events(click(account));
  await waitFor(async () => expect(await analytics.count('perk_clicks.count')).toBe(1), '1 event');
  await database.query(
    `insert into tracking_events (account_id, occurred_at, id, type, perk_id, journey_id)
     select account, now() - n * interval '1 ms', 'n-' || n, 'perk_click', 'perk', 'journey-' || n
     from unnest($1::text[]) account, generate_series(1, $2::int) n`,
    [[account, neighbour], ROWS + 100],
  );
});
afterAll(async () => {
  await app?.kill('SIGTERM');
  await closeAll(publisher, issuer, database, nats);
});

const residentMb = (): number => {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${app.pid}/status`, 'utf8'))![1];
  return (Number(kib) * 1024) / 1e6;
};

/** Returns the peak memory of the process while the work runs. */
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

/** Sends a query without reading the response yet. */
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

it('holds little of large responses in memory, however many there are and however slowly they are read', async () => {
  const responses: Promise<IncomingMessage>[] = [];
  const peak = await peakMb(async () => {
    for (let offset = 0; offset < 16; offset += 1) responses.push(begin({ ...QUERY, offset }));
    // Some responses have started and are not read; the other queries are queued.
    await Promise.race(responses);
    expect((await http(app).get('/livez')).status).toBe(200);
    for (const reply of responses) {
      const response = await reply;
      expect(response.statusCode).toBe(200);
      let bytes = 0;
      for await (const chunk of response) bytes += (chunk as Buffer).length;
      expect(bytes).toBeGreaterThan(2_000_000);
    }
  });
  expect(peak).toBeLessThan(300);
}, 300_000);

/** Reads a response and keeps only its beginning. */
async function sendRequest(token: string, queries: object[]): Promise<string> {
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
    return 'aborted';
  }
  const { error } = response.statusCode === 200 ? {} : (JSON.parse(start) as { error?: string });
  return [response.statusCode, error].join(' ').trim();
}

it('survives 200 requests at and over the limits, of two accounts, while others track and query', async () => {
  const hostile = (member: string, queries: number) =>
    Array.from({ length: queries }, (_, index) => ({
      measures: ['perk_clicks.count'],
      dimensions: [member],
      timeDimensions: [{ dimension: 'perk_clicks.occurred_at', granularity: 'second' }],
      limit: ROWS,
      offset: index,
    }));
  const theirs = new Analytics(app.url, tokenFor('meanwhile', key));
  const responses = new Map<string, number>();
  const peak = await peakMb(async () => {
    const requested = Array.from({ length: 200 }, async (_, index) => {
      const member = `perk_clicks.${['journey_id', 'perk_id', 'collection_id', 'utm_source'][index % 4]!}`;
      const token = tokenFor(index % 2 ? account : neighbour, key);
      // Different queries, because equal ones share a run.
      const queries = hostile(member, index % 4 < 2 ? 50 : 5).map((query) => ({
        ...query,
        limit: ROWS - index,
      }));
      const reply = await sendRequest(token, queries);
      responses.set(reply, (responses.get(reply) ?? 0) + 1);
    });
    await publisher.events(...Array.from({ length: 100 }, () => click('meanwhile')));
    await waitFor(async () => expect(await theirs.count('perk_clicks.count')).toBe(100), '100 events');
    await Promise.all(requested);
  });
  const TOO_MUCH =
    '400 The queries of one request may ask for at most 250000 rows in total: use smaller limits';
  expect(responses.get(TOO_MUCH)).toBe(100);
  // The others are complete, timed out, were too many at once, were aborted at their deadline, or the database was too
  // busy to respond.
  for (const reply of responses.keys())
    expect(reply).toMatch(/^(200|aborted|400 .*(250000 rows|took longer)|429 Too many queries|503)/);
  expect(peak).toBeLessThan(512);
}, 300_000);
