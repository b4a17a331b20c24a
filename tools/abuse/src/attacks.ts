import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AppName } from '@perkway/domain';
import { HostileClient, type HostileResponse, type HostileRequest, type Outcome } from './hostile-client.js';
import type { Target } from './target.js';

export interface Attack {
  name: string;
  run: (target: Target, ms: number) => Promise<Outcome>;
}

const KEYED: AppName[] = ['perks', 'boost', 'gift-cards', 'token-issuer', 'events'];
/** Apps that are public in production. The test fleet has no ingress in front of them. */
const PUBLIC: AppName[] = ['links', 'allocation-page', ...KEYED];
/** Allowance for what replicas admit beyond a limit while counts are in transit on a busy machine. */
const SLACK = 1.4;

const keyedRequest = ({ smallCollection, campaign }: Target, app: AppName): HostileRequest => ({
  app,
  path: {
    perks: `/perk-collections/${smallCollection}`,
    boost: `/outreach/campaign/${campaign}/reward-url?perkId=hostile-0`,
    'gift-cards': '/pools',
    'token-issuer': '/cube/token',
    events: '/webhooks',
  }[app as 'perks'],
});

/** Checks `RateLimit-*` and `Retry-After` as in docs/http-contract.md. */
function checkRefusal(
  client: HostileClient,
  app: AppName,
  { headers, text }: HostileResponse,
  limit: number,
) {
  const number = (name: string) => Number(headers[name] ?? NaN);
  if (number('ratelimit-limit') !== limit || number('ratelimit-remaining') !== 0)
    client.breach(`${app}: 429 without correct RateLimit headers`);
  if (!(number('ratelimit-reset') >= 1) || !(number('retry-after') >= 1))
    client.breach(`${app}: 429 does not say when to retry`);
  if (!text.includes('TOO_MANY_REQUESTS')) client.breach(`${app}: 429 without its code`);
}

/** Checks the limit over all replicas together. Without shared counts each would admit the limit. */
function checkAdmitted(client: HostileClient, app: AppName, status: number, most: number) {
  const admitted = client.counted(`${app} ${status}`);
  if (admitted > most * SLACK) client.breach(`${app}: admitted ${admitted}, but the limit is ${most}`);
  if (client.counted(`${app} 429`) === 0) client.breach(`${app}: no request was refused`);
}

/** Over all apps. Exceeds every limit within seconds, but two cores can handle it. */
const ATTEMPTS_PER_SECOND = 100;
const ADDRESS = '203.0.113.7';
/** Addresses of one /64, as one customer of an ISP has them. */
const ADDRESSES_OF_ONE_NETWORK = 200;
const CRAWLER = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';
/** Ingest stores what was tracked within this time, also under attack. */
const STORED_WITHIN_MS = 20_000;
const withClient = async (
  target: Target,
  work: (client: HostileClient) => Promise<unknown>,
): Promise<Outcome> => {
  const client = new HostileClient(target, ADDRESS);
  await work(client);
  return client.outcome;
};

const STAMPS = Array.from({ length: 18_000 }, (_, index) => new Date(index * 1_000).toISOString());
const analyticsQuery = (values: string[], member: string, ranges: number) => ({
  measures: ['perk_clicks.count'],
  filters: [{ member, operator: 'equals', values }],
  timeDimensions: [
    {
      dimension: 'perk_clicks.occurred_at',
      granularity: 'day',
      compareDateRange: Array.from({ length: ranges }, (_, index) => `from ${index + 3} days ago to now`),
    },
  ],
});
const LARGEST_QUERIES = [
  { name: 'timestamps', query: analyticsQuery(STAMPS, 'perk_clicks.occurred_at', 50) },
  { name: 'dates', query: analyticsQuery(STAMPS.slice(0, 190), 'perk_clicks.occurred_at', 1) },
  { name: 'values', query: analyticsQuery(STAMPS, 'perk_clicks.perk_id', 1) },
  { name: 'ranges', query: analyticsQuery(STAMPS.slice(0, 390), 'perk_clicks.perk_id', 50) },
].map(({ name, query }) => ({ name, body: JSON.stringify({ query }) }));

const DRIBBLE_MS = 1_000;

/** Sends pieces of a request forever (slowloris). */
const dribble = (head: string, piece: string) => (socket: Socket) => {
  socket.write(head);
  const timer = setInterval(() => socket.write(piece), DRIBBLE_MS);
  socket.on('data', () => undefined).once('close', () => clearInterval(timer));
};
/** Sends a request and does not read the response. */
const unread = (path: string, headers: string) => (socket: Socket) =>
  socket.pause().write(`GET ${path} HTTP/1.1\r\nhost: x\r\n${headers}\r\n\r\n`);

const rawEvents = (offset: number) => ({
  dimensions: ['teaser_views.journey_id', 'teaser_views.occurred_at'],
  ungrouped: true,
  order: [],
  limit: 50_000,
  offset,
});
const loadOf = (query: unknown) => `/cubejs-api/v1/load?query=${encodeURIComponent(JSON.stringify(query))}`;

/** Different queries each time, because equal queries share a run. */
const hostileQueries = (index: number): unknown => {
  const views = 'teaser_views.occurred_at';
  return [
    // Too many rows, so it is rejected.
    Array.from({ length: 50 }, (_, offset) => ({ measures: ['teaser_views.count'], limit: 50_000, offset })),
    rawEvents(index),
    {
      measures: ['teaser_views.count'],
      timeDimensions: [{ dimension: views, granularity: 'second' }],
      limit: 50_000,
      offset: index,
    },
    {
      measures: ['perk_clicks.count'],
      dimensions: ['perk_clicks.journey_id', 'perk_clicks.cmeta_plan', 'perk_clicks.cmeta_segment'],
      filters: [
        {
          member: 'perk_clicks.journey_id',
          operator: 'notContains',
          values: Array.from({ length: 200 }, (_, value) => `${index}-${value}`),
        },
      ],
      limit: 50_000,
    },
  ][index % 4];
};

/** Returns how many of tenant A's views have a value of an attribute, as the query host counts them once they are stored. */
async function countViews(client: HostileClient, target: Target, name: string): Promise<number> {
  const count = async (): Promise<number> => {
    const response = await client.request({
      app: 'analytics-query',
      path: loadOf({
        measures: ['reward_views.count'],
        filters: [{ member: 'reward_views.utm_campaign', operator: 'equals', values: [name] }],
      }),
      headers: { authorization: target.analyticsToken },
    });
    return Number(/"reward_views\.count":"?(\d+)/.exec(response?.text ?? '')?.[1] ?? 0);
  };
  let counted = await count();
  for (const deadline = Date.now() + STORED_WITHIN_MS; Date.now() < deadline;) {
    await sleep(2_000);
    const before = counted;
    counted = await count();
    if (counted > 0 && counted === before) break;
  }
  return counted;
}

export const ATTACKS: Attack[] = [
  {
    name: 'one key far past its limit',
    run: (target, ms) =>
      withClient(target, async (client) => {
        await client.flood(ATTEMPTS_PER_SECOND, ms, async (index) => {
          const app = KEYED[index % KEYED.length]!;
          const response = await client.request({
            ...keyedRequest(target, app),
            headers: { 'x-api-key': target.key },
          });
          if (response?.status === 429) checkRefusal(client, app, response, target.keyLimit);
        });
        for (const app of KEYED) checkAdmitted(client, app, 200, target.keyLimit * (ms / 1_000 + 1));
      }),
  },
  {
    name: 'unknown keys from one address',
    run: (target, ms) =>
      withClient(target, async (client) => {
        await client.flood(ATTEMPTS_PER_SECOND, ms, async (index) => {
          const app = KEYED[index % KEYED.length]!;
          const response = await client.request({
            ...keyedRequest(target, app),
            headers: { 'x-api-key': `guess-${randomBytes(16).toString('hex')}` },
          });
          if (response?.status === 429) checkRefusal(client, app, response, target.failedAttemptLimit);
        });
        for (const app of KEYED) {
          checkAdmitted(
            client,
            app,
            401,
            target.failedAttemptLimit + (target.failedAttemptLimit * ms) / 60_000,
          );
          const right = await client.request({
            ...keyedRequest(target, app),
            headers: { 'x-api-key': target.key },
          });
          if (right?.status !== 200)
            client.breach(`${app}: a valid key is refused at an address that tried unknown ones`);
        }
      }),
  },
  {
    name: 'unknown links',
    run: (target, ms) =>
      withClient(target, async (client) => {
        await client.flood(ATTEMPTS_PER_SECOND, ms, async (index) => {
          const token = randomBytes(32).toString('base64url');
          if (index % 2 === 0) return client.request({ app: 'links', path: `/c/${token.repeat(3)}` });
          const response = await client.request({
            app: 'allocation-page',
            path: '/api/reward-link',
            headers: { authorization: `Bearer ${token}` },
          });
          if (response?.status === 429)
            checkRefusal(client, 'allocation-page', response, target.failedAttemptLimit);
          return response;
        });
        checkAdmitted(
          client,
          'allocation-page',
          404,
          target.failedAttemptLimit + (target.failedAttemptLimit * ms) / 60_000,
        );
      }),
  },
  {
    name: 'slow request headers (600 connections)',
    run: (target, ms) =>
      withClient(target, (client) =>
        client.hold(PUBLIC, 600, ms, dribble('GET / HTTP/1.1\r\nhost: x\r\n', 'x-more: x\r\n')),
      ),
  },
  {
    name: 'slow request bodies (600 connections)',
    run: (target, ms) =>
      withClient(target, (client) =>
        client.hold(
          PUBLIC,
          600,
          ms,
          dribble(
            `POST /pool/x/reward-links HTTP/1.1\r\nhost: x\r\nx-api-key: ${target.key}\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n\r\n{`,
            '          ',
          ),
        ),
      ),
  },
  {
    name: 'readers of the feed that wait (600 connections)',
    run: (target, ms) =>
      withClient(target, (client) =>
        client.hold(
          ['events'],
          600,
          ms,
          unread('/events?from=9999-12-31T00:00:00Z&wait=20', `x-api-key: ${target.key}`),
        ),
      ),
  },
  {
    name: 'unread responses: large collections (200)',
    run: (target, ms) =>
      withClient(target, (client) =>
        client.hold(
          ['perks'],
          200,
          ms,
          unread(`/perk-collections/${target.largeCollection}`, `x-api-key: ${target.key}`),
        ),
      ),
  },
  {
    name: 'unread responses: large analytics results (60)',
    run: (target, ms) =>
      withClient(target, async (client) => {
        let offset = 0;
        await client.hold(['analytics-query'], 60, ms, (socket) =>
          unread(loadOf(rawEvents((offset += 1))), `authorization: ${target.analyticsToken}`)(socket),
        );
      }),
  },
  {
    name: '4,000 idle connections',
    run: (target, ms) =>
      withClient(target, (client) =>
        client.hold([...PUBLIC, 'analytics-query', 'console'], 4_000, ms, () => undefined),
      ),
  },
  {
    name: 'huge headers',
    run: (target, ms) =>
      withClient(target, async (client) => {
        await client.flood(100, ms, async (index) => {
          const response = await client.request({
            ...keyedRequest(target, KEYED[index % KEYED.length]!),
            headers: { 'x-api-key': 'none', 'x-huge': 'x'.repeat(index % 2 ? 12_000 : 200_000) },
          });
          if (response && ![400, 401, 429].includes(response.status))
            client.breach(`a huge header gets ${response.status}`);
        });
      }),
  },
  {
    name: 'huge URLs',
    run: (target, ms) =>
      withClient(target, async (client) => {
        await client.flood(100, ms, async (index) => {
          const app = PUBLIC[index % PUBLIC.length]!;
          const response = await client.request({
            app,
            path: `/c/${'x'.repeat(index % 2 ? 12_000 : 200_000)}`,
          });
          if (response && ![400, 401, 404].includes(response.status))
            client.breach(`a huge URL gets ${response.status} from ${app}`);
        });
      }),
  },
  {
    name: 'hostile analytics queries (20 at once)',
    run: (target, ms) =>
      withClient(target, async (client) => {
        const until = Date.now() + ms;
        let index = 0;
        await Promise.all(
          Array.from({ length: 20 }, async () => {
            while (Date.now() < until)
              await client.request({
                app: 'analytics-query',
                method: 'POST',
                path: '/cubejs-api/v1/load?queryType=multi',
                headers: { authorization: target.analyticsToken, 'content-type': 'application/json' },
                body: JSON.stringify({ query: hostileQueries((index += 1)), queryType: 'multi' }),
              });
          }),
        );
        if (client.counted('analytics-query 400') === 0) client.breach('no query was rejected as too large');
      }),
  },
  {
    name: 'largest analytics queries (10 at once)',
    run: (target, ms) =>
      withClient(target, async (client) => {
        const until = Date.now() + ms;
        let index = 0;
        await Promise.all(
          Array.from({ length: 10 }, async () => {
            while (Date.now() < until) {
              const { name, body } = LARGEST_QUERIES[(index += 1) % LARGEST_QUERIES.length]!;
              const response = await client.request({
                app: 'analytics-query',
                method: 'POST',
                path: '/cubejs-api/v1/dry-run',
                headers: { authorization: target.analyticsToken, 'content-type': 'application/json' },
                body,
              });
              if (response && ![200, 400, 413, 429].includes(response.status))
                client.breach(`a large query (${name}) gets ${response.status}`);
            }
          }),
        );
      }),
  },
  {
    name: 'meta requests with made-up campaign names (4 at once)',
    run: (target, ms) =>
      withClient(target, async (client) => {
        for (let call = 0; call < 5; call += 1) {
          const names = Array.from({ length: 220 }, (_, index) => `cmeta_made_up_${call}_${index}=x`);
          await client.request({ app: 'links', path: `${target.clickPath}?${names.join('&')}` });
        }
        const until = Date.now() + ms;
        await Promise.all(
          Array.from({ length: 4 }, async () => {
            while (Date.now() < until)
              await client.request({
                app: 'analytics-query',
                path: '/cubejs-api/v1/meta?extended',
                headers: { authorization: target.analyticsToken },
              });
          }),
        );
      }),
  },
  {
    name: 'views reported with a public key',
    run: (target, ms) =>
      withClient(target, async (client) => {
        const run = `flood-${randomBytes(4).toString('hex')}`;
        await client.flood(ATTEMPTS_PER_SECOND, ms, async () => {
          const response = await client.request({
            app: 'boost',
            method: 'POST',
            path: `/track/${target.campaign}?utm_campaign=${run}`,
            headers: {
              'x-api-key': target.journeyKey,
              'content-type': 'application/json',
              'user-agent': CRAWLER,
            },
            body: JSON.stringify({ event: 'reward_view' }),
          });
          if (response?.status === 429) checkRefusal(client, 'boost', response, target.keyLimit);
        });
        checkAdmitted(client, 'boost', 202, target.keyLimit * (ms / 1_000 + 1));
        const views = await countViews(client, target, run);
        // One a second for a campaign and a network.
        if (views === 0 || views > ms / 1_000 + 2)
          client.breach(`boost: ${views} views of one address were counted`);
      }),
  },
  {
    name: 'pixels from all addresses of one IPv6 network',
    run: (target, ms) =>
      withClient(target, async (client) => {
        const run = `network-${randomBytes(4).toString('hex')}`;
        await client.flood(ATTEMPTS_PER_SECOND, ms, (index) =>
          client.request({
            app: 'boost',
            path: `/outreach/campaign/${target.campaign}/tracking-pixel/reward?utm_campaign=${run}`,
            headers: {
              'x-forwarded-for': `2001:db8:7:7::${(index % ADDRESSES_OF_ONE_NETWORK).toString(16)}`,
            },
          }),
        );
        const views = await countViews(client, target, run);
        if (views === 0 || views > ms / 1_000 + 2)
          client.breach(`boost: ${views} views of one network were counted`);
      }),
  },
];
