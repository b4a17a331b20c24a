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

const OLDEST = 'tracking_outbox_oldest_seconds';
const WAITING = 'tracking_outbox_events';
/** How long the relay waits for a statement. */
const STATEMENT_LIMIT_MS = 1_200;

const event = (): PerkClickEvent => ({
  v: TRACKING_EVENT_VERSION,
  id: newEventId(),
  account: 'acme',
  at: Date.now(),
  type: 'perk_click',
  collection: 'summer',
  perk: 'coffee',
});
/** Every event that arrived, duplicates included. */
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
  const metric = async (name: string, of = app): Promise<number> => {
    const { values } = (await of.get(Registry).getSingleMetric(name)!.get()) as {
      values: { value: number }[];
    };
    return values.reduce((sum, { value }) => sum + value, 0);
  };
  const breakerIs = (open: 0 | 1) =>
    waitFor(async () => (await metric('tracking_breaker_open')) === open, `breaker ${open}`);
  /** Events whose write to the outbox was late are in memory, and perhaps in the outbox as well. */
  const nothingBuffered = () =>
    waitFor(async () => (await metric('tracking_buffered')) === 0, 'no event that is only in memory');
  const inOutbox = async () =>
    (await database.query<{ event: string }>('select event from tracking_outbox order by seq')).map(
      ({ event: text }) => JSON.parse(text) as PerkClickEvent,
    );

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

  it('stores an acknowledged event in the stream; concurrent events share a message', async () => {
    let sent: PerkClickEvent[] = [];
    let published = 0;
    // Again with other events if the acknowledgement was late, because late events go to the outbox, too.
    await waitFor(async () => {
      await breakerIs(0);
      const unacknowledged = async () =>
        (await metric('tracking_outboxed_total')) + (await metric('tracking_at_risk_total'));
      const [before, publishedBefore] = [await unacknowledged(), await metric('tracking_published_total')];
      sent = Array.from({ length: 50 }, event);
      await Promise.all(sent.map((one) => tracking.track(one)));
      published = (await metric('tracking_published_total')) - publishedBefore;
      return (await unacknowledged()) === before;
    }, 'an acknowledgement in time');
    const known = new Set(ids(sent));
    const messages = (await trackedMessages(nats.url)).filter((events) =>
      events.some(({ id }) => known.has(id)),
    );
    expect(messages).toEqual([sent]);
    expect(published).toBe(50);
  });

  it('splits large events over messages that the broker takes, and drops an event that is too large', async () => {
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
    expect(await metric('tracking_lost_total')).toBe(1);
    await breakerIs(0);
    await untilRelayed(database);
    await nothingBuffered();
    expect(new Set(ids(await readEvents(nats.url)))).toEqual(new Set(ids(sent)));
  });

  it('broker killed: writes events to the outbox, and relays them when it is back', async () => {
    const sent: PerkClickEvent[] = [];
    let tracked = 0;
    let isKilled = false;
    for (let after = 0; after < 100; after += isKilled ? 1 : 0) {
      const one = event();
      void tracking.track(one).then(() => (tracked += 1));
      if (sent.push(one) === 50) void nats.kill().then(() => (isKilled = true));
      await sleep(2);
    }
    await waitFor(async () => tracked === sent.length, 'all calls of track to resolve');
    await breakerIs(1);
    await nothingBuffered();
    const kept = await inOutbox();
    expect(kept.length).toBeGreaterThan(0);
    await database.query("update tracking_outbox set created_at = created_at - interval '10 minutes'");
    await waitFor(async () => (await metric(OLDEST)) > 600, 'the age of the oldest event');
    await waitFor(
      async () => expect(await metric(WAITING)).toBe((await inOutbox()).length),
      'the number of events',
    );
    await nats.server.start();
    await breakerIs(0);
    await untilRelayed(database);
    await waitFor(async () => (await metric(OLDEST)) === 0, 'an empty outbox');
    expect(await metric(WAITING)).toBe(0);
    const stored = await readEvents(nats.url);
    expect([...new Set(ids(stored))]).toEqual(ids(sent));
    expect(stored.find(({ id }) => id === sent[0]!.id)).toEqual(sent[0]);
    expect(await metric('tracking_relayed_total')).toBeGreaterThanOrEqual(kept.length);
  });

  it('knows the age of an event that another transaction holds', async () => {
    const other = new pg.Client(database.url);
    await other.connect();
    try {
      await other.query('set idle_in_transaction_session_timeout = 0');
      // Again with another event if the relay takes the first one before it is locked.
      await waitFor(async () => {
        const [row] = await database.query<{ seq: string }>(
          `insert into tracking_outbox (event, created_at) values ($1, now() - interval '10 minutes') returning seq`,
          [JSON.stringify(event())],
        );
        await other.query('begin');
        const { rowCount } = await other.query('select from tracking_outbox where seq = $1 for update', [
          row!.seq,
        ]);
        if (rowCount === 1) return true;
        await other.query('rollback');
        return false;
      }, 'a locked event');
      await waitFor(async () => (await metric(OLDEST)) > 600, 'the age of the oldest event');
    } finally {
      await other.end();
    }
    await untilRelayed(database);
  });

  it('broker paused: only the first event waits for the timeout; all arrive', async () => {
    await nats.pause();
    try {
      const first = event();
      await tracking.track(first);
      expect(await metric('tracking_breaker_open')).toBe(1);
      const next = event();
      await tracking.track(next);
      await nothingBuffered();
      expect(new Set(ids(await inOutbox()))).toEqual(new Set(ids([first, next])));
      await sleep(500);
      nats.resume();
      await breakerIs(0);
      await untilRelayed(database);
      expect([...new Set(ids(await readEvents(nats.url)))]).toEqual(ids([first, next]));
    } finally {
      nats.resume();
    }
  });

  it('treats a missing stream as down, without waiting for a timeout', async () => {
    await deleteTrackingStream(nats.url);
    const one = event();
    await tracking.track(one);
    expect(await metric('tracking_outboxed_total')).toBe(1);
    await createTrackingStream(nats.url);
    await breakerIs(0);
    await untilRelayed(database);
    expect(ids(await readEvents(nats.url))).toEqual([one.id]);
  });

  it('does not need Postgres while the stream is up', async () => {
    await database.server.kill();
    try {
      const sent = Array.from({ length: 20 }, event);
      await Promise.all(sent.map((one) => tracking.track(one)));
      expect(ids(await readEvents(nats.url))).toEqual(ids(sent));
    } finally {
      await database.server.start();
    }
  });

  it('publishes the latest committed events if Postgres fails over to a standby that lacks them', async () => {
    // Only this process knows the events, as if they had been committed to a database that is gone.
    const forgotten = Array.from({ length: 50 }, event);
    // The outbox has been used, as it would be where rows are committed.
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

  it('publishes events of the outbox again if the next Postgres does not have them', async () => {
    await deleteTrackingStream(nats.url);
    const sent = Array.from({ length: 20 }, event);
    await Promise.all(sent.map((one) => tracking.track(one)));
    await waitFor(async () => (await metric('tracking_outboxed_total')) === 20, 'all in the outbox');
    // Simulates a standby that was behind.
    await database.query('truncate tracking_outbox');
    await database.server.kill();
    try {
      await waitFor(async () => (await metric('tracking_buffered')) === 20, 'what is known still');
      await createTrackingStream(nats.url);
      await waitFor(async () => expect(ids(await readEvents(nats.url))).toEqual(ids(sent)), 'the events');
    } finally {
      await database.server.start();
    }
  });

  it('does not publish twice if Postgres is late once', async () => {
    const blocker = new pg.Client({ connectionString: database.urls.admin });
    await blocker.connect();
    try {
      // Again with other events if the lock was held for so long that a second statement could be late.
      for (let isLateOnce = false; !isLateOnce;) {
        const sent = Array.from({ length: 5 }, event);
        const texts = sent.map((one) => JSON.stringify(one));
        warnings.length = 0;
        const lockedAt = performance.now();
        await blocker.query('begin; lock table links.tracking_outbox in access exclusive mode');
        await blocker.query('insert into links.tracking_outbox (event) select unnest($1::text[])', [texts]);
        tracking.relaySoon(texts);
        await waitFor(
          () => warnings.some((line) => line.includes('cannot read the tracking outbox')),
          'the failure',
        );
        await blocker.query('commit');
        isLateOnce = performance.now() - lockedAt < 2 * STATEMENT_LIMIT_MS;
        await untilRelayed(database);
        if (!isLateOnce) continue;
        const known = new Set(ids(sent));
        const stored = (await readEvents(nats.url)).filter(({ id }) => known.has(id));
        expect(ids(stored)).toEqual(ids(sent));
      }
    } finally {
      await blocker.end();
    }
  });

  it('both hanging: responds soon, counts events as at risk, and stores them when one is back', async () => {
    const blocker = new pg.Client({ connectionString: database.urls.admin });
    await blocker.connect();
    await blocker.query('begin; lock table links.tracking_outbox in access exclusive mode');
    await nats.pause();
    try {
      const sent = Array.from({ length: 5 }, event);
      // Resolved although both still hang.
      await Promise.all(sent.map((one) => tracking.track(one)));
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

  it('drops the oldest events when the buffer is full, and counts them', async () => {
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

  it('stores pending events when it stops', async () => {
    const sent = Array.from({ length: 30 }, event);
    for (const one of sent) void tracking.track(one);
    await app.close();
    // Late ones are also in the outbox, or only there.
    const stored = [...(await readEvents(nats.url)), ...(await inOutbox())];
    expect(new Set(ids(stored))).toEqual(new Set(ids(sent)));
    await database.query('truncate tracking_outbox');
    await start();
    await nats.pause();
    try {
      const next = Array.from({ length: 30 }, event);
      for (const one of next) void tracking.track(one);
      await app.close();
      expect(new Set(ids(await inOutbox()))).toEqual(new Set(ids(next)));
    } finally {
      nats.resume();
    }
  });

  it('stores events of a transaction only if it commits', async () => {
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
    await untilRelayed(database);
    expect(new Set(ids(await readEvents(nats.url)))).toEqual(new Set(ids(kept)));
  });

  describe('an erasure', () => {
    const person = { account: 'acme', id: '', round: 1, standIn: 'erased-x', secret: 'ab' } as const;
    const ann = 'Ann "\\é\u2028🎁';
    const ofAnn = () => ({ ...event(), journey: ann, utm: { utm_term: ann }, cmeta: { name: ann } });
    const notOfAnn = (): PerkClickEvent[] => [
      { ...event(), journey: `${ann}.` },
      { ...event(), account: 'other', journey: ann },
      // Has the name in an attribute, but belongs to another journey.
      { ...event(), journey: 'ben', cmeta: { friend: ann } },
      event(),
    ];
    afterEach(() => createTrackingStream(nats.url));
    /** Deletes the stream, so that rows stay in the outbox, and empties the outbox. */
    const withoutStream = async () => {
      await deleteTrackingStream(nats.url);
      await tracking.track(event());
      await breakerIs(1);
      await nothingBuffered();
      await database.query('truncate tracking_outbox');
    };
    /** Writes to the outbox in a transaction, because a write that `track` gives up may add rows later. */
    const keep = (...events: PerkClickEvent[]) =>
      app.get(DataSource).transaction((manager) => tracking.trackInTransaction(manager, events));

    it('erases a journey from rows in the outbox, and does not change others', async () => {
      await withoutStream();
      const [mine, others] = [[ofAnn(), ofAnn()], notOfAnn()];
      await keep(...mine, ...others);
      await tracking.erase({ ...person, kind: 'journey_id', value: ann });
      const { utm: _utm, cmeta: _cmeta, ...left } = mine[0]!;
      expect(await inOutbox()).toEqual([
        ...mine.map(({ id, at }) => ({ ...left, id, at, journey: 'erased-x' })),
        ...others,
      ]);
    });

    it('erases a customer by attribute, even in rows that Postgres wrote', async () => {
      await withoutStream();
      const mine = { ...event(), journey: 'j', cmeta: { 'Customer-Id': ann } };
      await keep(mine);
      // Database functions write JSON with spaces.
      await database.query(
        `insert into tracking_outbox (event) select jsonb_build_object('account', 'acme', 'reference', $1::text, 'id', 'r')`,
        [ann],
      );
      await tracking.erase({ ...person, kind: 'customer_id', value: ann });
      const { cmeta: _cmeta, ...left } = mine;
      expect(await inOutbox()).toEqual([left, { account: 'acme', id: 'r' }]);
    });

    it('scans more rows than fit one statement, and skips rows that are being relayed', async () => {
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
      // The row being relayed is erased when it arrives, or by the second round.
      expect(journeys).toEqual(['erased-x', 'erased-x', ann]);
    });
  });

  it('two replicas share the relaying', async () => {
    await deleteTrackingStream(nats.url);
    const sent = Array.from({ length: 3_000 }, event);
    await Promise.all(sent.map((one) => tracking.track(one)));
    const first = app;
    await start();
    try {
      await createTrackingStream(nats.url);
      await untilRelayed(database);
      // On a busy machine, the latest events are published from memory as well.
      expect(new Set(ids(await readEvents(nats.url)))).toEqual(new Set(ids(sent)));
      const relayed = await Promise.all([first, app].map((of) => metric('tracking_relayed_total', of)));
      expect(relayed[0]! + relayed[1]!).toBeLessThanOrEqual(sent.length);
    } finally {
      await first.close();
    }
  });
});
