import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import type { AppName } from '@perkway/domain';
import { HostileClient, type HostileAnswer, type HostileRequest, type Outcome } from './hostile-client.js';
import type { Target } from './target.js';

export interface Attack {
  name: string;
  run: (target: Target, ms: number) => Promise<Outcome>;
}

const KEYED: AppName[] = ['perks', 'boost', 'gift-cards', 'token-issuer'];
/** What has no ingress of its own before it in a trial, and is open to everybody in production. */
const PUBLIC: AppName[] = ['perks', 'links', 'boost', 'gift-cards', 'allocation-page', 'token-issuer'];
/** What replicas admit beyond a limit while their messages travel, on a machine that is busy. */
const SLACK = 1.4;

const keyedRequest = ({ smallCollection, campaign }: Target, app: AppName): HostileRequest => ({
  app,
  path: {
    perks: `/perk-collections/${smallCollection}`,
    boost: `/outreach/campaign/${campaign}/reward-url?perkId=hostile-0`,
    'gift-cards': '/pools',
    'token-issuer': '/cube/token',
  }[app as 'perks'],
});

/** `RateLimit-*` and `Retry-After` of docs/http-contract.md. */
function checkRefusal(client: HostileClient, app: AppName, { headers, text }: HostileAnswer, limit: number) {
  const number = (name: string) => Number(headers[name] ?? NaN);
  if (number('ratelimit-limit') !== limit || number('ratelimit-remaining') !== 0)
    client.breach(`${app}: 429 without the RateLimit headers of its limit`);
  if (!(number('ratelimit-reset') >= 1) || !(number('retry-after') >= 1))
    client.breach(`${app}: 429 does not say when to try again`);
  if (!text.includes('TOO_MANY_REQUESTS')) client.breach(`${app}: 429 without its code`);
}

/** Held over the replicas: each for itself would admit it once more. */
function checkAdmitted(client: HostileClient, app: AppName, status: number, most: number) {
  const admitted = client.counted(`${app} ${status}`);
  if (admitted > most * SLACK) client.breach(`${app}: ${admitted} were admitted, where ${most} may be`);
  if (client.counted(`${app} 429`) === 0) client.breach(`${app}: nobody was refused`);
}

/** Over all apps: past any limit within seconds, and no work for the processors of two cores. */
const GUESSES_PER_SECOND = 120;
const ADDRESS = '203.0.113.7';
const asWritten = async (
  target: Target,
  work: (client: HostileClient) => Promise<unknown>,
): Promise<Outcome> => {
  const client = new HostileClient(target, ADDRESS);
  await work(client);
  return client.outcome;
};

const DRIBBLE_MS = 1_000;

/** Says a piece of a request again and again, and never the end of it. */
const dribble = (head: string, piece: string) => (socket: Socket) => {
  socket.write(head);
  const timer = setInterval(() => socket.write(piece), DRIBBLE_MS);
  socket.on('data', () => undefined).once('close', () => clearInterval(timer));
};
/** Asks and does not read. */
const unread = (path: string, headers: string) => (socket: Socket) =>
  socket.pause().write(`GET ${path} HTTP/1.1\r\nhost: x\r\n${headers}\r\n\r\n`);

const EVENTS_AS_THEY_ARE = (offset: number) => ({
  dimensions: ['teaser_views.journey_id', 'teaser_views.occurred_at'],
  ungrouped: true,
  order: [],
  limit: 50_000,
  offset,
});
const loadOf = (query: unknown) => `/cubejs-api/v1/load?query=${encodeURIComponent(JSON.stringify(query))}`;

/** Different ones each time, because equal queries share a run. */
const hostileQueries = (index: number): unknown => {
  const views = 'teaser_views.occurred_at';
  return [
    // Too many rows: refused.
    Array.from({ length: 50 }, (_, offset) => ({ measures: ['teaser_views.count'], limit: 50_000, offset })),
    EVENTS_AS_THEY_ARE(index),
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

export const ATTACKS: Attack[] = [
  {
    name: 'one key far past its limit',
    run: (target, ms) =>
      asWritten(target, async (client) => {
        await client.flood(KEYED.length * target.keyLimit * 3, ms, async (index) => {
          const app = KEYED[index % KEYED.length]!;
          const answer = await client.ask({
            ...keyedRequest(target, app),
            headers: { 'x-api-key': target.key },
          });
          if (answer?.status === 429) checkRefusal(client, app, answer, target.keyLimit);
        });
        for (const app of KEYED) checkAdmitted(client, app, 200, target.keyLimit * (ms / 1_000 + 1));
      }),
  },
  {
    name: 'unknown keys from one address',
    run: (target, ms) =>
      asWritten(target, async (client) => {
        await client.flood(GUESSES_PER_SECOND, ms, async (index) => {
          const app = KEYED[index % KEYED.length]!;
          const answer = await client.ask({
            ...keyedRequest(target, app),
            headers: { 'x-api-key': `guess-${randomBytes(16).toString('hex')}` },
          });
          if (answer?.status === 429) checkRefusal(client, app, answer, target.guessLimit);
        });
        for (const app of KEYED) {
          checkAdmitted(client, app, 401, target.guessLimit + (target.guessLimit * ms) / 60_000);
          const right = await client.ask({
            ...keyedRequest(target, app),
            headers: { 'x-api-key': target.key },
          });
          if (right?.status !== 200)
            client.breach(`${app}: a right key is refused where wrong ones were tried`);
        }
      }),
  },
  {
    name: 'unknown links',
    run: (target, ms) =>
      asWritten(target, async (client) => {
        await client.flood(GUESSES_PER_SECOND, ms, async (index) => {
          const token = randomBytes(32).toString('base64url');
          if (index % 2 === 0) return client.ask({ app: 'links', path: `/c/${token.repeat(3)}` });
          const answer = await client.ask({
            app: 'allocation-page',
            path: '/api/reward-link',
            headers: { authorization: `Bearer ${token}` },
          });
          if (answer?.status === 429) checkRefusal(client, 'allocation-page', answer, target.guessLimit);
          return answer;
        });
        checkAdmitted(client, 'allocation-page', 404, target.guessLimit + (target.guessLimit * ms) / 60_000);
      }),
  },
  {
    name: 'heads that do not end (600 connections)',
    run: (target, ms) =>
      asWritten(target, (client) =>
        client.hold(PUBLIC, 600, ms, dribble('GET / HTTP/1.1\r\nhost: x\r\n', 'x-more: x\r\n')),
      ),
  },
  {
    name: 'bodies that do not end (600 connections)',
    run: (target, ms) =>
      asWritten(target, (client) =>
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
    name: 'large collections that are not read (200)',
    run: (target, ms) =>
      asWritten(target, (client) =>
        client.hold(
          ['perks'],
          200,
          ms,
          unread(`/perk-collections/${target.largeCollection}`, `x-api-key: ${target.key}`),
        ),
      ),
  },
  {
    name: 'large analytics answers that are not read (60)',
    run: (target, ms) =>
      asWritten(target, async (client) => {
        let offset = 0;
        await client.hold(['analytics-query'], 60, ms, (socket) =>
          unread(
            loadOf(EVENTS_AS_THEY_ARE((offset += 1))),
            `authorization: ${target.analyticsToken}`,
          )(socket),
        );
      }),
  },
  {
    name: '4,000 idle connections',
    run: (target, ms) =>
      asWritten(target, (client) =>
        client.hold([...PUBLIC, 'analytics-query', 'console'], 4_000, ms, () => undefined),
      ),
  },
  {
    name: 'huge headers',
    run: (target, ms) =>
      asWritten(target, async (client) => {
        await client.flood(100, ms, async (index) => {
          const answer = await client.ask({
            ...keyedRequest(target, KEYED[index % KEYED.length]!),
            headers: { 'x-api-key': 'none', 'x-huge': 'x'.repeat(index % 2 ? 12_000 : 200_000) },
          });
          if (answer && ![400, 401, 429].includes(answer.status))
            client.breach(`a huge header is answered ${answer.status}`);
        });
      }),
  },
  {
    name: 'huge addresses',
    run: (target, ms) =>
      asWritten(target, async (client) => {
        await client.flood(100, ms, async (index) => {
          const app = PUBLIC[index % PUBLIC.length]!;
          const answer = await client.ask({ app, path: `/c/${'x'.repeat(index % 2 ? 12_000 : 200_000)}` });
          if (answer && ![400, 401, 404].includes(answer.status))
            client.breach(`a huge address is answered ${answer.status} by ${app}`);
        });
      }),
  },
  {
    name: 'hostile analytics queries (20 at once)',
    run: (target, ms) =>
      asWritten(target, async (client) => {
        const until = Date.now() + ms;
        let index = 0;
        await Promise.all(
          Array.from({ length: 20 }, async () => {
            while (Date.now() < until)
              await client.ask({
                app: 'analytics-query',
                method: 'POST',
                path: '/cubejs-api/v1/load?queryType=multi',
                headers: { authorization: target.analyticsToken, 'content-type': 'application/json' },
                body: JSON.stringify({ query: hostileQueries((index += 1)), queryType: 'multi' }),
              });
          }),
        );
        if (client.counted('analytics-query 400') === 0) client.breach('no query was refused as too large');
      }),
  },
];
