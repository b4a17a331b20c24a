import type { ApiError, Caller, FeedEvent } from '@perkway/domain';
import { dataSourceOptions } from '@perkway/platform';
import { anAccountId, rowsRead, type TestDatabase } from '@perkway/testing';
import { newWebhookSecret, parseKeyring, seal } from '@perkway/signing';
import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { Registry } from 'prom-client';
import { DataSource } from 'typeorm';
import { DeliveryEngine, secretContext, WEBHOOK_SECRET } from '../src/deliveries/delivery-engine.js';
import { DeliveryMetrics } from '../src/deliveries/delivery-metrics.js';
import { DeliveryQueue, MAX_PENDING } from '../src/deliveries/delivery-queue.js';
import type { DeliveryWorker } from '../src/deliveries/delivery-worker.js';
import type { AttemptResult } from '../src/deliveries/sender.js';
import type { EventsEnv } from '../src/env.js';
import { FeedEraser } from '../src/erasures/feed-eraser.js';
import { PersonKeys } from '../src/feed/person-keys.js';
import { WebhookDeliveriesService } from '../src/webhooks/webhook-deliveries.service.js';
import { WebhookEntity } from '../src/webhooks/webhook.entity.js';
import { anEvent, storeEvents } from './stored-events.js';
import { testFeedDatabase } from './webhooks-world.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const keys = parseKeyring(`k1:${Buffer.alloc(32, 1).toString('base64url')}`);

let database: TestDatabase;
let dataSource: DataSource;
let queue: DeliveryQueue;
let now = Date.parse('2026-11-05T09:30:00Z');
const clock = { now: () => now };
const worker = { wake: () => undefined } as unknown as DeliveryWorker;

beforeAll(async () => {
  database = await testFeedDatabase();
  dataSource = await new DataSource({
    ...dataSourceOptions(database.url, 'events', 8),
    entities: [WebhookEntity],
  }).initialize();
  queue = new DeliveryQueue(dataSource);
});
beforeEach(() => database.query('truncate webhooks, webhook_replays, deliveries, events, feeds'));
afterAll(async () => {
  await dataSource.destroy();
  await database.close();
});

interface Sent {
  url: string;
  event: FeedEvent;
  at: number;
  signatures: number;
}

const SUCCESS: AttemptResult = { isSuccess: true, status: 204, error: null };
const FAILURE: AttemptResult = { isSuccess: false, status: 500, error: 'no' };

/** A replica whose attempts do not leave the process. */
function replica(reply: (sent: Sent) => AttemptResult | Promise<AttemptResult> = () => SUCCESS) {
  const sent: Sent[] = [];
  const post = async (url: string, headers: Record<string, string>, body: string) => {
    const signatures = headers['webhook-signature']!.split(' ').length;
    const one = { url, event: JSON.parse(body) as FeedEvent, at: now, signatures };
    sent.push(one);
    return reply(one);
  };
  const metrics = new DeliveryMetrics(new Registry());
  const engine = new DeliveryEngine(queue, { post }, keys, clock, metrics, pino({ level: 'silent' }));
  /** Delivers everything that is due at this moment. */
  const deliver = async () => {
    for (
      let hasMore = true;
      hasMore;
      hasMore = (await queue.fanOut(new Date(now))).hasMore || (await claimAll()) > 0
    );
  };
  const claimAll = async () => {
    const started = await engine.start();
    await engine.whenIdle();
    return started;
  };
  return {
    sent,
    engine,
    deliver,
    urls: () => sent.map(({ url }) => url),
    ids: () => sent.map(({ event }) => event.id),
  };
}

async function aWebhook(account: string, given: Record<string, unknown> = {}): Promise<string> {
  const id = String(given['id'] ?? 'a');
  const secret = seal(keys, WEBHOOK_SECRET, newWebhookSecret(), secretContext(account, id));
  const row = {
    account_id: account,
    id,
    url: `https://${id}.example/`,
    ordered: false,
    enabled: true,
    secret,
    position: 0,
    ...Object.fromEntries(['enabled_at', 'created_at', 'updated_at'].map((name) => [name, new Date(now)])),
    ...given,
  };
  const [{ key }] = (await database.query(
    `insert into webhooks (${Object.keys(row).join(', ')})
     values (${Object.keys(row).map((_, index) => `$${index + 1}`)}) returning key`,
    Object.values(row),
  )) as [{ key: string }];
  return key;
}
const event = (given: Partial<FeedEvent> = {}) =>
  anEvent({ occurred_at: new Date(now).toISOString(), ...given });
const states = async () =>
  Object.fromEntries(
    (await database.query(`select state, count(*)::int as n from deliveries group by state`)).map((row) => [
      row['state'],
      row['n'],
    ]),
  );
const webhook = async (key: string) =>
  (await database.query('select * from webhooks where key = $1', [key]))[0]!;

const SCANS = /(Seq|Index|Heap|Index Only) Scan$/;

/** Returns how many rows a claim at this moment reads. */
async function rowsOfClaim(): Promise<number> {
  // Otherwise the plan depends on when autovacuum last analyzed the table.
  await database.query('analyze deliveries');
  let rows = Infinity;
  const explained = new DeliveryQueue({
    query: async (statement: string, parameters: unknown[]) => {
      const [{ 'QUERY PLAN': plans }] = await dataSource.query(
        `explain (analyze, format json) ${statement}`,
        parameters,
      );
      rows = rowsRead(plans[0].Plan, SCANS);
      await database.query('update deliveries set lease_until = null');
      return [];
    },
  } as never);
  await explained.claim(new Date(now), {
    ...{ total: 1_000, totalExtra: 512, perWebhook: 16, perAccount: 64, perAccountWithExtra: 256 },
    ...{ room: new Map(), running: new Map(), runningWithExtra: new Map() },
  });
  return rows;
}

describe('an event', () => {
  it('is attempted ten times, as the schedule says', async () => {
    const account = anAccountId();
    await aWebhook(account);
    await storeEvents(database, account, event());
    const { sent, deliver } = replica(() => FAILURE);
    await deliver();
    for (;;) {
      const [due] = await database.query(`select next_attempt_at from deliveries where state = 'pending'`);
      if (!due) break;
      now = due['next_attempt_at'].getTime() - 1;
      await deliver();
      now += 1;
      await deliver();
    }
    const waits = sent.slice(1).map(({ at }, index) => (at - sent[index]!.at) / SECOND);
    expect(waits).toHaveLength(9);
    [5, 30, 120, 600, 1_800, 7_200, 18_000, 36_000, 36_000].forEach((wait, index) => {
      expect(waits[index]).toBeGreaterThanOrEqual(wait);
      expect(waits[index]).toBeLessThanOrEqual(wait * 1.2);
    });
    expect(await states()).toEqual({ failed: 1 });
  });

  it('waits as long as Retry-After says', async () => {
    const account = anAccountId();
    await aWebhook(account);
    await storeEvents(database, account, event());
    const { sent, deliver } = replica(() => ({ ...FAILURE, retryAfter: '3600' }));
    await deliver();
    now += HOUR - 1;
    await deliver();
    expect(sent).toHaveLength(1);
    now += 1;
    await deliver();
    expect(sent).toHaveLength(2);
  });

  it('has no personal data in a later attempt once it is erased', async () => {
    const account = anAccountId();
    await aWebhook(account);
    await storeEvents(
      database,
      account,
      event({ subject: 'journey/j1', data: { journey_id: 'j1', perk_id: 'p' } }),
    );
    const { sent, deliver } = replica(() => FAILURE);
    await deliver();
    await database.query(
      `update events set data = data - 'journey_id', subject = 'journey/x', erased = true`,
    );
    now += 7 * SECOND;
    await deliver();
    expect(sent).toHaveLength(2);
    expect(sent[1]!.event).toMatchObject({ erased: true, subject: 'journey/x', data: { perk_id: 'p' } });
    expect(JSON.stringify(await database.query('select * from deliveries'))).not.toContain('j1');
  });

  it('has no stored error once it is erased, neither of earlier nor of running attempts', async () => {
    const account = anAccountId();
    await aWebhook(account);
    const stored = event({ subject: 'journey/j1', data: { journey_id: 'j1' } });
    await storeEvents(database, account, stored);
    let onAttempt: () => unknown = () => undefined;
    const { engine, deliver } = replica(async () => {
      await onAttempt();
      return { ...FAILURE, error: 'unknown journey j1' };
    });
    await deliver();
    const lastError = async () =>
      (await database.query('select last_error from deliveries'))[0]!['last_error'];
    expect(await lastError()).toBe('unknown journey j1');
    const env = { API_KEY_PEPPER: 'x'.repeat(32) } as EventsEnv;
    const eraser = new FeedEraser(dataSource, new PersonKeys(env));
    const erase = (round: number) =>
      eraser.erase({
        id: randomUUID(),
        account,
        kind: 'journey_id',
        value: 'j1',
        round,
        standIn: 'erased-aaaaaaaaaaaaaaaaaaaaaa',
        secret: '00',
      });
    onAttempt = () => erase(1);
    now += 7 * SECOND;
    await engine.start();
    await engine.whenIdle();
    expect(await lastError()).toBeNull();
    expect(JSON.stringify(await database.query('select * from deliveries'))).not.toContain('j1');
  });

  it('fails when it is no longer stored', async () => {
    const account = anAccountId();
    await aWebhook(account);
    await storeEvents(database, account, event());
    await queue.fanOut(new Date(now));
    await database.query('delete from events');
    const { sent, deliver } = replica();
    await deliver();
    expect(sent).toEqual([]);
    expect(await states()).toEqual({ failed: 1 });
  });

  it('is delivered by another replica after the lease of one that died', async () => {
    const account = anAccountId();
    await aWebhook(account);
    await storeEvents(database, account, event(), event());
    const hanging: ((result: AttemptResult) => void)[] = [];
    const died = replica(() => new Promise((resolve) => hanging.push(resolve)));
    await queue.fanOut(new Date(now));
    expect(await died.engine.start()).toBe(2);
    const { sent, deliver } = replica();
    await deliver();
    expect(sent).toEqual([]);
    now += 31 * SECOND;
    await deliver();
    expect(sent).toHaveLength(2);
    expect(await states()).toEqual({ delivered: 2 });
    for (const end of hanging) end(FAILURE);
    await died.engine.whenIdle();
    expect(await states()).toEqual({ delivered: 2 });
  });

  it('counts no failure of a replica that lost its lease, and every success', async () => {
    const account = anAccountId();
    await aWebhook(account);
    await storeEvents(database, account, event());
    const late: ((result: AttemptResult) => void)[] = [];
    const slow = [1, 2].map(() => replica(() => new Promise((resolve) => late.push(resolve))));
    await queue.fanOut(new Date(now));
    for (const { engine } of slow) {
      await engine.start();
      now += 31 * SECOND;
    }
    await replica(() => FAILURE).deliver();
    const attempts = async () => (await database.query('select state, attempts from deliveries'))[0];
    late[0]!(FAILURE);
    await slow[0]!.engine.whenIdle();
    expect(await attempts()).toEqual({ state: 'pending', attempts: 1 });
    late[1]!(SUCCESS);
    await slow[1]!.engine.whenIdle();
    expect(await attempts()).toEqual({ state: 'delivered', attempts: 2 });
  });

  it('comes once to a receiver that was unavailable for an hour, from two replicas', async () => {
    const account = anAccountId();
    await aWebhook(account, { id: 'away' });
    const start = now;
    const receiver = () => (now < start + HOUR ? FAILURE : SUCCESS);
    const delivered: string[] = [];
    const replicas = [1, 2].map(() =>
      replica((sent) => {
        if (receiver().isSuccess) delivered.push(sent.event.id);
        return receiver();
      }),
    );
    const events: FeedEvent[] = [];
    for (; now < start + 4 * HOUR; now += 2 * MINUTE) {
      if (now < start + 80 * MINUTE) {
        events.push(event(), event());
        await storeEvents(database, account, ...events.slice(-2));
      }
      await Promise.all(replicas.map(({ deliver }) => deliver()));
    }
    expect([...delivered].sort()).toEqual(events.map(({ id }) => id).sort());
    expect(await states()).toEqual({ delivered: events.length });
  });
});

describe('a webhook', () => {
  it('is disabled after five days without a success, and not before', async () => {
    const account = anAccountId();
    const key = await aWebhook(account);
    const { deliver } = replica(() => FAILURE);
    for (const [wait, enabled] of [
      [0, true],
      [4 * DAY, true],
      [DAY - SECOND, true],
      [SECOND, false],
    ] as const) {
      now += wait;
      await storeEvents(database, account, event());
      await deliver();
      expect((await webhook(key))['enabled']).toBe(enabled);
    }
    expect((await webhook(key))['disabled_reason']).toBe('No delivery succeeded for five days');
    expect(await states()).toEqual({ failed: 4 });
    await storeEvents(database, account, event());
    await deliver();
    expect(await states()).toEqual({ failed: 4 });
  });

  it('whose URL changes during an attempt gets the event at the new URL, even if the old one responds with 410', async () => {
    const account = anAccountId();
    const key = await aWebhook(account);
    await storeEvents(database, account, event());
    const { deliver, urls } = replica(async ({ url }) => {
      if (url === 'https://new.example/') return SUCCESS;
      await database.query(`update webhooks set url = 'https://new.example/'`);
      return { ...FAILURE, status: 410 };
    });
    await deliver();
    expect(await states()).toEqual({ pending: 1 });
    now += 7 * SECOND;
    await deliver();
    expect(urls()).toEqual(['https://a.example/', 'https://new.example/']);
    expect(await states()).toEqual({ delivered: 1 });
    expect((await webhook(key))['enabled']).toBe(true);
  });

  it('is not disabled when one delivery succeeds between failures', async () => {
    const account = anAccountId();
    const key = await aWebhook(account);
    let result = FAILURE;
    const { deliver } = replica(() => result);
    for (let day = 0; day < 8; day++) {
      result = day === 3 ? SUCCESS : FAILURE;
      await storeEvents(database, account, event());
      await deliver();
      now += DAY;
    }
    expect((await webhook(key))['enabled']).toBe(true);
  });

  it('that is ordered holds back only the subject whose delivery fails', async () => {
    const account = anAccountId();
    await aWebhook(account, { ordered: true });
    const events = ['one', 'two', 'one', 'two', 'one'].map((id) => event({ subject: `perk/${id}` }));
    await storeEvents(database, account, ...events);
    let isFailing = true;
    const { ids, deliver } = replica(({ event }) =>
      event.subject === 'perk/one' && isFailing ? FAILURE : SUCCESS,
    );
    await deliver();
    const [a, b, c, d, e] = events.map(({ id }) => id);
    expect(ids().sort()).toEqual([a, b, d].sort());
    isFailing = false;
    now += 7 * SECOND;
    const other = replica();
    await Promise.all([deliver(), other.deliver()]);
    await deliver();
    const later = [...ids().slice(3), ...other.ids()];
    expect(later.sort()).toEqual([a, c, e].sort());
    const order = await database.query(
      `select event_id from deliveries where event_id = any($1) order by delivered_at, position`,
      [[a, c, e]],
    );
    expect(order.map(({ event_id }) => event_id)).toEqual([a, c, e]);
  });

  it('that is ordered gets the events of each subject in order from two replicas, whatever fails', async () => {
    const account = anAccountId();
    await aWebhook(account, { ordered: true });
    const events = Array.from({ length: 120 }, (_, index) => event({ subject: `perk/${index % 6}` }));
    await storeEvents(database, account, ...events);
    const accepted: FeedEvent[] = [];
    let attempts = 0;
    const replicas = [1, 2].map(() =>
      replica(async ({ event }) => {
        attempts += 1;
        const isFailing = attempts % 5 === 0;
        // Later attempts can end before earlier ones.
        await new Promise((resolve) => setTimeout(resolve, attempts % 7));
        if (!isFailing) accepted.push(event);
        return isFailing ? FAILURE : SUCCESS;
      }),
    );
    while (accepted.length < events.length) {
      await Promise.all(replicas.map(({ deliver }) => deliver()));
      now += 7 * SECOND;
      // The first one to start may claim everything that is due.
      replicas.reverse();
    }
    for (let subject = 0; subject < 6; subject++) {
      const idsOf = (all: FeedEvent[]) =>
        all.filter((each) => each.subject === `perk/${subject}`).map(({ id }) => id);
      expect(idsOf(accepted)).toEqual(idsOf(events));
    }
    expect(replicas.every(({ sent }) => sent.length > 0)).toBe(true);
  });

  it('that is ordered delivers other subjects at no extra cost while thousands of deliveries are held back', async () => {
    const account = anAccountId();
    const key = await aWebhook(account, { ordered: true });
    const blocked = Array.from({ length: 3_000 }, () => event({ subject: 'perk/blocked' }));
    await storeEvents(database, account, ...blocked);
    const { ids, deliver } = replica(({ event }) => (event.subject === 'perk/blocked' ? FAILURE : SUCCESS));
    await deliver();
    expect(ids()).toEqual([blocked[0]!.id]);
    const others = Array.from({ length: 5 }, (_, index) => event({ subject: `perk/${index}` }));
    await storeEvents(database, account, ...others);
    await queue.fanOut(new Date(now));
    expect(await rowsOfClaim()).toBeLessThan(100);
    await deliver();
    expect(ids().slice(1).sort()).toEqual(others.map(({ id }) => id).sort());
    // The tenth attempt fails and is the last, so the next delivery of the subject is attempted.
    await database.query(`update deliveries set attempts = 9 where event_id = $1`, [blocked[0]!.id]);
    now += 7 * SECOND;
    await deliver();
    expect(ids().at(-1)).toBe(blocked[1]!.id);
    // A replica of an earlier release ends a delivery and releases nothing.
    await database.query(`update deliveries set state = 'delivered' where event_id = $1`, [blocked[1]!.id]);
    await queue.releaseForgotten();
    await deliver();
    expect(ids().at(-1)).toBe(blocked[2]!.id);
    expect(await database.query('select from deliveries where webhook = $1 and held', [key])).toHaveLength(
      2_997,
    );
  });

  it('that is ordered gets replayed events in order, even of a subject that was delivered before', async () => {
    const account = anAccountId();
    const key = await aWebhook(account, { ordered: true });
    const events = Array.from({ length: 6 }, (_, index) => event({ subject: `perk/${index % 2}` }));
    await storeEvents(database, account, ...events);
    const { ids, deliver } = replica();
    await deliver();
    await database.query('update webhooks set position = 2 where key = $1', [key]);
    await storeEvents(database, account, event({ subject: 'perk/0' }));
    await deliver();
    expect(ids()).toHaveLength(7);
    await database.query(
      `insert into webhook_replays (webhook, position, until_position, from_time, to_time) values ($1, 0, 6, $2, $2)`,
      [key, new Date(now)],
    );
    await deliver();
    for (const subject of ['perk/0', 'perk/1']) {
      const idsOf = events.filter((each) => each.subject === subject).map(({ id }) => id);
      expect(
        ids()
          .slice(7)
          .filter((id) => idsOf.includes(id)),
      ).toEqual(idsOf);
    }
    expect(await states()).toEqual({ delivered: 7 });
  });

  it('has a bounded queue, while the rest of its events wait in the feed', async () => {
    const account = anAccountId();
    await aWebhook(account);
    for (let batch = 0; batch < 7; batch++)
      await storeEvents(database, account, ...Array.from({ length: 1_000 }, () => event()));
    while ((await queue.fanOut(new Date(now))).hasMore);
    expect(await states()).toEqual({ pending: MAX_PENDING });
    await database.query(
      `update deliveries set state = 'delivered' where id in (select id from deliveries limit 3000)`,
    );
    while ((await queue.fanOut(new Date(now))).hasMore);
    expect(await states()).toEqual({ pending: 4_000, delivered: 3_000 });
    expect(await database.query('select from deliveries where position <= 7000')).toHaveLength(7_000);
  });

  it('gets its events in smaller statements when larger ones take too long', async () => {
    const account = anAccountId();
    for (let index = 0; index < 20; index++) await aWebhook(account, { id: `w${index}` });
    await storeEvents(database, account, ...Array.from({ length: 100 }, () => event()));
    // Simulates the statement timeout.
    await database.query(
      `create function limit_size() returns trigger language plpgsql as $$ begin
         if (select count(*) from made) > 100 then raise 'statement timeout' using errcode = '57014'; end if;
         return null;
       end $$`,
    );
    await database.query(
      `create trigger limit_size after insert on deliveries referencing new table as made
       for each statement execute function limit_size()`,
    );
    const replica = new DeliveryQueue(dataSource);
    try {
      for (let pass = 0; pass < 60; pass++) await replica.fanOut(new Date(now)).catch(() => undefined);
    } finally {
      await database.query('drop function limit_size cascade');
    }
    expect(await states()).toEqual({ pending: 2_000 });
  });

  it('that responds fast gets more attempts at once, until it is slow', async () => {
    const account = anAccountId();
    await aWebhook(account);
    await storeEvents(database, account, ...Array.from({ length: 400 }, () => event()));
    await queue.fanOut(new Date(now));
    let responseMs = 0;
    const { engine } = replica(() => {
      now += responseMs;
      return SUCCESS;
    });
    const start = async () => {
      const started = await engine.start();
      await engine.whenIdle();
      return started;
    };
    expect([await start(), await start(), await start(), await start()]).toEqual([16, 32, 64, 128]);
    responseMs = 300;
    expect([await start(), await start()]).toEqual([128, 16]);
  });

  it('that fails gets one attempt at a time, and takes no room from others', async () => {
    const [one, other] = [anAccountId(), anAccountId()];
    await aWebhook(one, { id: 'bad' });
    await aWebhook(other, { id: 'good' });
    const open = new Set<() => void>();
    const { engine, urls, sent } = replica(({ url }) =>
      url.includes('bad') ? new Promise((resolve) => open.add(() => resolve(FAILURE))) : SUCCESS,
    );
    await storeEvents(database, one, ...Array.from({ length: 100 }, () => event()));
    await queue.fanOut(new Date(now));
    await engine.start();
    expect(urls()).toHaveLength(16);
    for (const fail of open) fail();
    open.clear();
    await engine.whenIdle();
    await engine.start();
    expect(open.size).toBe(1);
    await storeEvents(database, other, ...Array.from({ length: 50 }, () => event()));
    await queue.fanOut(new Date(now));
    while (sent.filter(({ url }) => url.includes('good')).length < 50) await engine.start();
    for (const fail of open) fail();
    await engine.whenIdle();
  });
});

it('replays a whole day under the same ids, each once', async () => {
  const account = anAccountId();
  await aWebhook(account);
  const start = now;
  const events: FeedEvent[] = [];
  for (let hour = 0; hour < 24; hour++, now += HOUR) {
    const some = Array.from({ length: 15 }, () => event());
    events.push(...some);
    await storeEvents(database, account, ...some);
  }
  const { ids, deliver } = replica();
  await deliver();
  const service = new WebhookDeliveriesService(dataSource, undefined as never, clock, worker);
  const day = { from: new Date(start).toISOString(), to: new Date(now).toISOString() };
  expect(await service.replay({ account } as Caller, 'a', day)).toEqual({ events: 360 });
  await deliver();
  const wanted = events.map(({ id }) => id).sort();
  expect(ids()).toHaveLength(2 * wanted.length);
  expect(ids().slice(0, wanted.length).sort()).toEqual(wanted);
  expect(ids().slice(wanted.length).sort()).toEqual(wanted);
  expect(await states()).toEqual({ delivered: 360 });
});

it('shares the attempts of a replica between accounts', async () => {
  const [large, small] = [anAccountId(), anAccountId()];
  for (let index = 0; index < 8; index++) await aWebhook(large, { id: `l${index}` });
  await aWebhook(small, { id: 's' });
  await storeEvents(database, large, ...Array.from({ length: 100 }, () => event()));
  await storeEvents(database, small, event());
  await queue.fanOut(new Date(now));
  const claimed = await queue.claim(new Date(now), {
    total: 9,
    perWebhook: 16,
    ...{ totalExtra: 512, perAccount: 64, perAccountWithExtra: 256, runningWithExtra: new Map() },
    room: new Map(),
    running: new Map([[large, 3]]),
  });
  expect(claimed.filter(({ account_id }) => account_id === small)).toHaveLength(1);
  expect(claimed).toHaveLength(9);
  const keys = await database.query<{ key: string }>('select key from webhooks where account_id = $1', [
    large,
  ]);
  const more = await queue.claim(new Date(now), {
    total: 1_000,
    perWebhook: 16,
    ...{ totalExtra: 512, perAccount: 64, perAccountWithExtra: 256, runningWithExtra: new Map() },
    // One webhook has two running attempts, so one of its three reserved ones is free.
    room: new Map(
      keys.map(({ key }, index) => [key, index === 0 ? { more: 14, running: 2 } : { more: 8, running: 8 }]),
    ),
    running: new Map([[large, 64]]),
  });
  expect(more).toHaveLength(1);
  // A fast webhook may have more than 16 attempts, which do not count for its account.
  const fast = await queue.claim(new Date(now), {
    total: 1_000,
    perWebhook: 16,
    ...{ totalExtra: 512, perAccount: 64, perAccountWithExtra: 256, runningWithExtra: new Map() },
    room: new Map(
      keys.map(({ key }, index) => [key, index === 0 ? { more: 44, running: 20 } : { more: 0, running: 8 }]),
    ),
    running: new Map([[large, 64]]),
  });
  expect(fast).toHaveLength(44);
});

it('does not wait for a durable commit of a claim, and does not change that of later transactions', async () => {
  const account = anAccountId();
  await aWebhook(account);
  await storeEvents(database, account, event());
  await queue.fanOut(new Date(now));
  const runner = dataSource.createQueryRunner();
  const show = async () => (await runner.query('show synchronous_commit'))[0].synchronous_commit;
  const commits = [await show()];
  try {
    await runner.startTransaction();
    const claimed = await new DeliveryQueue({ query: runner.query.bind(runner) } as never).claim(
      new Date(now),
      {
        ...{ total: 1_000, totalExtra: 512, perWebhook: 16, perAccount: 64, perAccountWithExtra: 256 },
        ...{ room: new Map(), running: new Map(), runningWithExtra: new Map() },
      },
    );
    expect(claimed).toHaveLength(1);
    commits.push(await show());
    await runner.commitTransaction();
    commits.push(await show());
  } finally {
    await runner.release();
  }
  expect(commits).toEqual(['on', 'off', 'on']);
});

it('leaves room for other accounts if all fast webhooks of one account begin to hang', async () => {
  const [large, small] = [anAccountId(), anAccountId()];
  for (let index = 0; index < 20; index++) await aWebhook(large, { id: `w${index}` });
  await aWebhook(small);
  const responses: (() => void)[] = [];
  let hangs = false;
  const { deliver, engine, urls } = replica(() =>
    hangs ? new Promise((resolve) => responses.push(() => resolve(FAILURE))) : SUCCESS,
  );
  const eventsOf = (account: string, count: number) =>
    storeEvents(database, account, ...Array.from({ length: count }, () => event()));
  const startAll = async () => {
    while ((await queue.fanOut(new Date(now))).hasMore);
    while ((await engine.start()) > 0);
  };
  await eventsOf(large, 60);
  await deliver();
  hangs = true;
  try {
    await eventsOf(large, 100);
    await startAll();
    // No extra attempts start once 384 attempts of the account are running.
    expect(responses.length).toBeLessThanOrEqual(64 + 20 * 3 + 384);
    expect(responses.length).toBeGreaterThan(64 + 20 * 3);
    await eventsOf(small, 1);
    await startAll();
    expect(urls().at(-1)).toBe('https://a.example/');
  } finally {
    engine.abandon();
    for (const respond of responses) respond();
  }
});

it('says when the next attempt is due', async () => {
  const account = anAccountId();
  await aWebhook(account);
  expect(await queue.nextDue(new Date(now))).toBeUndefined();
  await storeEvents(database, account, event());
  await replica(() => ({ ...FAILURE, retryAfter: '60' })).deliver();
  expect((await queue.nextDue(new Date(now)))!.getTime()).toBe(now + MINUTE);
  expect(await queue.nextDue(new Date(now + MINUTE))).toBeUndefined();
});

it('claims, retries, ends and erases deliveries while `ordered` is switched, without a deadlock', async () => {
  const account = anAccountId();
  const keys = await Promise.all(['a', 'b', 'c'].map((id) => aWebhook(account, { id, ordered: id !== 'a' })));
  const events = Array.from({ length: 200 }, (_, index) => event({ subject: `perk/${index % 5}` }));
  await storeEvents(database, account, ...events);
  let [attempts, isFailing] = [0, true];
  const replicas = [1, 2].map(() => replica(() => (isFailing && attempts++ % 3 === 0 ? FAILURE : SUCCESS)));
  const service = new WebhookDeliveriesService(dataSource, undefined as never, clock, worker);
  const eraser = new FeedEraser(dataSource, new PersonKeys({ API_KEY_PEPPER: 'x'.repeat(32) } as EventsEnv));
  const any = <Item>(items: readonly Item[]) => items[Math.floor(Math.random() * items.length)]!;
  const caller = { account } as Caller;
  const rounds = (work: () => Promise<unknown>) => async () => {
    for (let round = 0; round < 60; round++) await work();
  };
  const ignoringUnknown = (error: ApiError) => {
    if (error.code !== 'EVENT_NOT_FOUND') throw error;
  };
  await Promise.all(
    [
      ...replicas.map(({ deliver }) => rounds(deliver)),
      rounds(() => service.retry(caller, any(['a', 'b', 'c']), any(events).id).catch(ignoringUnknown)),
      rounds(() => service.retry(caller, any(['a', 'b', 'c']), any(events).id).catch(ignoringUnknown)),
      rounds(() =>
        dataSource.transaction(async (manager) => {
          const key = any(keys);
          await manager.query('select from webhooks where key = $1 for update', [key]);
          await queue.setOrdered(manager, key, account, Math.random() < 0.5);
          if (Math.random() < 0.2) await queue.endPending(manager, key);
        }),
      ),
      rounds(() =>
        eraser.erase({
          id: randomUUID(),
          account,
          kind: 'journey_id',
          value: 'nobody',
          round: 1,
          standIn: 'erased-aaaaaaaaaaaaaaaaaaaaaa',
          secret: '00',
        }),
      ),
      rounds(() => queue.releaseForgotten()),
    ].map((start) => start()),
  );
  // From now on every attempt succeeds, so nothing is pending after the longest delay of a retry.
  isFailing = false;
  for (let round = 0; round < 4; round++) {
    now += 11 * HOUR;
    await replicas[0]!.deliver();
  }
  expect(await states()).not.toHaveProperty('pending');
  const [{ deadlocks }] = (await database.query(
    'select deadlocks::int from pg_stat_database where datname = current_database()',
  )) as [{ deadlocks: number }];
  expect(deadlocks).toBe(0);
});

it('measures pending and late deliveries and failing webhooks', async () => {
  const account = anAccountId();
  await aWebhook(account, { id: 'works' });
  await aWebhook(account, { id: 'fails', failing_since: new Date(now - DAY) });
  await aWebhook(account, { id: 'disabled', enabled: false, failing_since: new Date(now - DAY) });
  expect(await queue.backlog(new Date(now))).toEqual({ pending: 0, overdueS: 0, failing: 1 });
  await storeEvents(database, account, event(), event());
  await queue.fanOut(new Date(now));
  expect(await queue.backlog(new Date(now + MINUTE))).toEqual({ pending: 4, overdueS: 60, failing: 1 });
  await database.query(`update webhooks set failing_since = now()`);
  expect(await queue.backlog(new Date(now + MINUTE))).toEqual({ pending: 4, overdueS: 0, failing: 2 });
});

it('signs with the previous secret for 24 hours after a rotation', async () => {
  const account = anAccountId();
  const previous = seal(keys, WEBHOOK_SECRET, newWebhookSecret(), secretContext(account, 'a'));
  await aWebhook(account, { previous_secret: previous, previous_secret_until: new Date(now + DAY) });
  const { sent, deliver } = replica();
  for (const wait of [0, DAY - SECOND, SECOND]) {
    now += wait;
    await storeEvents(database, account, event());
    await deliver();
  }
  expect(sent.map(({ signatures }) => signatures)).toEqual([2, 2, 1]);
});

it('deletes deliveries that are older than the feed', async () => {
  const account = anAccountId();
  await aWebhook(account);
  await storeEvents(database, account, event());
  await replica().deliver();
  const old = now;
  now += DAY;
  await storeEvents(database, account, event());
  await replica().deliver();
  await queue.deleteBefore(new Date(old + 1));
  expect(await states()).toEqual({ delivered: 1 });
});
