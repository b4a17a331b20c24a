import { jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import {
  BEGIN_ERASURE,
  deriveJourneyId,
  ERASE,
  TRACKING_DEAD_STREAM,
  TRACKING_STREAM,
  type Erasure,
  type ErasureSubject,
} from '@perkway/domain';
import {
  anAccountId,
  asker,
  closeAll,
  connectTo,
  keptMessages,
  keptRows,
  placesOf,
  runNode,
  testSecrets,
  waitFor,
  type Asker,
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
let operator: Asker;
let manager: JetStreamManager;
const open: { close(): Promise<unknown> }[] = [];

beforeEach(async () => {
  stack = await analyticsStack({ ROLLUP_INTERVAL_MS: '200' });
  operator = await asker(stack.nats.url);
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
  ...(await operator.rpc.ask(BEGIN_ERASURE, subject)),
});
const erase = async (subject: ErasureSubject) => {
  const erasure = await begin(subject);
  await waitFor(
    async () => (await operator.rpc.ask(ERASE['analytics-query'], erasure)).isDone,
    'the end of an erasure',
  );
};
const journeyOf = (account: string, value = NAME): ErasureSubject => ({ account, kind: 'journey_id', value });
const traces = async () =>
  placesOf([...(await keptRows(stack.database)), ...(await keptMessages(stack.nats.url))], PERSONAL);

const totalsOf = async (account: string) => {
  const asked = stack.as(account);
  const funnel = ['journeys', 'teaser_viewers', 'clickers', 'converters', 'gift_recipients'];
  const { body } = await asked.load({ measures: funnel.map((each) => `campaign_funnel.${each}`) });
  const byDay = await asked.load({
    measures: ['teaser_views.count'],
    timeDimensions: [
      { dimension: 'teaser_views.occurred_at', granularity: 'day', dateRange: 'last 60 days' },
    ],
  });
  const counts = ['perk_clicks.count', 'perk_clicks.journeys', 'conversions.value', 'reward_links.journeys'];
  return {
    funnel: body.data,
    byDay: byDay.body.data,
    counts: await Promise.all(counts.map((each) => asked.count(each))),
  };
};

it('takes a journey out of rows and streams, and every count stays', async () => {
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
  // The other account's journey only has the same name.
  expect((await stored(other))[0]!.journey_id).toBe(NAME);
  await stack.database.query('delete from tracking_events where account_id = $1', [other]);
  await erase(journeyOf(other));
  // Of another journey the attributes stay.
  await stack.database.query(`delete from tracking_events where journey_id = 'somebody-else'`);
  await erase(journeyOf(account, 'somebody-else'));
  expect(await traces()).toEqual([]);
});

it('knows the journey when it comes again: late, replayed or told twice', async () => {
  const account = anAccountId();
  const events = eventsOf(account, NAME);
  await stack.publisher.events(...events);
  await untilStored(account, 5);
  await erase(journeyOf(account));

  // As an outbox would bring it, beside an event of somebody else in the same message.
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
  // The order is known by what it was made into.
  expect(await stack.as(account).count('conversions.count')).toBe(1);

  const { state } = await manager.streams.info(TRACKING_STREAM);
  const { exitCode } = await runNode(
    ['--import', 'tsx', 'tools/perkway/src/replay.ts', '--from', String(state.first_ts)],
    { env: { NATS_URL: stack.nats.url } },
  );
  expect(exitCode).toBe(0);
  await untilRead();
  expect(await stored(account)).toHaveLength(7);
  expect(await traces()).toEqual([]);
});

it('takes it out of dead letters, and keeps them', async () => {
  const account = anAccountId();
  const bad = { ...eventsOf(account, NAME)[1], perk: 'no id at all!' };
  await stack.publisher.publish({ events: [bad, { ...bad, id: 'x', journey: [NAME] }] });
  await stack.publisher.publish(`{"events": [{"journey": ${JSON.stringify(NAME)}, `);
  const letters = async () => (await manager.streams.info(TRACKING_DEAD_STREAM)).state.messages;
  await waitFor(async () => expect(await letters()).toBe(3), 'three dead letters');
  await erase(journeyOf(account));
  expect(await traces()).toEqual([]);
  // What cannot be read cannot be kept.
  expect(await letters()).toBe(2);
  for (const { place, text } of await keptMessages(stack.nats.url))
    if (place === TRACKING_DEAD_STREAM) expect(text).toMatch(/Perkway-Reason: (perk|journey) is no/);

  // One that comes later never gets there with a name.
  await stack.publisher.publish({ events: [{ ...bad, id: 'later' }] });
  await waitFor(async () => expect(await letters()).toBe(3), 'another dead letter');
  await untilRead();
  expect(placesOf(await keptMessages(stack.nats.url), PERSONAL)).toEqual([]);
});

it('takes a customer out of events by reference and attribute, and knows nobody afterwards', async () => {
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

it('counts an order once whose customer was erased, then its journey', async () => {
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

it('does not bring back what another replica is taking out of the same row', async () => {
  const account = anAccountId();
  const [, , , , link] = eventsOf(account, NAME);
  await stack.publisher.events(link!);
  await untilStored(account, 1);
  const other = new pg.Client({ connectionString: stack.database.url });
  open.push({ close: () => other.end() });
  await other.connect();
  await other.query('begin');
  await other.query(
    `update tracking_events set journey_id = 'erased-1', reference = null where account_id = $1`,
    [account],
  );
  const erased = erase({ account, kind: 'customer_id', value: MAIL });
  await waitFor(async () => {
    const waiting = await stack.database.query(
      `select from pg_stat_activity
       where datname = current_database() and application_name = 'analytics-query-upkeep' and state = 'active'
         and clock_timestamp() - query_start > interval '0.3 s'`,
    );
    expect(waiting).toHaveLength(1);
  }, 'an erasure that waits');
  await other.query('commit');
  await erased;
  expect((await stored(account)).map((row) => row.journey_id)).toEqual(['erased-1']);
});

it('leaves those alone who came without a journey', async () => {
  const account = anAccountId();
  const nobody = deriveJourneyId('spring');
  await stack.publisher.events(...eventsOf(account, nobody).slice(0, 3));
  await untilStored(account, 3);
  await erase(journeyOf(account, nobody));
  await stack.publisher.events(...eventsOf(account, nobody).slice(0, 2));
  await untilStored(account, 5);
  expect(new Set((await stored(account)).map((row) => row.journey_id))).toEqual(new Set([nobody]));
});

it('is done by whichever replica is asked, with old and new keys', async () => {
  const account = anAccountId();
  await stack.publisher.events(...eventsOf(account, NAME));
  await untilStored(account, 5);
  const erasure = await begin(journeyOf(account));
  expect((await begin(journeyOf(account))).standIn).toBe(erasure.standIn);
  await erase(journeyOf(account));
  await stack.app.close();
  const rotated = await launchAnalytics(stack.database, stack.nats, {
    ERASURE_KEYS: `k2:${Buffer.alloc(32, 7).toString('base64url')},${testSecrets().erasureKeys}`,
  });
  open.push(rotated);
  expect((await begin(journeyOf(account))).standIn).toBe(erasure.standIn);
  const [, late, again] = eventsOf(account, NAME);
  await stack.publisher.events(late!, again!);
  await untilStored(account, 6);
  await untilRead();
  expect(new Set((await stored(account)).map((row) => row.journey_id))).toEqual(new Set([erasure.standIn]));
  expect(await traces()).toEqual([]);
});
