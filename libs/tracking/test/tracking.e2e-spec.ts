import { setTimeout as sleep } from 'node:timers/promises';
import { Module, type DynamicModule } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { TRACKING_EVENT_VERSION, type PerkClickEvent, type PerkViewEvent } from '@perkway/domain';
import {
  createApp,
  createLogger,
  DatabaseModule,
  databaseEnv,
  loadEnv,
  platformEnv,
  runMigrations,
} from '@perkway/platform';
import {
  createTrackingStream,
  deleteTrackingStream,
  testDatabaseServer,
  testEnvironment,
  testNats,
  trackedMessages,
  untilRelayed,
  waitFor,
  type TestDatabase,
  type TestNats,
} from '@perkway/testing';
import pg from 'pg';
import { Registry } from 'prom-client';
import { DataSource } from 'typeorm';
import {
  CreateTrackingOutbox1767225600000,
  newEventId,
  TRACKING_BUFFER,
  TrackingModule,
  TrackingService,
  type TrackingBuffer,
} from '../src/index.js';

@Module({})
class TestApp {}

const event = (): PerkClickEvent => ({
  v: TRACKING_EVENT_VERSION,
  id: newEventId(),
  account: 'acme',
  at: Date.now(),
  type: 'perk_click',
  collection: 'summer',
  perk: 'coffee',
});
/** Everything that arrived, as often as it did. */
const readEvents = async (url: string) => (await trackedMessages(url)).flat();
const ids = (events: { id: string }[]) => events.map(({ id }) => id).sort();

describe('TrackingService', () => {
  let nats: TestNats;
  let database: TestDatabase & { server: TestNats['server'] };
  let app: NestFastifyApplication;
  let tracking: TrackingService;
  /** Warnings of the app. */
  let warnings: string[];

  const start = async (buffer?: TrackingBuffer) => {
    const env = loadEnv({ ...platformEnv, ...databaseEnv }, testEnvironment('links', { database, nats }));
    const module: DynamicModule = {
      module: TestApp,
      global: true,
      imports: [DatabaseModule, TrackingModule],
      providers: [{ provide: TRACKING_BUFFER, useValue: buffer }],
      exports: [TRACKING_BUFFER],
    };
    warnings = [];
    const logger = createLogger('links', 'warn', { write: (line) => void warnings.push(line) });
    app = await createApp({ name: 'links', env, module, logger });
    tracking = app.get(TrackingService);
  };
  const metric = async (name: string): Promise<number> => {
    const { values } = (await app.get(Registry).getSingleMetric(name)!.get()) as {
      values: { value: number }[];
    };
    return values.reduce((sum, { value }) => sum + value, 0);
  };
  const breakerIs = (open: 0 | 1) =>
    waitFor(async () => (await metric('tracking_breaker_open')) === open, `breaker ${open}`);
  const timed = async (work: Promise<unknown>) => {
    const from = performance.now();
    await work;
    return performance.now() - from;
  };

  beforeAll(async () => {
    [nats, database] = await Promise.all([
      testNats(),
      testDatabaseServer('links', (url) => runMigrations(url, 'links', [CreateTrackingOutbox1767225600000])),
    ]);
  });
  afterAll(async () => {
    await Promise.all([nats?.close(), database?.close()]);
  });
  beforeEach(async () => {
    await createTrackingStream(nats.url);
    await start();
    await breakerIs(0);
  });
  afterEach(async () => {
    await app.close();
    await deleteTrackingStream(nats.url);
    await database.query('truncate tracking_outbox');
  });

  test('an answered event is in the stream; events of one moment share a message', async () => {
    const sent = Array.from({ length: 50 }, event);
    await Promise.all(sent.map((one) => tracking.track(one)));
    const messages = (await trackedMessages(nats.url)).filter(({ length }) => length > 0);
    expect(messages).toHaveLength(1);
    expect(messages[0]).toEqual(sent);
    expect(await metric('tracking_published_total')).toBe(50);
    expect(await metric('tracking_outboxed_total')).toBe(0);
  });

  test('large events are spread over messages that the broker takes; one that none takes is dropped', async () => {
    const large = (): PerkViewEvent => ({
      v: TRACKING_EVENT_VERSION,
      id: newEventId(),
      account: 'acme',
      at: Date.now(),
      type: 'perk_view',
      collection: 'summer',
      perks: Array.from({ length: 1_500 }, (_, i) => `perk-${i}-${'ü'.repeat(40)}`),
    });
    const sent = Array.from({ length: 30 }, large);
    const tooLarge = { ...large(), perks: ['x'.repeat(950_000)] };
    await Promise.all([...sent, tooLarge].map((one) => tracking.track(one)));
    expect(ids(await readEvents(nats.url))).toEqual(ids(sent));
    expect(await metric('tracking_lost_total')).toBe(1);
    expect(await metric('tracking_breaker_open')).toBe(0);
  });

  test('broker killed: the outbox takes the events, and they follow when it is back', async () => {
    const sent = Array.from({ length: 200 }, event);
    const waits: number[] = [];
    const kill = sleep(100).then(() => nats.kill());
    for (const one of sent) {
      void timed(tracking.track(one)).then((ms) => waits.push(ms));
      await sleep(2);
    }
    await kill;
    await waitFor(async () => waits.length === sent.length, 'all answered');
    expect(Math.max(...waits)).toBeLessThan(600);
    await breakerIs(1);
    const kept = await database.query<{ event: string }>('select event from tracking_outbox');
    expect(kept.length).toBeGreaterThan(0);
    await nats.server.start();
    await breakerIs(0);
    await untilRelayed(database);
    const stored = await readEvents(nats.url);
    expect([...new Set(ids(stored))]).toEqual(ids(sent));
    expect(stored.find(({ id }) => id === sent[0]!.id)).toEqual(sent[0]);
    expect(await metric('tracking_relayed_total')).toBe(kept.length);
    expect(await metric('tracking_at_risk_total')).toBe(0);
  });

  test('broker paused: the first waits for the timeout, the next do not; all arrive', async () => {
    await nats.pause();
    try {
      const first = event();
      expect(await timed(tracking.track(first))).toBeGreaterThan(70);
      const next = event();
      expect(await timed(tracking.track(next))).toBeLessThan(60);
      expect(
        ids(
          (await database.query<{ event: string }>('select event from tracking_outbox')).map((row) =>
            JSON.parse(row.event),
          ),
        ),
      ).toEqual(ids([first, next]));
      await sleep(500);
      nats.resume();
      await breakerIs(0);
      await untilRelayed(database);
      expect([...new Set(ids(await readEvents(nats.url)))]).toEqual(ids([first, next]));
    } finally {
      nats.resume();
    }
  });

  test('no stream counts as away, at once', async () => {
    await deleteTrackingStream(nats.url);
    const one = event();
    expect(await timed(tracking.track(one))).toBeLessThan(75);
    expect(await metric('tracking_outboxed_total')).toBe(1);
    await createTrackingStream(nats.url);
    await breakerIs(0);
    await untilRelayed(database);
    expect(ids(await readEvents(nats.url))).toEqual([one.id]);
  });

  test('Postgres away does not matter while the stream is there', async () => {
    await database.server.kill();
    try {
      const sent = Array.from({ length: 20 }, event);
      await Promise.all(sent.map((one) => tracking.track(one)));
      expect(ids(await readEvents(nats.url))).toEqual(ids(sent));
    } finally {
      await database.server.start();
    }
  });

  test('Postgres dies, and the next one never heard of the last rows: their events arrive', async () => {
    // What was committed there and nowhere else is as if it had never been written, but for this process.
    const forgotten = Array.from({ length: 50 }, event);
    // The outbox has been used, as it is where rows are committed.
    await untilRelayed(database);
    tracking.relaySoon(forgotten.map((one) => JSON.stringify(one)));
    await database.server.kill();
    try {
      await waitFor(
        async () => expect(ids(await readEvents(nats.url))).toEqual(ids(forgotten)),
        'the events',
      );
    } finally {
      await database.server.start();
    }
  });

  test('Postgres late once is not lost: no event is told twice', async () => {
    const sent = Array.from({ length: 5 }, event);
    const texts = sent.map((one) => JSON.stringify(one));
    const blocker = new pg.Client({ connectionString: database.urls.admin });
    await blocker.connect();
    try {
      await blocker.query('begin; lock table links.tracking_outbox in access exclusive mode');
      await blocker.query('insert into links.tracking_outbox (event) select unnest($1::text[])', [texts]);
      tracking.relaySoon(texts);
      await waitFor(
        () => warnings.some((line) => line.includes('cannot read the tracking outbox')),
        'the failure',
      );
      await blocker.query('commit');
      await untilRelayed(database);
      expect(ids(await readEvents(nats.url))).toEqual(ids(sent));
    } finally {
      await blocker.end();
    }
  });

  test('both hanging: answered soon, counted as at risk, stored when one of them is back', async () => {
    const blocker = new pg.Client({ connectionString: database.urls.admin });
    await blocker.connect();
    await blocker.query('begin; lock table links.tracking_outbox in access exclusive mode');
    await nats.pause();
    try {
      const sent = Array.from({ length: 5 }, event);
      expect(await timed(tracking.track(sent[0]!))).toBeLessThan(600);
      expect(await timed(Promise.all(sent.slice(1).map((one) => tracking.track(one))))).toBeLessThan(50);
      expect({
        published: await metric('tracking_published_total'),
        outboxed: await metric('tracking_outboxed_total'),
        atRisk: await metric('tracking_at_risk_total'),
      }).toEqual({ published: 0, outboxed: 0, atRisk: 5 });
      await blocker.query('rollback');
      await waitFor(async () => (await metric('tracking_buffered')) === 0, 'buffer drained into the outbox');
      nats.resume();
      await breakerIs(0);
      await untilRelayed(database);
      expect([...new Set(ids(await readEvents(nats.url)))]).toEqual(ids(sent));
    } finally {
      nats.resume();
      await blocker.end();
    }
  });

  test('a full buffer drops the oldest and says so', async () => {
    await app.close();
    await start({ maxEvents: 3, maxCharacters: 1_000_000 });
    await breakerIs(0);
    await database.server.kill();
    await nats.kill();
    try {
      await breakerIs(1);
      const sent = Array.from({ length: 10 }, event);
      for (const one of sent) await tracking.track(one);
      expect(await metric('tracking_at_risk_total')).toBe(10);
      await waitFor(async () => (await metric('tracking_lost_total')) === 7, 'seven lost');
      await nats.server.start();
      await breakerIs(0);
      await waitFor(async () => (await metric('tracking_buffered')) === 0, 'buffer drained into the stream');
      await waitFor(async () => (await readEvents(nats.url)).length === 3, 'the youngest stored');
      expect(ids(await readEvents(nats.url))).toEqual(ids(sent.slice(-3)));
    } finally {
      await Promise.all([nats.server.start(), database.server.start()]);
    }
  });

  test('stopping stores what is pending', async () => {
    const sent = Array.from({ length: 30 }, event);
    for (const one of sent) void tracking.track(one);
    await app.close();
    expect(ids(await readEvents(nats.url))).toEqual(ids(sent));
    await start();
    await nats.pause();
    try {
      const next = Array.from({ length: 30 }, event);
      for (const one of next) void tracking.track(one);
      await app.close();
      const rows = await database.query<{ event: string }>('select event from tracking_outbox');
      expect(ids(rows.map((row) => JSON.parse(row.event)))).toEqual(ids(next));
    } finally {
      nats.resume();
    }
  });

  test('events of a transaction exist if and only if it commits', async () => {
    const kept = [event(), event()];
    const undone = [event(), event()];
    const dataSource = app.get(DataSource);
    await dataSource.transaction((manager) => tracking.trackInTransaction(manager, kept));
    await expect(
      dataSource.transaction(async (manager) => {
        await tracking.trackInTransaction(manager, undone);
        throw new Error('undone');
      }),
    ).rejects.toThrow('undone');
    await waitFor(async () => (await readEvents(nats.url)).length >= 2, 'relayed', 1_500);
    expect(ids(await readEvents(nats.url))).toEqual(ids(kept));
    await untilRelayed(database);
  });

  describe('an erasure', () => {
    const person = { account: 'acme', id: '', round: 1, standIn: 'erased-x', secret: 'ab' } as const;
    const inOutbox = async () =>
      (await database.query<{ event: string }>('select event from tracking_outbox order by seq')).map(
        ({ event: text }) => JSON.parse(text) as PerkClickEvent,
      );
    const ann = 'Ann "\\é\u2028🎁';
    const ofAnn = () => ({ ...event(), journey: ann, utm: { utm_term: ann }, cmeta: { name: ann } });
    const notOfAnn = (): PerkClickEvent[] => [
      { ...event(), journey: `${ann}.` },
      { ...event(), account: 'other', journey: ann },
      // Named by somebody else's attribute, and nobody's journey.
      { ...event(), journey: 'ben', cmeta: { friend: ann } },
      event(),
    ];
    afterEach(() => createTrackingStream(nats.url));
    /** So that the rows stay where they are. */
    const withoutStream = async () => {
      await deleteTrackingStream(nats.url);
      await tracking.track(event());
      await breakerIs(1);
      await database.query('truncate tracking_outbox');
    };

    test('takes a journey out of the rows that wait, and leaves all others as they are', async () => {
      await withoutStream();
      const [mine, others] = [[ofAnn(), ofAnn()], notOfAnn()];
      for (const each of [...mine, ...others]) await tracking.track(each);
      await tracking.erase({ ...person, kind: 'journey_id', value: ann });
      const { utm: _utm, cmeta: _cmeta, ...left } = mine[0]!;
      expect(await inOutbox()).toEqual([
        ...mine.map(({ id, at }) => ({ ...left, id, at, journey: 'erased-x' })),
        ...others,
      ]);
    });

    test('takes a customer out, by attribute, in rows that Postgres wrote too', async () => {
      await withoutStream();
      const mine = { ...event(), journey: 'j', cmeta: { 'Customer-Id': ann } };
      await tracking.track(mine);
      // As functions of the database write them, with spaces.
      await database.query(
        `insert into tracking_outbox (event) select jsonb_build_object('account', 'acme', 'reference', $1::text, 'id', 'r')`,
        [ann],
      );
      await tracking.erase({ ...person, kind: 'customer_id', value: ann });
      const { cmeta: _cmeta, ...left } = mine;
      expect(await inOutbox()).toEqual([left, { account: 'acme', id: 'r' }]);
    });

    test('goes through more rows than it looks at at once, and round those that are just being relayed', async () => {
      await withoutStream();
      await database.query(
        `insert into tracking_outbox (event)
         select case when n % 15000 = 0 then $1 else $2 end from generate_series(1, 45000) n`,
        [JSON.stringify(ofAnn()), JSON.stringify(event())],
      );
      const relaying = new pg.Client(database.urls.admin);
      await relaying.connect();
      try {
        await relaying.query('begin');
        await relaying.query(
          'select from links.tracking_outbox where seq = (select max(seq) from links.tracking_outbox) for update',
        );
        await tracking.erase({ ...person, kind: 'journey_id', value: ann });
        await relaying.query('rollback');
      } finally {
        await relaying.end();
      }
      const journeys = (await inOutbox()).flatMap(({ journey }) => journey ?? []);
      // The one that was being relayed is caught where it arrives, or by the second round.
      expect(journeys).toEqual(['erased-x', 'erased-x', ann]);
    });
  });

  test('two replicas share the work of relaying', async () => {
    await deleteTrackingStream(nats.url);
    const sent = Array.from({ length: 3_000 }, event);
    await Promise.all(sent.map((one) => tracking.track(one)));
    const first = app;
    await start();
    try {
      await createTrackingStream(nats.url);
      await untilRelayed(database);
      const stored = ids(await readEvents(nats.url));
      expect(stored).toEqual(ids(sent));
    } finally {
      await first.close();
    }
  });
});
