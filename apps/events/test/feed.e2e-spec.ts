import {
  ERASE,
  FEED_CONSUMER,
  subjectOf,
  TRACKING_DEAD_STREAM,
  TRACKING_DEAD_SUBJECT,
  TRACKING_DEAD_SUBJECTS,
  TRACKING_SOURCE_HEADER,
  TRACKING_STREAM,
  type ErasureKind,
  type TrackingEvent,
} from '@perkway/domain';
import {
  rpcCaller,
  connectTo,
  createTrackingStream,
  http,
  waitFor,
  type LaunchedApp,
  type TestKey,
} from '@perkway/testing';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { createLogger, Loops } from '@perkway/platform';
import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { FeedRetention } from '../src/feed/feed-retention.service.js';
import type { EventsEnv } from '../src/env.js';
import { anEvent } from './stored-events.js';
import { WebhooksWorld } from './webhooks-world.js';

/** 200,000 take some minutes: FEED_READER_EVENTS=200000 npx jest apps/events/test/feed -t 'never skips' */
const FEED_READER_EVENTS = Number(process.env['FEED_READER_EVENTS'] ?? 2_000);
const FEED_READER_LIMIT_MS = 110_000 + FEED_READER_EVENTS * 3;

const world = new WebhooksWorld();
let connection: NatsConnection;
beforeAll(async () => {
  await world.start();
  connection = await connectTo(world.nats.url);
  await createTrackingStream(world.nats.url);
});
afterAll(async () => {
  await connection?.close();
  await world.stop();
});

const publish = async (...events: TrackingEvent[]) => {
  for (const event of events)
    await jetstream(connection).publish(subjectOf(event.type), JSON.stringify({ events: [event] }));
};
const click = (account: string, given: object = {}): TrackingEvent => ({
  v: 1,
  id: randomUUID(),
  account,
  at: Date.now(),
  type: 'perk_click',
  collection: 'autumn',
  perk: 'coffee',
  ...given,
});
const conversion = (account: string, given: object = {}): TrackingEvent =>
  ({
    v: 1,
    id: randomUUID(),
    account,
    at: Date.now(),
    type: 'conversion',
    campaign: 'spring',
    journey: 'j-1',
    ...given,
  }) as TrackingEvent;

interface Page {
  data: { id: string; type: string; subject: string; data: Record<string, unknown>; erased?: true }[];
  next_cursor: string;
  has_more: boolean;
}
const list = async (key: TestKey, query = '', app: LaunchedApp = world.events): Promise<Page> =>
  (await http(app, key).get(`/events?${query}`).expect(200)).body as Page;
const stored = (key: TestKey, count: number, deadlineMs?: number) =>
  waitFor(
    async () => expect((await list(key, 'limit=1000')).data).toHaveLength(count),
    `${count} events`,
    deadlineMs,
  );

async function erase(account: string, kind: ErasureKind, value: string) {
  const caller = await rpcCaller(world.nats.url);
  const erasure = {
    id: randomUUID(),
    round: 1,
    account,
    kind,
    value,
    standIn: 'erased-aaaaaaaaaaaaaaaaaaaaaa',
    secret: '00',
  };
  try {
    await waitFor(
      async () => expect(await caller.rpc.request(ERASE.events, erasure)).toEqual({ isDone: true }),
      'done',
    );
  } finally {
    await caller.close();
  }
}

describe('GET /events', () => {
  it('returns what is published, once, with the id that analytics stores', async () => {
    const key = world.key();
    const one = click(key.account, {
      journey: 'j-1',
      traffic: { class: 'human', reason: 'none' },
      utm: { utm_source: 'mail' },
      cmeta: { plan: 'gold' },
    });
    await publish(one, one, click(key.account));
    await stored(key, 2);
    const { data, has_more: hasMore } = await list(key);
    expect(hasMore).toBe(false);
    const event = data.find(({ id }) => id === one.id)!;
    expect(event).toEqual({
      id: one.id,
      type: 'perk.clicked',
      occurred_at: new Date(one.at).toISOString(),
      subject: 'perk/coffee',
      data: {
        perk_id: 'coffee',
        collection_id: 'autumn',
        journey_id: 'j-1',
        traffic_class: 'human',
        utm: { utm_source: 'mail' },
        cmeta: { plan: 'gold' },
      },
    });
    expect((await http(world.events, key).get(`/events/${one.id}`).expect(200)).body).toEqual(event);
  });

  it('returns special characters as they were published, and new events beside repeated ones', async () => {
    const key = world.key();
    const special = 'a\\b\\n\tc\nd\re"f\\.';
    const one = conversion(key.account, { journey: special, cmeta: { plan: special } });
    await publish(one);
    await stored(key, 1);
    expect((await list(key)).data[0]).toMatchObject({
      subject: `journey/${special}`,
      data: { journey_id: special, cmeta: { plan: special } },
    });
    const [two, three] = [conversion(key.account), conversion(key.account)];
    await jetstream(connection).publish(
      subjectOf('conversion'),
      JSON.stringify({ events: [two, one, three, two] }),
    );
    await stored(key, 3);
    expect((await list(key)).data.map(({ id }) => id)).toEqual([one, two, three].map(({ id }) => id));
  });

  it('has the members of RewardLink at that time for a link, and leaves perk views out', async () => {
    const key = world.key();
    const [link, pool] = [randomUUID(), randomUUID()];
    const createdAt = Date.UTC(2026, 10, 1, 9, 30);
    const linkEvent = (state: string, given: object = {}) =>
      ({
        v: 1,
        id: `${link}:${state}`,
        account: key.account,
        at: createdAt + 5_000,
        type: 'reward_link',
        state,
        pool,
        denomination: 25,
        currency: 'EUR',
        country: 'FR',
        createdBy: 'crm',
        createdAt,
        expiresAt: 1_924_992_000,
        reference: 'order-7',
        ...given,
      }) as TrackingEvent;
    const former = linkEvent('generated', {
      id: `former:generated`,
      country: undefined,
      createdAt: undefined,
    });
    await publish(
      { ...click(key.account), type: 'perk_view', perks: ['coffee'] } as never,
      linkEvent('generated', { at: createdAt }),
      linkEvent('revealed'),
      linkEvent('cancelled'),
      linkEvent('expired'),
      former,
    );
    await stored(key, 5);
    const { data } = await list(key);
    const common = {
      id: link,
      pool_id: pool,
      denomination: 25,
      currency: 'EUR',
      country: 'FR',
      created_by: 'crm',
      created_at: '2026-11-01T09:30:00.000Z',
      expires_at: 1_924_992_000,
      reference: 'order-7',
      ...{
        revealed_at: null,
        cancelled_at: null,
        campaign_id: null,
        journey_id: null,
        replaces: null,
        replaced_by: null,
      },
    };
    const at = '2026-11-01T09:30:05.000Z';
    expect(data.slice(0, 4)).toEqual(
      [
        ['generated', { state: 'RESERVED' }],
        ['revealed', { state: 'REVEALED', revealed_at: at }],
        ['cancelled', { state: 'EXPIRED', cancelled_at: at }],
        ['expired', { state: 'EXPIRED' }],
      ].map(([state, changed]) => ({
        id: `${link}:${state as string}`,
        type: `reward_link.${state as string}`,
        occurred_at: state === 'generated' ? common.created_at : at,
        subject: `reward_link/${link}`,
        data: { ...common, ...(changed as object) },
      })),
    );
    // An event of an earlier release does not have all members.
    expect(Object.keys(data[4]!.data)).not.toContain('country');
  });

  it(
    'never skips or repeats an event for a reader, with four publishers, a late relay and two replicas',
    async () => {
      const key = world.key();
      const replica = await world.launch();
      try {
        const total = FEED_READER_EVENTS;
        const messages = 2_000;
        const publishAll = async (all: TrackingEvent[][]) => {
          for (const events of all)
            await jetstream(connection).publish(subjectOf('perk_click'), JSON.stringify({ events }));
        };
        const made = Array.from({ length: messages }, () =>
          Array.from({ length: total / messages }, () => click(key.account)),
        );
        const ofPublisher = (nth: number) => made.filter((_, index) => index % 4 === nth && index % 10 !== 0);
        // The relay sends every tenth message after all others, and repeats some of theirs.
        const publishing = Promise.all([0, 1, 2, 3].map((nth) => publishAll(ofPublisher(nth)))).then(() =>
          publishAll(made.filter((_, index) => index % 10 < 2)),
        );
        const seen: string[] = [];
        let cursor = '';
        await waitFor(
          async () => {
            const page = await list(
              key,
              `limit=97&wait=1${cursor && `&cursor=${cursor}`}`,
              seen.length % 2 ? replica : world.events,
            );
            cursor = page.next_cursor;
            seen.push(...page.data.map(({ id }) => id));
            expect(seen).toHaveLength(total);
          },
          'all events',
          FEED_READER_LIMIT_MS,
        );
        await publishing;
        expect(new Set(seen)).toEqual(new Set(made.flat().map(({ id }) => id)));
        const [feed] = await world.database.query<{ count: string; last: string }>(
          'select count(*), max(position) as last from events where account_id = $1',
          [key.account],
        );
        expect(feed).toEqual({ count: String(total), last: String(total) });
      } finally {
        await replica.close();
      }
    },
    2 * FEED_READER_LIMIT_MS,
  );

  it('counts a conversion with an external id once per namespace', async () => {
    const key = world.key();
    const traffic = { class: 'human', reason: 'none' };
    await publish(
      conversion(key.account, { externalId: 'order-1' }),
      conversion(key.account, { externalId: 'order-1' }),
      conversion(key.account, { externalId: 'order-1', traffic }),
      conversion(key.account, { externalId: 'order-2' }),
    );
    await stored(key, 3);
  });

  it('counts a conversion with an external id once, even after its event was deleted', async () => {
    const key = world.key();
    await publish(conversion(key.account, { externalId: 'order-1' }));
    await stored(key, 1);
    await world.database.query('delete from events where account_id = $1', [key.account]);
    const last = click(key.account);
    await publish(conversion(key.account, { externalId: 'order-1' }), last);
    await stored(key, 1);
    expect((await list(key)).data[0]!.id).toBe(last.id);
  });

  it('ignores a type that the app of the subject does not own', async () => {
    const key = world.key();
    const forged = conversion(key.account);
    await jetstream(connection).publish('tracking.links', JSON.stringify({ events: [forged] }));
    await publish(click(key.account));
    await stored(key, 1);
    await http(world.events, key).get(`/events/${forged.id}`).expect(404);
  });

  it('ignores an event whose time does not exist', async () => {
    const key = world.key();
    const id = randomUUID();
    const limit = { limit: 'l', periodStart: 1e300, resetsAt: null };
    await publish({ ...{ v: 1, id, account: key.account, at: Date.now(), type: 'limit_reached' }, ...limit });
    await publish(click(key.account));
    await stored(key, 1);
    await http(world.events, key).get(`/events/${id}`).expect(404);
  });

  it('moves the cursor past other types, and waits for the wanted ones', async () => {
    const key = world.key();
    await publish(click(key.account));
    await stored(key, 1);
    const first = await list(key, 'types=conversion.recorded');
    expect(first).toMatchObject({ data: [], has_more: false });
    const waiting = list(key, `types=conversion.recorded&wait=20&cursor=${first.next_cursor}`);
    const wanted = conversion(key.account);
    await publish(click(key.account), wanted);
    expect((await waiting).data.map(({ id }) => id)).toEqual([wanted.id]);
    const now = new Date().toISOString();
    expect((await list(key, `from=${new Date(0).toISOString()}`)).data).toHaveLength(3);
    expect((await list(key, `from=${encodeURIComponent(now)}`)).data.length).toBeLessThan(3);
  });

  it('searches 10,000 events per request with `types`, as docs/limits.md says, and then continues', async () => {
    const key = world.key();
    const [last, beyond] = [conversion(key.account), conversion(key.account)];
    const clicks = Array.from({ length: 9_999 }, () => click(key.account));
    for (let start = 0; start < clicks.length; start += 500)
      await jetstream(connection).publish(
        subjectOf('perk_click'),
        JSON.stringify({ events: clicks.slice(start, start + 500) }),
      );
    await publish(last, beyond);
    await waitFor(
      async () => void (await http(world.events, key).get(`/events/${beyond.id}`).expect(200)),
      'the last event',
    );
    const first = await list(key, 'types=conversion.recorded&limit=1000');
    expect(first).toMatchObject({ data: [{ id: last.id }], has_more: true });
    const next = await list(key, `types=conversion.recorded&cursor=${first.next_cursor}`);
    expect(next).toMatchObject({ data: [{ id: beyond.id }], has_more: false });
  });

  it('serves other requests while more readers wait than there are connections to the database', async () => {
    const key = world.key();
    const first = click(key.account);
    await publish(first);
    await stored(key, 1);
    const { next_cursor: cursor } = await list(key);
    // The event wakes all readers at once, so on a busy machine some get 503 and retry, like any client.
    const read = async (): Promise<Page> => {
      const { status, body } = await http(world.events, key).get(`/events?wait=20&cursor=${cursor}`);
      if (status === 503) return read();
      expect(status).toBe(200);
      return body as Page;
    };
    const readers = Array.from({ length: 60 }, read);
    for (let request = 0; request < 20; request += 1)
      await http(world.events, key).get(`/events/${first.id}`).expect(200);
    const next = click(key.account);
    await publish(next);
    for (const { data } of await Promise.all(readers)) expect(data.map(({ id }) => id)).toEqual([next.id]);
  });

  it('returns 100 events by default, also to an ADMIN key of the account, and continues with other types', async () => {
    const key = world.key();
    const admin = world.key(key.account, 'ADMIN');
    const wanted = conversion(key.account);
    await publish(...Array.from({ length: 101 }, () => click(key.account)), wanted);
    await stored(key, 102);
    const first = await list(admin);
    expect(first.data).toHaveLength(100);
    expect(first.has_more).toBe(true);
    const next = await list(key, `types=conversion.recorded&cursor=${first.next_cursor}`);
    expect(next).toMatchObject({ data: [{ id: wanted.id }], has_more: false });
    expect(await list(key, `wait=1&cursor=${next.next_cursor}`)).toMatchObject({ data: [], has_more: false });
    const { body } = await http(world.events, world.key()).get(`/events/${wanted.id}`).expect(404);
    expect(body.code).toBe('EVENT_NOT_FOUND');
  });

  it('rejects bad input, foreign cursors and keys that may not read', async () => {
    const [key, other] = [world.key(), world.key()];
    const { next_cursor: cursor } = await list(key);
    for (const query of [
      'limit=0',
      'limit=1001',
      'limit=x',
      'wait=21',
      'wait=-1',
      'types=',
      'types=perk.viewed',
      'cursor=nonsense',
      ...['from=yesterday', 'from=0000-01-01T00:00:00Z', 'from=2026-02-30', 'from=9999-12-31T23:59:59-14:00'],
      `from=2026-01-01T00:00:00Z&cursor=${cursor}`,
    ]) {
      const { body } = await http(world.events, key).get(`/events?${query}`).expect(400);
      expect([query, body.code]).toEqual([query, 'VALIDATION_FAILED']);
    }
    await http(world.events, other).get(`/events?cursor=${cursor}`).expect(400);
    await http(world.events, world.key(undefined, 'JOURNEY')).get('/events').expect(403);
    await http(world.events).get('/events').expect(401);
    await http(world.events).get(`/events?api_key=${key.key}`).expect(401);
  });

  it('responds with 410 to a cursor that is older than what is kept', async () => {
    const key = world.key();
    const { next_cursor: cursor } = await list(key);
    await publish(click(key.account), click(key.account));
    await stored(key, 2);
    await world.database.query('delete from events where account_id = $1 and position = 1', [key.account]);
    const { body } = await http(world.events, key).get(`/events?cursor=${cursor}`).expect(410);
    expect(body.code).toBe('CURSOR_EXPIRED');
    expect((await list(key)).data).toHaveLength(1);
  });

  it('responds with 410 to a cursor that is ahead of a restored feed', async () => {
    const key = world.key();
    await publish(click(key.account), click(key.account));
    await stored(key, 2);
    const { next_cursor: cursor } = await list(key);
    await world.database.query('delete from events where account_id = $1 and position = 2', [key.account]);
    await world.database.query('update feeds set last_position = 1 where account_id = $1', [key.account]);
    const { body } = await http(world.events, key).get(`/events?cursor=${cursor}&wait=20`).expect(410);
    expect(body).toMatchObject({ code: 'CURSOR_EXPIRED', detail: expect.stringContaining('restored') });
    await world.database.query('delete from feeds where account_id = $1', [key.account]);
    await http(world.events, key).get(`/events?cursor=${cursor}`).expect(410);
  });

  it('returns nothing that is stored before a `from` in the future, even to readers that wait or return', async () => {
    const key = world.key();
    await publish(click(key.account));
    await stored(key, 1);
    const from = new Date(Date.now() + 86_400_000);
    const waiting = list(key, `from=${from.toISOString()}&wait=3`);
    await publish(click(key.account));
    await stored(key, 2);
    const page = await waiting;
    expect(page).toEqual({ data: [], next_cursor: expect.any(String), has_more: false });
    await publish(click(key.account));
    await stored(key, 3);
    const again = await list(key, `cursor=${page.next_cursor}`);
    expect(again).toEqual({ data: [], next_cursor: expect.any(String), has_more: false });
    // The future time of `from` has passed.
    const late = list(key, `cursor=${again.next_cursor}&wait=20`);
    await world.database.query('update feeds set stored_at = $2 where account_id = $1', [key.account, from]);
    const next = click(key.account);
    await publish(next);
    const { data, next_cursor: cursor } = await late;
    expect(data.map(({ id }) => id)).toEqual([next.id]);
    expect(await list(key, `cursor=${cursor}`)).toMatchObject({ data: [], has_more: false });
  });

  it('finds the first event that was stored at or after a time', async () => {
    const key = world.key();
    const ids = Array.from({ length: 9 }, () => anEvent());
    await world.store(key, ...ids);
    const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second));
    await world.database.query(
      `update events set stored_at = $2::timestamptz + (position / 2) * interval '2 seconds' where account_id = $1`,
      [key.account, at(0)],
    );
    await world.database.query('delete from events where account_id = $1 and position = 1', [key.account]);
    for (let second = 0; second < 10; second++) {
      const { data } = await list(key, `from=${at(second).toISOString()}`);
      const first = Math.max(2, 2 * Math.ceil(second / 2));
      expect(data.map(({ id }) => id)).toEqual(ids.slice(first - 1).map(({ id }) => id));
    }
  });

  it('keeps events of pending deliveries for ten days, whatever the retention time', async () => {
    const key = world.key();
    const receiver = await world.receiver((response) => void response.writeHead(500).end());
    await world.put(key, 'a', { url: receiver.url });
    await world.store(key, anEvent(), anEvent());
    await waitFor(() => receiver.ids().length >= 2, 'the attempts');
    const age = (days: number) =>
      world.database.query(
        `update events set stored_at = now() - $2 * interval '1 day' where account_id = $1`,
        [key.account, days],
      );
    const kept = async () => (await list(key)).data.length;
    const retention = new FeedRetention(
      world.events.app.get(DataSource),
      { EVENTS_RETENTION_DAYS: 1 } as EventsEnv,
      new Loops(createLogger('test', 'silent')),
    );
    await age(2);
    await retention.deleteExpired(Date.now());
    expect(await kept()).toBe(2);
    await world.database.query(
      `update deliveries set state = 'delivered'
       where position = 1 and webhook = (select key from webhooks where account_id = $1)`,
      [key.account],
    );
    await retention.deleteExpired(Date.now());
    expect(await kept()).toBe(1);
    await age(11);
    await retention.deleteExpired(Date.now());
    expect(await kept()).toBe(0);
  });

  it('deletes what is older than the retention time, from the first position on', async () => {
    const [key, other] = [world.key(), world.key()];
    const total = 5;
    await publish(...Array.from({ length: total }, () => click(key.account)), click(other.account));
    await Promise.all([stored(key, total), stored(other, 1)]);
    const { next_cursor: end } = await list(key);
    const { next_cursor: first } = await list(key, 'limit=1');
    await world.database.query(
      `update events set stored_at = now() - interval '31 days' where account_id = $1 and position <= 3`,
      [key.account],
    );
    await world.events.app.get(FeedRetention, { strict: false }).deleteExpired(Date.now());
    const positions = await world.database.query(
      'select position::int from events where account_id = any($1) order by account_id = $2 desc, position',
      [[key.account, other.account], key.account],
    );
    expect(positions.map(({ position }) => position)).toEqual([4, 5, 1]);
    await http(world.events, key).get(`/events?cursor=${first}`).expect(410);
    expect((await list(key, `cursor=${end}`)).data).toEqual([]);
    expect((await list(key)).data).toHaveLength(2);
  });

  it('dead-letters an event that the database refuses, and stores the others of its batch', async () => {
    const key = world.key();
    const manager = await jetstreamManager(connection);
    await manager.streams.add({ name: TRACKING_DEAD_STREAM, subjects: [TRACKING_DEAD_SUBJECTS] });
    const [before, refused, after] = [click(key.account), click(key.account), click(key.account)];
    await world.database.query(`alter table events add constraint refuse check (id <> '${refused.id}')`);
    try {
      await jetstream(connection).publish(
        subjectOf('perk_click'),
        JSON.stringify({ events: [before, refused, after] }),
      );
      await stored(key, 2);
      const next = click(key.account);
      await publish(next);
      await stored(key, 3);
      expect((await list(key)).data.map(({ id }) => id)).toEqual([before.id, after.id, next.id]);
    } finally {
      await world.database.query('alter table events drop constraint refuse');
    }
    const dead = await manager.streams.getMessage(TRACKING_DEAD_STREAM, {
      last_by_subj: TRACKING_DEAD_SUBJECT,
    });
    expect(dead!.json()).toEqual({ events: [refused] });
    expect(dead!.header.get('Perkway-Reason')).toContain('23514');
    expect(dead!.header.get(TRACKING_SOURCE_HEADER)).toBe(subjectOf('perk_click'));
  });

  it('stores an event later that the database could not store at once, and those fetched meanwhile', async () => {
    const key = world.key();
    const [event, next] = [click(key.account), click(key.account)];
    await world.database.query(
      `create function fail() returns trigger language plpgsql as $$
       begin perform pg_sleep(1); raise 'no space' using errcode = '53100'; end $$`,
    );
    await world.database.query(
      `create trigger fail before insert on events for each row when (new.id = '${event.id}') execute function fail()`,
    );
    const manager = await jetstreamManager(connection);
    try {
      await publish(event);
      await waitFor(async () => {
        const writing = await world.database.query(
          `select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`,
        );
        expect(writing).toHaveLength(1);
      }, 'the failing write');
      await publish(next);
      await waitFor(async () => {
        const { num_redelivered: redelivered } = await manager.consumers.info(TRACKING_STREAM, FEED_CONSUMER);
        expect(redelivered).toBeGreaterThan(0);
      }, 'the second delivery of its message');
    } finally {
      await world.database.query('drop function fail cascade');
    }
    // Less than the acknowledgement time, after which the broker would redeliver it anyway.
    await stored(key, 2, 20_000);
  });

  it('acknowledges messages without events of the feed at once, even while a write hangs', async () => {
    const key = world.key();
    const event = click(key.account);
    const views = Array.from({ length: 100 }, () => ({
      ...click(key.account),
      type: 'perk_view',
      perks: ['coffee'],
    }));
    const manager = await jetstreamManager(connection);
    await world.database.query(
      `create function hang() returns trigger language plpgsql as $$ begin perform pg_sleep(4); return new; end $$`,
    );
    await world.database.query(
      `create trigger hang before insert on events for each row when (new.id = '${event.id}') execute function hang()`,
    );
    try {
      await publish(event, ...(views as never[]));
      const { last_seq: last } = (await manager.streams.info(TRACKING_STREAM)).state;
      await waitFor(async () => {
        const { delivered, num_ack_pending: waiting } = await manager.consumers.info(
          TRACKING_STREAM,
          FEED_CONSUMER,
        );
        expect(delivered.stream_seq).toBe(last);
        expect(waiting).toBeLessThan(views.length);
      }, 'the acknowledgements');
      await http(world.events, key).get(`/events/${event.id}`).expect(404);
    } finally {
      await world.database.query('drop function hang cascade');
    }
    await stored(key, 1);
  });

  it('leaves an event of an unknown version to a newer release, and stores the others', async () => {
    const key = world.key();
    const [known, unknown] = [click(key.account), { ...click(key.account), v: 2 }];
    await jetstream(connection).publish(
      subjectOf('perk_click'),
      JSON.stringify({ events: [unknown, known] }),
    );
    await publish(click(key.account));
    await stored(key, 2);
    await http(world.events, key).get(`/events/${unknown.id}`).expect(404);
    const manager = await jetstreamManager(connection);
    const waiting = async () =>
      (await manager.consumers.info(TRACKING_STREAM, FEED_CONSUMER)).num_ack_pending;
    await waitFor(async () => (await waiting()) <= 1, 'the other acknowledgement');
    expect(await waiting()).toBe(1);
  });

  it('keeps an event without an erased customer', async () => {
    const key = world.key();
    const gone = click(key.account, { journey: 'j-7', cmeta: { customer_id: 'ada' } });
    const kept = click(key.account, { journey: 'j-8', cmeta: { plan: 'ada' } });
    await publish(gone, kept);
    await stored(key, 2);
    await erase(key.account, 'customer_id', 'ada');
    const { data } = await list(key);
    expect(data.find(({ id }) => id === gone.id)).toMatchObject({
      erased: true,
      data: { perk_id: 'coffee', collection_id: 'autumn' },
    });
    expect(data.find(({ id }) => id === kept.id)!.data.cmeta).toEqual({ plan: 'ada' });
    expect(data[0]!.data).not.toHaveProperty('cmeta');
    expect(data[0]!.data).not.toHaveProperty('journey_id');
  });

  it('keeps an erased event without the person', async () => {
    const key = world.key();
    const [gone, kept] = [
      conversion(key.account, { externalId: 'order-9', cmeta: { plan: 'x' } }),
      conversion(key.account, { journey: 'j-2' }),
    ];
    await publish(gone, kept);
    await stored(key, 2);
    await erase(key.account, 'journey_id', 'j-1');
    const { data } = await list(key);
    expect(data.find(({ id }) => id === gone.id)).toEqual({
      id: gone.id,
      type: 'conversion.recorded',
      occurred_at: expect.any(String),
      subject: 'journey/erased-aaaaaaaaaaaaaaaaaaaaaa',
      data: { campaign_id: 'spring' },
      erased: true,
    });
    // One that comes late from an outbox.
    const late = conversion(key.account, { externalId: 'order-10', utm: { utm_source: 'mail' } });
    await publish(late);
    await stored(key, 3);
    const all = (await list(key)).data;
    expect(all.find(({ id }) => id === late.id)).toMatchObject({
      subject: 'journey/erased-aaaaaaaaaaaaaaaaaaaaaa',
      data: { campaign_id: 'spring' },
      erased: true,
    });
    expect(JSON.stringify(all)).not.toMatch(/j-1|order-9|order-10|utm_source/);
    expect(data.find(({ id }) => id === kept.id)!.data.journey_id).toBe('j-2');
  });
});
