import { AckPolicy, jetstreamManager, RetentionPolicy, type JetStreamManager } from '@nats-io/jetstream';
import {
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
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { lagOf, makeRoom } from '../src/ingest/tracking-streams.js';
import { analyticsDatabase, click, event, launchAnalytics, Publisher } from './support.js';

const HOUR_MS = 3_600_000;
const ROOT = join(__dirname, '../../..');

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
  it('keeps for a week what is stored, and refuses what is beyond its size', async () => {
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

  it('takes over from the work queue of an earlier release, without an event lost or doubled', async () => {
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
      'the end of the work queue',
    );
    isOver = true;
    await publishing;
    await untilStored(account, [...backlog, ...during]);
    expect((await manager.streams.info(TRACKING_STREAM)).config.subjects).toEqual([TRACKING_SUBJECTS]);
  });

  it('leaves the work queue until all of it is understood', async () => {
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
  it('stores again what a restored database lacks, and nothing twice', async () => {
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
    // A replica that starts afterwards takes the consumer as it is.
    await launch();
    await publisher.events(...clicks(account, 'last'));
    await untilStored(account, ['kept', ...lost, 'after', 'later', 'last']);
  });

  it('says what it lacks in one sentence', async () => {
    expect(await replay()).toEqual({ exitCode: 1, output: expect.stringMatching(/^From when\?/) });
    expect(await replay('--from', 'yesterday')).toEqual({
      exitCode: 1,
      output: expect.stringMatching(/^From when\?/),
    });
  });

  it('says from when on it can, where the stream does not reach back so far', async () => {
    await launch();
    const account = anAccountId();
    for (const id of ['a', 'b', 'c']) await publisher.events(...clicks(account, id));
    await untilStored(account, ['a', 'b', 'c']);
    await manager.streams.purge(TRACKING_STREAM, { seq: 3 });
    const { exitCode, output } = await replay('--from', new Date(Date.now() - HOUR_MS).toISOString());
    expect(exitCode).toBe(1);
    expect(output).toMatch(/The stream reaches back to \S+ only/);
    await publisher.events(...clicks(account, 'd'));
    await untilStored(account, ['a', 'b', 'c', 'd']);
  });
});

describe('room in the stream', () => {
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

  it('is made by dropping what is stored, oldest first', async () => {
    await launch({ TRACKING_MAX_BYTES: String(MAX_BYTES) });
    await waitFor(async () => void (await manager.consumers.info(TRACKING_STREAM, TRACKING_CONSUMER)), 'it');
    await fill(anAccountId());
    await waitFor(
      async () =>
        expect(await lagOf(manager, TRACKING_STREAM)).toEqual({
          messages: 0,
          ageMs: 0,
        }),
      'the end of the backlog',
    );
    const before = (await manager.streams.info(TRACKING_STREAM)).state;
    await makeRoom(manager);
    const after = (await manager.streams.info(TRACKING_STREAM)).state;
    expect(after.first_seq).toBeGreaterThan(before.first_seq);
    expect(after.bytes).toBeLessThan(0.8 * MAX_BYTES);
    expect(after.last_seq).toBe(before.last_seq);
  });

  it('is not made of what nobody has stored, whose age is told', async () => {
    const app = await launch({ TRACKING_MAX_BYTES: String(MAX_BYTES) });
    await waitFor(async () => void (await manager.consumers.info(TRACKING_STREAM, TRACKING_CONSUMER)), 'it');
    await app.close();
    open.splice(open.indexOf(app), 1);
    await fill(anAccountId());
    const before = (await manager.streams.info(TRACKING_STREAM)).state;
    await makeRoom(manager);
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

  it('are listed with their reasons, shown as they came, and stored when they are replayed', async () => {
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
    await waitFor(async () => expect(await list()).toHaveLength(2), 'two letters', 20_000);
    expect(await list()).toEqual([
      expect.objectContaining({ number: 1, reason: 'the database refuses it: 23514' }),
      expect.objectContaining({ number: 2, reason: 'the message is no JSON', bytes: 9 }),
    ]);
    expect((await perkway('dead-letters', '2')).output).toBe('no json {\n');
    expect(JSON.parse((await perkway('dead-letters', '1')).output)).toEqual({ events: [view] });

    // Too young to be told from itself.
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
    // What is as wrong as before is not lost.
    await waitFor(
      async () => expect(await list()).toEqual([expect.objectContaining({ number: 3, bytes: 9 })]),
      'the letter of before',
      20_000,
    );
  });

  it('are neither lost nor doubled by replays that are killed', async () => {
    await launch();
    const account = anAccountId();
    await database.query(
      `alter table tracking_events add constraint poison check (campaign_id is distinct from 'poison')`,
    );
    const views = Array.from({ length: 400 }, (_, index) =>
      event({ type: 'teaser_view', account, campaign: 'poison', journey: `j${index}`, channel: 'outreach' }),
    );
    for (const view of views) await publisher.events(view);
    await publisher.publish('no json {');
    const letters = async () => (await manager.streams.info(TRACKING_DEAD_STREAM)).state.messages;
    await waitFor(async () => (await letters()) === views.length + 1, 'the letters', 60_000);
    await forget();
    await database.query('alter table tracking_events drop constraint poison');

    // A letter that was handed over by a replay that died before it took it away.
    const first = await manager.streams.getMessage(TRACKING_DEAD_STREAM, { seq: 1 });
    await publisher.publish(Buffer.from(first!.data).toString());
    let killed = 0;
    for (let left = await letters(); left > 1; left = await letters()) {
      const command = spawn(
        process.execPath,
        ['--import', 'tsx', 'tools/perkway/src/dead-letters.ts', 'replay', 'all'],
        { cwd: ROOT, env: { ...process.env, NATS_URL: nats.url }, stdio: ['ignore', 'pipe', 'ignore'] },
      );
      const ended = once(command, 'exit');
      let lines = 0;
      // In the middle of one, wherever that is.
      if (killed < 3)
        command.stdout.on('data', (text: Buffer) => {
          lines += text.toString().split('\n').length - 1;
          if (lines > 20) command.kill('SIGKILL');
        });
      else command.stdout.resume();
      const [, signal] = (await ended) as [number | null, string | null];
      if (signal === 'SIGKILL') killed += 1;
    }
    expect(killed).toBe(3);
    await untilStored(
      account,
      views.map(({ id }) => id),
    );
    // What is still wrong is there, once.
    await waitFor(async () => expect((await list()).map(({ bytes }) => bytes)).toEqual([9]), 'it', 20_000);
  });

  it('that do not exist are said', async () => {
    await launch();
    await waitFor(async () => void (await manager.streams.info(TRACKING_DEAD_STREAM)), 'the stream');
    expect(await perkway('dead-letters', '7')).toEqual({
      exitCode: 1,
      output: 'There is no dead letter 7.\n',
    });
    expect(await perkway('dead-letters', 'replay', 'x')).toMatchObject({ exitCode: 1 });
  });
});
