import { AckPolicy, jetstreamManager, RetentionPolicy, type JetStreamManager } from '@nats-io/jetstream';
import {
  FEED_CONSUMER,
  FORMER_TRACKING_STREAM,
  TRACKING_CONSUMER,
  TRACKING_DEAD_STREAM,
  TRACKING_STREAM,
  TRACKING_SUBJECTS,
} from '@perkway/domain';
import {
  anAccountId,
  closeAll,
  connectTo,
  http,
  runNode,
  testNats,
  waitFor,
  type TestDatabase,
  type TestNats,
} from '@perkway/testing';
import { lagOf, purgeAcknowledged } from '../src/ingest/tracking-streams.js';
import {
  Analytics,
  analyticsDatabase,
  click,
  event,
  fakeTokenIssuer,
  launchAnalytics,
  Publisher,
  signingKey,
  tokenFor,
} from './support.js';

const HOUR_MS = 3_600_000;

let nats: TestNats;
let database: TestDatabase;
let manager: JetStreamManager;
let publisher: Publisher;
const open: { close(): Promise<unknown> }[] = [];

beforeEach(async () => {
  [nats, database] = await Promise.all([testNats(), analyticsDatabase()]);
  const connection = await connectTo(nats.url);
  manager = await jetstreamManager(connection);
  publisher = await Publisher.connect(nats.url);
  open.push(nats, database, connection, publisher);
});
afterEach(() => closeAll(...open.splice(0).reverse()));

const launch = async (overrides: Record<string, string> = {}) => {
  const app = await launchAnalytics(database, nats, overrides);
  open.push(app);
  return app;
};
const storedIds = async (account: string) =>
  (
    await database.query<{ id: string }>('select id from tracking_events where account_id = $1 order by id', [
      account,
    ])
  ).map(({ id }) => id);
const untilStored = (account: string, ids: string[]) =>
  waitFor(async () => expect(await storedIds(account)).toEqual([...ids].sort()), 'these events');
const clicks = (account: string, ...ids: string[]) => ids.map((id) => click(account, { id }));
const perkway = (command: string, ...args: string[]) =>
  runNode(['--import', 'tsx', `tools/perkway/src/${command}.ts`, ...args], { env: { NATS_URL: nats.url } });
const replay = (...args: string[]) => perkway('replay', ...args);

describe('the stream', () => {
  it('keeps stored events for a week, and refuses events beyond its size', async () => {
    await launch();
    await waitFor(async () => {
      const { config } = await manager.streams.info(TRACKING_STREAM);
      expect(config).toMatchObject({
        subjects: ['tracking.>'],
        retention: 'limits',
        storage: 'file',
        discard: 'new',
        max_age: 7 * 24 * HOUR_MS * 1_000_000,
        max_bytes: 2 * 1024 ** 3,
      });
    }, 'the stream');
    const account = anAccountId();
    await publisher.events(...clicks(account, 'a', 'b'));
    await untilStored(account, ['a', 'b']);
    expect((await manager.streams.info(TRACKING_STREAM)).state.messages).toBe(1);
  });

  it('takes over from the work queue of an earlier release without losing or doubling an event', async () => {
    const account = anAccountId();
    await manager.streams.add({
      name: FORMER_TRACKING_STREAM,
      description: 'Perkway, settings 1',
      subjects: [TRACKING_SUBJECTS],
      retention: RetentionPolicy.Workqueue,
    });
    await manager.consumers.add(FORMER_TRACKING_STREAM, {
      durable_name: TRACKING_CONSUMER,
      ack_policy: AckPolicy.Explicit,
    });
    const backlog = Array.from({ length: 3_000 }, (_, index) => `before-${index}`);
    for (let from = 0; from < backlog.length; from += 100)
      await publisher.events(...clicks(account, ...backlog.slice(from, from + 100)));
    const during: string[] = [];
    let isOver = false;
    const publishing = (async () => {
      while (!isOver) {
        during.push(`during-${during.length}`);
        await publisher.events(...clicks(account, during.at(-1)!));
      }
    })();
    // Two replicas at once, as in a rollout.
    await Promise.all([launch(), launch()]);
    await waitFor(
      () =>
        manager.streams.info(FORMER_TRACKING_STREAM).then(
          () => false,
          () => true,
        ),
      'the removal of the work queue',
    );
    isOver = true;
    await publishing;
    await untilStored(account, [...backlog, ...during]);
    expect((await manager.streams.info(TRACKING_STREAM)).config.subjects).toEqual([TRACKING_SUBJECTS]);
  });

  it('keeps the work queue until all of its events can be read', async () => {
    const account = anAccountId();
    await manager.streams.add({
      name: FORMER_TRACKING_STREAM,
      subjects: [TRACKING_SUBJECTS],
      retention: RetentionPolicy.Workqueue,
    });
    await manager.consumers.add(FORMER_TRACKING_STREAM, {
      durable_name: TRACKING_CONSUMER,
      ack_policy: AckPolicy.Explicit,
    });
    await publisher.publish({ events: [{ ...click(account, { id: 'of-tomorrow' }), v: 2 }] });
    await launch();
    await publisher.events(...clicks(account, 'known'));
    await untilStored(account, ['known']);
    expect((await manager.streams.info(FORMER_TRACKING_STREAM)).state.messages).toBe(1);
  });
});

describe('a replay', () => {
  it('stores what a restored database lacks, and nothing twice', async () => {
    const app = await launch();
    const account = anAccountId();
    await publisher.events(...clicks(account, 'kept'));
    await untilStored(account, ['kept']);
    const from = new Date();
    const lost = Array.from({ length: 500 }, (_, index) => `lost-${index}`);
    for (const id of lost) await publisher.events(...clicks(account, id));
    await untilStored(account, ['kept', ...lost]);
    await database.query(`delete from tracking_events where account_id = $1 and id like 'lost-%'`, [account]);
    await publisher.events(...clicks(account, 'after'));

    const { exitCode, output } = await replay('--from', from.toISOString());
    expect(output).toContain('"msg":"replaying"');
    expect(exitCode).toBe(0);
    await untilStored(account, ['kept', ...lost, 'after']);
    await publisher.events(...clicks(account, 'later'));
    await untilStored(account, ['kept', ...lost, 'after', 'later']);
    const conversions = (await http(app).get('/metrics')).text;
    expect(conversions).toMatch(/^tracking_events_duplicate_total\{[^}]*\} \d/m);
    expect((await manager.consumers.info(TRACKING_STREAM, TRACKING_CONSUMER)).config).toMatchObject({
      deliver_policy: 'by_start_time',
    });
    // A replica that starts later does not change the consumer.
    await launch();
    await publisher.events(...clicks(account, 'last'));
    await untilStored(account, ['kept', ...lost, 'after', 'later', 'last']);
  });

  it('changes no result if nothing is missing, in rollups or rows', async () => {
    const key = signingKey('k1');
    open.push(await fakeTokenIssuer(nats.url, () => [key]));
    const app = await launch({ ROLLUP_INTERVAL_MS: '100' });
    const account = anAccountId();
    const analytics = new Analytics(app.url, tokenFor(account, key));
    const from = new Date();
    const EVENTS = 400;
    const events = Array.from({ length: EVENTS }, (_, index) =>
      click(account, {
        at: from.getTime() - (index % 72) * HOUR_MS,
        perk: `perk-${index % 3}`,
        cmeta: { plan: `plan-${index % 2}` },
      }),
    );
    for (let first = 0; first < EVENTS; first += 40)
      await publisher.events(...events.slice(first, first + 40));
    await waitFor(async () => expect(await analytics.count('perk_clicks.count')).toBe(EVENTS), 'the clicks');
    const settled = () =>
      waitFor(async () => {
        const [row] = await database.query<{ n: number }>('select count(*)::int as n from dirty_hours');
        expect(row!.n).toBe(0);
      }, 'rollups of all hours');
    await settled();
    const responses = () =>
      Promise.all(
        [
          { measures: ['perk_clicks.count', 'perk_clicks.count_people'] },
          {
            measures: ['perk_clicks.count'],
            timeDimensions: [{ dimension: 'perk_clicks.occurred_at', granularity: 'hour' }],
          },
          { measures: ['perk_clicks.count'], dimensions: ['perk_clicks.perk_id'] },
          { measures: ['perk_clicks.count'], dimensions: ['perk_clicks.cmeta_plan'] },
        ].map(async (query) => (await analytics.load(query)).body.data),
      );
    const before = await responses();
    expect(before[2]).toHaveLength(3);

    expect((await replay('--from', from.toISOString())).exitCode).toBe(0);
    await waitFor(async () => {
      const { num_pending, num_ack_pending } = await manager.consumers.info(
        TRACKING_STREAM,
        TRACKING_CONSUMER,
      );
      expect([num_pending, num_ack_pending]).toEqual([0, 0]);
    }, 'the end of the replay');
    await settled();
    expect(await responses()).toEqual(before);
    const { text } = await http(app).get('/metrics');
    // Shows that the replay ran. Citus reports a duplicate event like a new one.
    const taken = [...text.matchAll(/^tracking_events_(?:stored|duplicate)_total\{[^}]*\} (\d+)$/gm)];
    expect(taken.reduce((sum, [, count]) => sum + Number(count), 0)).toBeGreaterThanOrEqual(2 * EVENTS);
  });

  it('waits for a broker that does not respond yet', async () => {
    await launch();
    const account = anAccountId();
    await publisher.events(...clicks(account, 'one'));
    await untilStored(account, ['one']);
    await nats.pause();
    const replaying = replay('--from', new Date(Date.now() - HOUR_MS).toISOString());
    // Longer than the timeout of one request.
    await new Promise((resolve) => setTimeout(resolve, 8_000));
    nats.resume();
    expect(await replaying).toMatchObject({ exitCode: 0 });
    await untilStored(account, ['one']);
  });

  it('reports missing arguments in one sentence', async () => {
    expect(await replay()).toEqual({ exitCode: 1, output: expect.stringMatching(/^--from must be a time/) });
    expect(await replay('--from', 'yesterday')).toEqual({
      exitCode: 1,
      output: expect.stringMatching(/^--from must be a time/),
    });
  });

  it('reports the earliest possible time if the stream does not reach back far enough', async () => {
    await launch();
    const account = anAccountId();
    for (const id of ['a', 'b', 'c']) await publisher.events(...clicks(account, id));
    await untilStored(account, ['a', 'b', 'c']);
    await manager.streams.purge(TRACKING_STREAM, { seq: 3 });
    const { exitCode, output } = await replay('--from', new Date(Date.now() - HOUR_MS).toISOString());
    expect(exitCode).toBe(1);
    expect(output).toMatch(/The stream goes back to \S+ only/);
    await publisher.events(...clicks(account, 'd'));
    await untilStored(account, ['a', 'b', 'c', 'd']);
  });
});

describe('a nearly full stream', () => {
  const MAX_BYTES = 100_000;
  const fill = async (account: string) => {
    const text = 'x'.repeat(500);
    for (let index = 0; index < 100; index += 1) {
      const { state } = await manager.streams.info(TRACKING_STREAM);
      if (state.bytes > 0.85 * MAX_BYTES) return;
      await publisher.events(
        event({ type: 'teaser_view', account, campaign: 'c', journey: text, channel: 'outreach' }),
        event({ type: 'teaser_view', account, campaign: 'c', journey: text, channel: 'outreach' }),
      );
    }
  };

  it('loses stored events, oldest first', async () => {
    // Again if the app, which purges every five seconds, was sooner than this test.
    await waitFor(async () => {
      const app = await launch({ TRACKING_MAX_BYTES: String(MAX_BYTES) });
      await waitFor(
        async () => void (await manager.consumers.info(TRACKING_STREAM, TRACKING_CONSUMER)),
        'the consumer',
      );
      await fill(anAccountId());
      await waitFor(
        async () => expect(await lagOf(manager, TRACKING_STREAM)).toEqual({ messages: 0, ageMs: 0 }),
        'the end of the backlog',
      );
      await app.close();
      open.splice(open.indexOf(app), 1);
      return (await manager.streams.info(TRACKING_STREAM)).state.bytes > 0.8 * MAX_BYTES;
    }, 'a nearly full stream whose events are stored');
    const before = (await manager.streams.info(TRACKING_STREAM)).state;
    await manager.consumers.add(TRACKING_STREAM, {
      durable_name: FEED_CONSUMER,
      ack_policy: AckPolicy.Explicit,
    });
    await purgeAcknowledged(manager);
    const unread = (await manager.streams.info(TRACKING_STREAM)).state;
    expect(unread.first_seq).toBe(before.first_seq);
    await manager.consumers.delete(TRACKING_STREAM, FEED_CONSUMER);
    await purgeAcknowledged(manager);
    const after = (await manager.streams.info(TRACKING_STREAM)).state;
    expect(after.first_seq).toBeGreaterThan(before.first_seq);
    expect(after.bytes).toBeLessThan(0.8 * MAX_BYTES);
    expect(after.last_seq).toBe(before.last_seq);
  });

  it('keeps events that are not stored, and their age is reported', async () => {
    const app = await launch({ TRACKING_MAX_BYTES: String(MAX_BYTES) });
    await waitFor(async () => void (await manager.consumers.info(TRACKING_STREAM, TRACKING_CONSUMER)), 'it');
    await app.close();
    open.splice(open.indexOf(app), 1);
    await fill(anAccountId());
    const before = (await manager.streams.info(TRACKING_STREAM)).state;
    await purgeAcknowledged(manager);
    expect((await manager.streams.info(TRACKING_STREAM)).state).toMatchObject({
      first_seq: before.first_seq,
      messages: before.messages,
    });
    const { messages, ageMs } = await lagOf(manager, TRACKING_STREAM);
    expect(messages).toBe(before.messages);
    expect(ageMs).toBeGreaterThanOrEqual(Date.now() - new Date(before.first_ts).getTime() - 5_000);
  });
});

describe('dead letters', () => {
  const linesOf = (output: string) =>
    output
      .trim()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  const list = async () => linesOf((await perkway('dead-letters')).output);
  const forget = () => manager.streams.update(TRACKING_DEAD_STREAM, { duplicate_window: 100_000_000 });

  it('are listed with their reasons, shown unchanged, and stored when they are replayed', async () => {
    await launch();
    const account = anAccountId();
    await database.query(
      `alter table tracking_events add constraint poison check (campaign_id is distinct from 'poison')`,
    );
    const view = event({
      type: 'teaser_view',
      account,
      campaign: 'poison',
      journey: 'j',
      channel: 'outreach',
    });
    await publisher.events(view);
    await publisher.publish('no json {');
    await waitFor(async () => expect(await list()).toHaveLength(2), 'two dead letters');
    expect(await list()).toEqual([
      expect.objectContaining({ number: 1, reason: 'rejected by the database: 23514' }),
      expect.objectContaining({ number: 2, reason: 'the message is not valid JSON', bytes: 9 }),
    ]);
    expect((await perkway('dead-letters', '2')).output).toBe('no json {\n');
    expect(JSON.parse((await perkway('dead-letters', '1')).output)).toEqual({ events: [view] });

    // Not replayed: too recent, so it would count as a duplicate.
    expect(linesOf((await perkway('dead-letters', 'replay', '1')).output)).toEqual([
      expect.objectContaining({ number: 1, replayed: false }),
    ]);
    await forget();
    await database.query('alter table tracking_events drop constraint poison');
    expect(linesOf((await perkway('dead-letters', 'replay', 'all')).output)).toEqual([
      expect.objectContaining({ number: 1, replayed: true }),
      expect.objectContaining({ number: 2, replayed: true }),
    ]);
    await untilStored(account, [view.id]);
    // A letter that still cannot be stored comes back.
    await waitFor(
      async () => expect(await list()).toEqual([expect.objectContaining({ number: 3, bytes: 9 })]),
      'the letter to come back',
    );
  });

  it('that do not exist are reported', async () => {
    await launch();
    await waitFor(async () => void (await manager.streams.info(TRACKING_DEAD_STREAM)), 'the stream');
    expect(await perkway('dead-letters', '7')).toEqual({
      exitCode: 1,
      output: 'No such dead letter: 7.\n',
    });
    expect(await perkway('dead-letters', 'all')).toMatchObject({
      output: expect.stringContaining(
        'Give the numbers that `perkway dead-letters` prints, or `replay all`.',
      ),
    });
    expect(await perkway('dead-letters', 'replay', 'x')).toMatchObject({ exitCode: 1 });
  });
});
