import { jetstream, jetstreamManager, type StreamInfo } from '@nats-io/jetstream';
import { BROKER_OPERATOR, TRACKING_CONSUMER, TRACKING_STREAM, trackingSubject } from '@perkway/domain';
import { startNatsCluster, type NatsCluster } from '@perkway/local-servers';
import {
  anAccountId,
  closeAll,
  connectTo,
  runFolder,
  testNats,
  waitFor,
  type LaunchedApp,
  type TestDatabase,
} from '@perkway/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { analyticsDatabase, click, launchAnalytics } from './support.js';

let database: TestDatabase;
const open: { close(): Promise<unknown> }[] = [];

beforeAll(async () => {
  database = await analyticsDatabase();
});
afterEach(() => closeAll(...open.splice(0).reverse()));
afterAll(() => database.close());

/** Log lines of the apps that the current test launched. */
let logs: string[][] = [];
const launch = async (nats: { url: string }, replicas = '3'): Promise<LaunchedApp> => {
  const app = await launchAnalytics(database, nats, { TRACKING_REPLICAS: replicas });
  open.push(app);
  logs.push(app.logs);
  return app;
};
const warnings = (): string =>
  logs
    .flat()
    .filter((line) => /"level":"(warn|error)"/.test(line))
    .join('');

describe('a cluster of brokers', () => {
  let cluster: NatsCluster;
  let url: string;

  beforeEach(async () => {
    logs = [];
    cluster = await startNatsCluster({ folder: runFolder('cluster'), secret: 'tests', dieWithParent: true });
    open.push(cluster);
    url = cluster.urlOf(BROKER_OPERATOR);
  });

  const streamInfo = async (at: string): Promise<StreamInfo> => {
    const connection = await connectTo(at, { noRandomize: true });
    try {
      return await (await jetstreamManager(connection, { timeout: 2_000 })).streams.info(TRACKING_STREAM);
    } finally {
      await connection.close();
    }
  };
  const untilReplicated = () =>
    waitFor(
      async () => {
        const { config, cluster: group } = await streamInfo(url);
        expect(config.num_replicas).toBe(3);
        expect(group?.leader).toBeDefined();
        expect(group?.replicas?.map(({ current }) => current)).toEqual([true, true]);
      },
      'three replicas',
      90_000,
    ).catch((error: Error) => {
      throw new Error(`${error.message}; the apps warned:\n${warnings()}`, { cause: error });
    });

  /** Retries until a message is acknowledged, as the outbox of an app does; the event keeps its id. */
  async function publish(account: string, going: () => boolean, ids: string[]): Promise<void> {
    const connection = await connectTo(url, { maxReconnectAttempts: -1, reconnectTimeWait: 50 });
    const publisher = jetstream(connection, { timeout: 1_000 });
    try {
      for (let number = 0; going(); number += 1) {
        const id = `e${String(number).padStart(6, '0')}`;
        const message = JSON.stringify({ events: [click(account, { id })] });
        for (;;)
          try {
            await publisher.publish(trackingSubject('links'), message, { retries: 0 });
            break;
          } catch {
            await sleep(20);
          }
        ids.push(id);
        await sleep(5);
      }
    } finally {
      await connection.close();
    }
  }

  const storedIds = async (account: string) =>
    (
      await database.query<{ id: string }>(
        'select id from tracking_events where account_id = $1 order by id',
        [account],
      )
    ).map(({ id }) => id);

  /** Returns the number of messages on each server, by making each the leader in turn. */
  async function messagesOfEach(): Promise<number[]> {
    const counts: number[] = [];
    const connection = await connectTo(url, { maxReconnectAttempts: -1, reconnectTimeWait: 50 });
    try {
      for (const name of cluster.servers.keys()) {
        await waitFor(
          async () => {
            const { cluster: group, state } = await streamInfo(url);
            if (group?.leader === name) return void counts.push(state.messages);
            await connection
              .request(`$JS.API.STREAM.LEADER.STEPDOWN.${TRACKING_STREAM}`, undefined, { timeout: 1_000 })
              .catch(() => undefined);
            await sleep(500);
            throw new Error(`${group?.leader} leads`);
          },
          `${name} leads`,
          90_000,
        );
      }
    } finally {
      await connection.close();
    }
    return counts;
  }

  it.each([
    ['while ingest runs', false],
    ['with a backlog', true],
  ])(
    'counts every acknowledged event across three kills of the leader, %s',
    async (_, hasBacklog) => {
      const account = anAccountId();
      const app = await launch({ url });
      await untilReplicated();
      if (hasBacklog) {
        open.splice(open.indexOf(app), 1);
        await app.close();
      }
      const ids: string[] = [];
      let isGoing = true;
      const publishing = publish(account, () => isGoing, ids);
      const more = async (count: number) => {
        const before = ids.length;
        await waitFor(() => ids.length >= before + count, `${count} more events`, 90_000);
      };
      for (let kill = 0; kill < 3; kill += 1) {
        await more(100);
        const leader = await cluster.leaderOf(TRACKING_STREAM);
        await leader.kill();
        await more(50);
        await leader.start();
        await untilReplicated();
      }
      isGoing = false;
      await publishing;
      if (hasBacklog) await launch({ url });
      await waitFor(async () => expect(await storedIds(account)).toEqual(ids), 'every event once', 90_000);
      const counts = await messagesOfEach();
      expect(new Set(counts)).toEqual(new Set([counts[0]]));
      expect(counts[0]).toBeGreaterThanOrEqual(ids.length);
    },
    480_000,
  );

  it('changes a stream from one replica to three while it is in use', async () => {
    const account = anAccountId();
    const ids: string[] = [];
    let isGoing = true;
    const one = await launch({ url }, '1');
    await waitFor(async () => expect((await streamInfo(url)).config.num_replicas).toBe(1), 'one replica');
    const publishing = publish(account, () => isGoing, ids);
    await waitFor(() => ids.length >= 50, 'events');
    await launch({ url }, '3');
    await untilReplicated();
    open.splice(open.indexOf(one), 1);
    await one.close();
    isGoing = false;
    await publishing;
    await waitFor(async () => expect(await storedIds(account)).toEqual(ids), 'every event once', 90_000);
    const connection = await connectTo(url);
    open.push({ close: () => connection.close() });
    const { config } = await (
      await jetstreamManager(connection)
    ).consumers.info(TRACKING_STREAM, TRACKING_CONSUMER);
    expect([0, 3]).toContain(config.num_replicas);
  });
});

it('warns once about a broker older than 2.10', async () => {
  const nats = await testNats();
  open.push(nats);
  const { logs } = await launch(nats, '1');
  const connection = await connectTo(nats.url);
  open.push({ close: () => connection.close() });
  await waitFor(async () => {
    const { streams } = await jetstreamManager(connection);
    await streams.info(TRACKING_STREAM);
  }, 'the stream');
  const isOld = /^2\.[0-9]\./.test(connection.info!.version);
  expect(logs.filter((line) => line.includes('is older than 2.10'))).toHaveLength(isOld ? 1 : 0);
});
