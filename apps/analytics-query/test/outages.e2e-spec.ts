import { setTimeout as sleep } from 'node:timers/promises';
import { TRACKING_CONSUMER, TRACKING_STREAM } from '@perkway/domain';
import { connectTo, tcpProxy, http, waitFor } from '@perkway/testing';
import { jetstreamManager } from '@nats-io/jetstream';
import {
  Analytics,
  anAccountId,
  analyticsDatabaseServer,
  analyticsStack,
  click,
  launchAnalytics,
  tokenFor,
  type Stack,
} from './support.js';

/** The servers really die: SIGKILL, then a start with the same port and data. */
let stack: Stack;
let database: Awaited<ReturnType<typeof analyticsDatabaseServer>>;
beforeAll(async () => {
  database = await analyticsDatabaseServer();
  stack = await analyticsStack({}, async () => database);
});
afterAll(() => stack.close(), 60_000);

const EVENTS = 1_000;
/**
 * For a busy machine. Messages in flight when the broker died are redelivered after the acknowledgement timeout.
 */
const TIMEOUT_MS = 120_000;

async function publishSlowly(account: string) {
  for (let sent = 0; sent < EVENTS; sent += 10) {
    await stack.publisher.events(...Array.from({ length: 10 }, () => click(account)));
    await sleep(10);
  }
}
const exactly = (account: string) =>
  waitFor(
    async () => expect(await stack.as(account).count('perk_clicks.count')).toBe(EVENTS),
    'all events',
    TIMEOUT_MS,
  );
const noneLeft = () =>
  waitFor(
    async () => {
      const { text } = await http(stack.app).get('/metrics');
      expect(text).toMatch(/^tracking_lag_messages\{[^}]*\} 0$/m);
    },
    'the end of the backlog',
    TIMEOUT_MS,
  );

describe('outages', () => {
  it('counts exactly what was tracked if the broker is killed meanwhile', async () => {
    const account = anAccountId();
    const publishing = publishSlowly(account);
    await sleep(300);
    await stack.nats.kill();
    await sleep(1_500);
    await stack.nats.restart();
    await publishing;
    await exactly(account);
    await noneLeft();
    expect(await stack.as(account).count('perk_clicks.count')).toBe(EVENTS);
  });

  it('counts exactly what was tracked if Postgres is killed meanwhile, and responds with 503 until it is back', async () => {
    const account = anAccountId();
    const publishing = publishSlowly(account);
    await sleep(300);
    await database.server.kill();
    await sleep(1_000);
    const { status, body, headers } = await stack.as(account).load({ measures: ['perk_clicks.count'] });
    expect({ status, body }).toEqual({
      status: 503,
      body: { error: 'The analytics database is not available, please try again' },
    });
    expect(headers['retry-after']).toMatch(/^\d+$/);
    expect((await http(stack.app).get('/readyz')).status).toBe(500);
    expect((await http(stack.app).get('/livez')).status).toBe(200);
    await publishing;
    await database.server.start();
    await exactly(account);
    await waitFor(async () => expect((await http(stack.app).get('/readyz')).status).toBe(200), 'readiness');
    await noneLeft();
    expect(await stack.as(account).count('perk_clicks.count')).toBe(EVENTS);
  });

  it('buffers only a few megabytes of a backlog while Postgres is down, however large the messages are', async () => {
    const account = anAccountId();
    const cmeta = Object.fromEntries(
      Array.from({ length: 40 }, (_, name) => [`attribute-${name}`, 'x'.repeat(250)]),
    );
    const connection = await connectTo(stack.nats.url);
    const manager = await jetstreamManager(connection);
    await database.server.kill();
    const MESSAGES = 60;
    for (let sent = 0; sent < MESSAGES; sent += 1)
      await stack.publisher.events(...Array.from({ length: 50 }, () => click(account, { cmeta })));
    // Waits until ingest has fetched nothing for longer than one fetch takes.
    let unacknowledged = -1;
    for (let same = 0; same < 5;) {
      await sleep(500);
      const { num_ack_pending } = await manager.consumers.info(TRACKING_STREAM, TRACKING_CONSUMER);
      same = num_ack_pending === unacknowledged ? same + 1 : 0;
      unacknowledged = num_ack_pending;
    }
    const bytes = 50 * JSON.stringify(click(account, { cmeta })).length;
    expect(MESSAGES * bytes).toBeGreaterThan(30_000_000);
    expect(unacknowledged * bytes).toBeGreaterThan(4_000_000);
    // 8 MB are buffered, and one more fetch was in flight.
    expect(unacknowledged * bytes).toBeLessThan(14_000_000);
    await database.server.start();
    await waitFor(
      async () => expect(await stack.as(account).count('perk_clicks.count')).toBe(MESSAGES * 50),
      'all events',
      TIMEOUT_MS,
    );
    await connection.close();
  });

  it('survives when Postgres is killed during queries', async () => {
    const account = anAccountId();
    const statuses = new Set<number>();
    let isOver = false;
    const running = Array.from({ length: 4 }, async () => {
      while (!isOver)
        statuses.add((await stack.as(account).load({ measures: ['perk_clicks.count'] })).status);
    });
    await sleep(300);
    await database.server.kill();
    await sleep(500);
    await database.server.start();
    await waitFor(async () => expect(await stack.as(account).count('perk_clicks.count')).toBe(0), '0 events');
    isOver = true;
    await Promise.all(running);
    expect(statuses).toEqual(new Set([200, 503]));
  });

  it('responds with 503 within seconds if Postgres hangs', async () => {
    const proxy = await tcpProxy(database.url);
    const app = await launchAnalytics(database, stack.nats, {
      ANALYTICS_ROLES: 'query',
      READER_DATABASE_URL: proxy.through(database.readerUrl),
    });
    const sendRequest = () =>
      new Analytics(app.url, tokenFor(anAccountId(), stack.key)).load({ measures: ['perk_clicks.count'] });
    // On a busy machine the first one may get 503 while its connection is being opened.
    await waitFor(async () => expect((await sendRequest()).status).toBe(200), 'a response');
    proxy.freeze();
    // First on an open connection, then without one.
    for (let round = 1; round <= 2; round += 1) {
      const sentAt = Date.now();
      expect((await sendRequest()).status).toBe(503);
      expect(Date.now() - sentAt).toBeLessThan(20_000);
    }
    proxy.thaw();
    await waitFor(async () => expect((await sendRequest()).status).toBe(200), 'a response');
    await app.close();
    await proxy.close();
  });

  it('recovers when the broker restarts with an empty disk', async () => {
    const account = anAccountId();
    const connection = await connectTo(stack.nats.url);
    await (await jetstreamManager(connection)).streams.delete(TRACKING_STREAM);
    await connection.close();
    await stack.publisher.events(...Array.from({ length: EVENTS }, () => click(account)));
    await exactly(account);
  });
});
