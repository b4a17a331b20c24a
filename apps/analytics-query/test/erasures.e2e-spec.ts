import { jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import {
  BEGIN_ERASURE,
  deriveJourneyId,
  ERASE,
  TRACKING_DEAD_STREAM,
  TRACKING_STREAM,
  trackingSubject,
  type Erasure,
  type ErasureSubject,
} from '@perkway/domain';
import {
  anAccountId,
  rpcCaller,
  closeAll,
  connectTo,
  keptMessages,
  keptRows,
  placesOf,
  runNode,
  testSecrets,
  waitFor,
  type RpcCaller,
} from '@perkway/testing';
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { analyticsStack, event, launchAnalytics, type Stack } from './support.js';

const NAME = 'Wilhelmina "Mina" Ångström';
const ORDER = 'order of wilhelmina';
const MAIL = 'wilhelmina@example.org';
const PERSONAL = [NAME, JSON.stringify(NAME).slice(1, -1), ORDER, MAIL];
const LONG_AGO = Date.now() - 40 * 24 * 3_600_000;

let stack: Stack;
let operator: RpcCaller;
let manager: JetStreamManager;
const open: { close(): Promise<unknown> }[] = [];

beforeEach(async () => {
  stack = await analyticsStack({ ROLLUP_INTERVAL_MS: '200' });
  operator = await rpcCaller(stack.nats.url);
  const connection = await connectTo(stack.nats.url);
  manager = await jetstreamManager(connection);
  open.push(stack, operator, connection);
});
afterEach(() => closeAll(...open.splice(0).reverse()));

const eventsOf = (account: string, journey: string) => {
  const common = { account, journey, campaign: 'spring', cmeta: { name: NAME }, utm: { utm_content: MAIL } };
  return [
    event({ ...common, type: 'teaser_view', channel: 'outreach', at: LONG_AGO }),
    event({ ...common, type: 'incentive_click', channel: 'outreach', perk: 'coffee' }),
    event({ ...common, type: 'conversion', value: 12, currency: 'EUR', externalId: ORDER }),
    event({
      account,
      journey,
      type: 'perk_click',
      collection: 'main',
      perk: 'coffee',
      cmeta: { name: NAME },
    }),
    event({
      ...common,
      type: 'reward_link',
      state: 'generated',
      pool: 'p',
      denomination: 10,
      currency: 'EUR',
      createdBy: 'crm',
      reference: MAIL,
    }),
  ];
};
const stored = (account: string) =>
  stack.database.query<{ journey_id: string; external_id: string | null }>(
    'select journey_id, external_id from tracking_events where account_id = $1 order by occurred_at, id',
    [account],
  );
const untilStored = (account: string, count: number) =>
  waitFor(async () => expect(await stored(account)).toHaveLength(count), `${count} events`);
const untilRead = () =>
  waitFor(async () => {
    const { num_pending, num_ack_pending } = await manager.consumers.info(TRACKING_STREAM, 'analytics-query');
    expect([num_pending, num_ack_pending]).toEqual([0, 0]);
  }, 'an empty stream');
const begin = async (subject: ErasureSubject): Promise<Erasure> => ({
  id: randomUUID(),
  round: 1,
  ...subject,
  ...(await operator.rpc.request(BEGIN_ERASURE, subject)),
});
const erase = async (subject: ErasureSubject) => {
  const erasure = await begin(subject);
  await waitFor(
    async () => (await operator.rpc.request(ERASE['analytics-query'], erasure)).isDone,
    'the end of an erasure',
  );
};
/** Reads everything again that the stream keeps. */
const replay = async () => {
  const { state } = await manager.streams.info(TRACKING_STREAM);
  const { exitCode } = await runNode(
    ['--import', 'tsx', 'tools/perkway/src/replay.ts', '--from', String(state.first_ts)],
    { env: { NATS_URL: stack.nats.url } },
  );
  expect(exitCode).toBe(0);
  await untilRead();
};
const journeyOf = (account: string, value = NAME): ErasureSubject => ({ account, kind: 'journey_id', value });
const traces = async () =>
  placesOf([...(await keptRows(stack.database)), ...(await keptMessages(stack.nats.url))], PERSONAL);

const totalsOf = async (account: string) => {
  const requested = stack.as(account);
  const funnel = ['journeys', 'teaser_viewers', 'clickers', 'converters', 'gift_recipients'];
  const { body } = await requested.load({ measures: funnel.map((each) => `campaign_funnel.${each}`) });
  const byDay = await requested.load({
    measures: ['teaser_views.count'],
    timeDimensions: [
      { dimension: 'teaser_views.occurred_at', granularity: 'day', dateRange: 'last 60 days' },
    ],
  });
  const counts = ['perk_clicks.count', 'perk_clicks.journeys', 'conversions.value', 'reward_links.journeys'];
  return {
    funnel: body.data,
    byDay: byDay.body.data,
    counts: await Promise.all(counts.map((each) => requested.count(each))),
  };
};

it('erases rows that the swap of a month copied while the erasure waited for it', async () => {
  const account = anAccountId();
  await stack.publisher.events(event({ type: 'perk_click', account, collection: 'main', perk: 'coffee' }));
  await untilStored(account, 1);
  const swap = new pg.Client(stack.database.urls.admin);
  await swap.connect();
  try {
    await swap.query(`begin; lock table only analytics.tracking_events in access exclusive mode;
      insert into analytics.tracking_events (account_id, occurred_at, id, type, journey_id)
      values ('${account}', now(), 'copied', 'perk_click', 'mina')`);
    const erased = erase(journeyOf(account, 'mina'));
    await waitFor(async () => {
      const rows = await stack.database.query(
        `select from pg_stat_activity where datname = current_database()
           and application_name = 'analytics-query-maintenance' and wait_event_type = 'Lock' and query like '%e.journey_id%'`,
      );
      expect(rows).toHaveLength(1);
    }, 'the waiting erasure');
    await swap.query('commit');
    await erased;
    expect((await stored(account)).map(({ journey_id: journey }) => journey)).not.toContain('mina');
  } finally {
    await swap.end();
  }
});

it('erases a journey from rows and streams, and keeps every count', async () => {
  const [account, other] = [anAccountId(), anAccountId()];
  await stack.publisher.events(...eventsOf(account, NAME), ...eventsOf(account, 'somebody-else').slice(0, 2));
  await stack.publisher.events(...eventsOf(other, NAME).slice(1, 2));
  await untilStored(account, 7);
  await untilStored(other, 1);
  const before = await totalsOf(account);
  expect(before.funnel).toEqual([
    {
      'campaign_funnel.journeys': '2',
      'campaign_funnel.teaser_viewers': '2',
      'campaign_funnel.clickers': '2',
      'campaign_funnel.converters': '1',
      'campaign_funnel.gift_recipients': '1',
    },
  ]);
  await erase(journeyOf(account));
  expect(await totalsOf(account)).toEqual(before);
  const rows = await stored(account);
  const standIns = new Set(rows.map((row) => row.journey_id));
  expect(standIns.size).toBe(2);
  expect([...standIns].filter((each) => each.startsWith('erased-'))).toHaveLength(1);
  // The other account has an unrelated journey with the same id.
  expect((await stored(other))[0]!.journey_id).toBe(NAME);
  await stack.database.query('delete from tracking_events where account_id = $1', [other]);
  await erase(journeyOf(other));
  // The attributes of another journey stay.
  await stack.database.query(`delete from tracking_events where journey_id = 'somebody-else'`);
  await erase(journeyOf(account, 'somebody-else'));
  expect(await traces()).toEqual([]);
});

it('erases late, replayed and duplicated events of an erased journey', async () => {
  const account = anAccountId();
  const events = eventsOf(account, NAME);
  await stack.publisher.events(...events);
  await untilStored(account, 5);
  await erase(journeyOf(account));

  // As an outbox would send it, in one message with an event of another journey.
  await stack.publisher.events(events[1]!, event({ ...events[1], id: 'late' } as never), {
    ...events[1]!,
    id: 'of-another',
    journey: 'somebody-else',
    cmeta: { name: 'kept' },
    utm: {},
  } as never);
  await stack.publisher.events(event({ ...events[2], id: 'told-twice', at: Date.now() } as never));
  await untilStored(account, 7);
  await untilRead();
  expect(await traces()).toEqual([]);
  expect(await stack.as(account).count('incentive_clicks.count')).toBe(3);
  expect(await stack.as(account).count('incentive_clicks.journeys')).toBe(2);
  // The external id is recognized by its stand-in.
  expect(await stack.as(account).count('conversions.count')).toBe(1);

  await replay();
  expect(await stored(account)).toHaveLength(7);
  expect(await traces()).toEqual([]);
});

it('erases a journey from dead letters, and keeps the letters', async () => {
  const account = anAccountId();
  const bad = { ...eventsOf(account, NAME)[1], perk: 'no id at all!' };
  await stack.publisher.publish({ events: [bad, { ...bad, id: 'x', journey: [NAME] }] });
  await stack.publisher.publish(`{"events": [{"journey": ${JSON.stringify(NAME)}, `);
  const letters = async () => (await manager.streams.info(TRACKING_DEAD_STREAM)).state.messages;
  await waitFor(async () => expect(await letters()).toBe(3), 'three dead letters');
  await erase(journeyOf(account));
  expect(await traces()).toEqual([]);
  // A message that cannot be parsed cannot be kept.
  expect(await letters()).toBe(2);
  for (const { place, text } of await keptMessages(stack.nats.url))
    if (place === TRACKING_DEAD_STREAM) expect(text).toMatch(/Perkway-Reason: (perk|journey) is not/);

  // A later dead letter is redacted before it is published.
  await stack.publisher.publish({ events: [{ ...bad, id: 'later' }] });
  await waitFor(async () => expect(await letters()).toBe(3), 'another dead letter');
  await untilRead();
  expect(placesOf(await keptMessages(stack.nats.url), PERSONAL)).toEqual([]);
});

it('erases a journey from any place in dead letters and messages', async () => {
  const account = anAccountId();
  const other = anAccountId();
  const [, valid] = eventsOf(account, 'somebody-else');
  const bad = { ...valid, perk: 'no id at all!', cmeta: {}, utm: {} };
  const letters = [
    { ...bad, journeyId: NAME },
    { ...bad, context: { of: [{ who: `journey ${NAME}.` }] } },
    { ...bad, [NAME]: true },
    { ...bad, reference: { id: NAME } },
    { ...bad, cmeta: { visitor: { journey: NAME } } },
    { ...bad, account: undefined, journeyId: NAME },
    [NAME],
    NAME,
  ];
  for (const [index, letter] of letters.entries())
    await stack.publisher.publish({
      events: [Array.isArray(letter) || typeof letter === 'string' ? letter : { ...letter, id: `l${index}` }],
    });
  // This event is valid and counted, and so is the other account's.
  await stack.publisher.publish({ events: [{ ...valid, cmeta: {}, utm: {}, journeyId: NAME }], of: NAME });
  const [, theirs] = eventsOf(other, 'x');
  await stack.publisher.publish({ events: [{ ...theirs, cmeta: {}, utm: {}, journeyId: 'kept' }] });
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  const tooDeep = JSON.stringify({ ...bad, journey: NAME, id: 'deep' }).slice(0, -1);
  await stack.publisher.publish(`{"events": [${tooDeep}, "more": ${deep}}]}`);
  const count = async () => (await manager.streams.info(TRACKING_DEAD_STREAM)).state.messages;
  await waitFor(async () => expect(await count()).toBe(letters.length + 1), 'the dead letters');
  await untilStored(account, 1);
  await erase(journeyOf(account));
  await untilRead();
  expect(await traces()).toEqual([]);
  expect(await stored(account)).toHaveLength(1);
  expect(JSON.stringify(await keptMessages(stack.nats.url))).toContain('kept');

  const before = await count();
  await stack.publisher.publish({ events: [{ ...bad, id: 'late', journeyId: NAME }] });
  await stack.publisher.publish({ events: [{ ...bad, id: 'late 2', context: { of: [NAME] } }] });
  await waitFor(async () => expect(await count()).toBe(before + 2), 'two more');
  await untilRead();
  expect(await traces()).toEqual([]);
});

it('does not count a forged event when a person is erased from its message', async () => {
  const account = anAccountId();
  const [, , conversion, click] = eventsOf(account, NAME);
  await stack.publisher.events(click!);
  await stack.publisher.publish({ events: [conversion] }, trackingSubject('links'));
  const letters = async () => (await manager.streams.info(TRACKING_DEAD_STREAM)).state.messages;
  await waitFor(async () => expect(await letters()).toBe(1), 'a dead letter');
  await untilStored(account, 1);
  await erase(journeyOf(account));
  await untilRead();
  expect(await stored(account)).toHaveLength(1);
  expect(await traces()).toEqual([]);
  const sources = await Promise.all(
    [2, 3].map(async (seq) => (await manager.streams.getMessage(TRACKING_DEAD_STREAM, { seq }))?.header),
  );
  expect(sources.map((header) => header?.get('Perkway-Source') ?? null)).toContain('tracking.links');
});

it('erases a customer from events by reference and attribute, and stores nothing about the customer', async () => {
  const account = anAccountId();
  const [, click, , , link] = eventsOf(account, 'journey-1');
  await stack.publisher.events(link!, {
    ...click!,
    cmeta: { 'customer-id': MAIL, segment: 'gold' },
    utm: {},
  } as never);
  await stack.publisher.events({ ...click!, id: 'other', cmeta: { note: 'gold' }, utm: {} } as never);
  await untilStored(account, 3);
  await erase({ account, kind: 'customer_id', value: MAIL });
  expect(await traces()).toEqual([]);
  expect((await stored(account)).map((row) => row.journey_id)).toEqual(Array(3).fill('journey-1'));
  expect(await stack.database.query('select from erased_journeys')).toEqual([]);
  expect(await stack.database.query('select cmeta from tracking_events where cmeta is not null')).toEqual([
    { cmeta: { note: 'gold' } },
  ]);
});

it('counts an order once after its customer and then its journey were erased', async () => {
  const account = anAccountId();
  const order = { ...eventsOf(account, NAME)[2]!, cmeta: { customer: MAIL } };
  await stack.publisher.events(order as never);
  await untilStored(account, 1);
  await erase({ account, kind: 'customer_id', value: MAIL });
  const [{ external_id: standIn } = { external_id: null }] = await stored(account);
  await erase(journeyOf(account));
  expect((await stored(account))[0]!.external_id).toBe(standIn);
  const again = { ...order, id: 'again', at: Date.now() };
  const marker = { ...eventsOf(account, 'somebody-else')[1]!, cmeta: {}, utm: {} };
  await stack.publisher.events(again as never, marker as never);
  await untilStored(account, 2);
  expect(await stack.as(account).count('conversions.count')).toBe(1);
  expect(await traces()).toEqual([]);
});

/** An order that the client reports a second time, in another event of another journey. */
const orderOf = (account: string, journey: string, customer = MAIL) => ({
  ...eventsOf(account, journey)[2]!,
  cmeta: { customer },
  utm: {},
});

it('counts an order once if it is reported again after its customer was erased', async () => {
  const account = anAccountId();
  await stack.publisher.events(orderOf(account, 'journey-1') as never);
  await untilStored(account, 1);
  await erase({ account, kind: 'customer_id', value: MAIL });
  await stack.publisher.events(
    orderOf(account, 'journey-1') as never,
    orderOf(account, 'journey-2') as never,
  );
  const marker = { ...eventsOf(account, 'somebody-else')[1]!, cmeta: {}, utm: {} };
  await stack.publisher.events(marker as never);
  await untilStored(account, 2);
  expect(await stack.as(account).count('conversions.count')).toBe(1);
});

it.each([
  ['first', NAME, 'somebody-else'],
  ['again', 'somebody-else', NAME],
])(
  'counts an order once after the journey that reported it %s was erased, even after a replay',
  async (_, ...journeys) => {
    const account = anAccountId();
    // In the batch of a replay, the counted event comes last.
    for (const [index, journey] of journeys.entries()) {
      const order = { ...orderOf(account, journey, 'kept'), at: Date.now() - index * 1_000 };
      await stack.publisher.events(order as never);
      await untilRead();
    }
    expect(await stored(account)).toHaveLength(1);
    await erase(journeyOf(account));
    await untilRead();
    await replay();
    expect(await stored(account)).toHaveLength(1);
  },
);

it('counts an order once if an erased journey and another report it at the same time', async () => {
  const account = anAccountId();
  await erase(journeyOf(account));
  await stack.publisher.events(orderOf(account, NAME) as never, orderOf(account, 'somebody-else') as never);
  await stack.publisher.events(orderOf(account, NAME) as never);
  await untilRead();
  await waitFor(async () => expect(await stored(account)).not.toEqual([]), 'the order');
  expect(await stored(account)).toHaveLength(1);
});

it('does not restore what another replica is erasing from the same row', async () => {
  const account = anAccountId();
  const [, , , , link] = eventsOf(account, NAME);
  await stack.publisher.events(link!);
  await untilStored(account, 1);
  const other = new pg.Client({ connectionString: stack.database.urls.admin });
  open.push({ close: () => other.end() });
  await other.connect();
  await other.query('begin');
  await other.query(
    `update analytics.tracking_events set journey_id = 'erased-1', reference = null where account_id = $1`,
    [account],
  );
  const erased = erase({ account, kind: 'customer_id', value: MAIL });
  await waitFor(async () => {
    const waiting = await stack.database.query(
      `select from pg_stat_activity
       where datname = current_database() and application_name = 'analytics-query-maintenance' and state = 'active'
         and clock_timestamp() - query_start > interval '0.3 s'`,
    );
    expect(waiting).toHaveLength(1);
  }, 'an erasure that waits');
  await other.query('commit');
  await erased;
  expect((await stored(account)).map((row) => row.journey_id)).toEqual(['erased-1']);
});

it('does not change events that came without a journey', async () => {
  const account = anAccountId();
  const nobody = deriveJourneyId('spring');
  await stack.publisher.events(...eventsOf(account, nobody).slice(0, 3));
  await untilStored(account, 3);
  await erase(journeyOf(account, nobody));
  await stack.publisher.events(...eventsOf(account, nobody).slice(0, 2));
  await untilStored(account, 5);
  expect(new Set((await stored(account)).map((row) => row.journey_id))).toEqual(new Set([nobody]));
});

it('works on any replica, with old and new keys', async () => {
  const account = anAccountId();
  const another = anAccountId();
  await stack.publisher.events(...eventsOf(account, NAME));
  await untilStored(account, 5);
  await stack.publisher.events(orderOf(another, NAME) as never);
  await untilStored(another, 1);
  await stack.publisher.events({ ...orderOf(another, NAME), at: Date.now() - 60_000 } as never);
  await untilRead();
  const erasure = await begin(journeyOf(account));
  expect((await begin(journeyOf(account))).standIn).toBe(erasure.standIn);
  await erase(journeyOf(account));
  await stack.app.close();
  const rotated = await launchAnalytics(stack.database, stack.nats, {
    ERASURE_KEYS: `k2:${Buffer.alloc(32, 7).toString('base64url')},${testSecrets().erasureKeys}`,
  });
  open.push(rotated);
  // An app begins to take requests once it has connected to the broker, which may be after it listens.
  await waitFor(async () => void (await begin(journeyOf(account))), 'a responder');
  expect((await begin(journeyOf(account))).standIn).toBe(erasure.standIn);
  const [, late, again] = eventsOf(account, NAME);
  await stack.publisher.events(late!, again!);
  await untilStored(account, 6);
  await untilRead();
  expect(new Set((await stored(account)).map((row) => row.journey_id))).toEqual(new Set([erasure.standIn]));

  // The order was counted under the old key and is erased under the new one.
  await erase(journeyOf(another));
  await replay();
  expect(await stored(another)).toHaveLength(1);
  expect(await traces()).toEqual([]);
  await stack.publisher.events(orderOf(another, NAME) as never, orderOf(another, 'somebody-else') as never);
  await untilRead();
  expect(await stored(another)).toHaveLength(1);
});
