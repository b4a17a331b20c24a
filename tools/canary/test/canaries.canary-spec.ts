import { jetstream } from '@nats-io/jetstream';
import { connectTo, waitFor } from '@perkway/testing';
import { APPS } from '@perkway/fleet';
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { RIGHTS } from '../src/rights.js';
import { search, type Canary, type Found } from '../src/search.js';
import { testRotation } from './rotation.js';
import { canaryText, send, Stack, type Call, type Reply } from './stack.js';

let stack: Stack;
const responses: Found[] = [];
const canaries: Canary[] = [];

/** Registers a canary to search for. */
function plant(kind: string, text: string): string {
  canaries.push({ kind, text });
  return text;
}

const hostOf = (url: string): string | undefined =>
  Object.entries(stack.file.hosts).find(([, base]) => new URL(base).port === new URL(url).port)?.[0];

/** Sends a request. Error responses and pages are searched for canaries; other responses may contain them. */
async function call(url: string, given: Call = {}): Promise<Reply> {
  const reply = await send(url, given);
  const isPage = reply.headers.get('content-type')?.includes('html') ?? false;
  if (reply.status >= 400 || isPage) {
    const head = [...reply.headers].map(([name, value]) => `${name}: ${value}`).join('\n');
    responses.push({
      place: `response ${reply.status} of ${hostOf(url)} to ${given.method ?? 'GET'}`,
      text: `${head}\n${reply.text}`,
    });
  }
  return reply;
}

const expectStatus = (reply: { status: number; text: string }, ...expected: number[]) => {
  if (!expected.includes(reply.status)) throw new Error(`returned ${reply.status}`);
};

beforeAll(async () => {
  stack = await Stack.start();
}, 500_000);
afterAll(() => stack?.close());

/** Personal data of one person, for every field in which a client can send some. */
const person = canaryText('journey');
const name = canaryText('name');
const mail = canaryText('mail');
const order = canaryText('order');
const customer = canaryText('customer');
const PEOPLE = [person, name, mail, order, customer];

let account: Stack['file']['accounts'][number];
let userKey: string;
let pool: string;
let perk: string;
let collection: string;
let campaign: string;

const admin = (
  host: keyof Stack['file']['hosts'],
  path: string,
  method: string,
  body?: string | object,
  type?: string,
) =>
  call(`${stack.file.hosts[host]}${path}`, {
    method,
    body,
    headers: { 'x-api-key': stack.file.adminKey, ...(type ? { 'content-type': type } : {}) },
  });
const asUser = (host: keyof Stack['file']['hosts'], path: string, given: Call = {}) =>
  call(`${stack.file.hosts[host]}${path}`, { ...given, headers: { 'x-api-key': userKey, ...given.headers } });

it('plants keys, cards and personal data in valid and invalid calls', async () => {
  const { hosts, accounts } = stack.file;
  account = accounts.find(({ pools }) => pools.length > 0)!;
  pool = account.pools[0]!;
  for (const secret of stack.ownSecrets()) plant('secret of the stack', secret);
  for (const each of accounts) plant('API key', each.userKey);
  for (const each of PEOPLE) plant('person', each);

  // Keys: imported, generated, wrong.
  const imported = plant('API key', canaryText('key'));
  const made = await admin('token', `/admin/accounts/${account.id}/keys`, 'POST', {
    role: 'USER',
    key: imported,
  });
  expectStatus(made, 201);
  userKey = plant(
    'API key',
    (await admin('token', `/admin/accounts/${account.id}/keys`, 'POST', { role: 'USER' })).json().key,
  );
  const wrong = plant('API key', canaryText('wrong-key'));
  for (const [host, url] of Object.entries(hosts)) {
    for (const key of [userKey, wrong, imported])
      for (const given of <Call[]>[
        { headers: { 'x-api-key': key } },
        { headers: { authorization: `Bearer ${key}` } },
        { headers: { authorization: key } },
        { headers: { cookie: `key=${key}` } },
        { method: 'PATCH', headers: { 'x-api-key': key } },
        { method: 'POST', headers: { 'x-api-key': key }, body: `{"key": "${key}", ` },
        { method: 'POST', headers: { 'x-api-key': key }, body: { [key]: key } },
        { method: 'PUT', headers: { 'x-api-key': key, 'content-type': `text/${key}` }, body: key },
      ])
        for (const path of [
          '/',
          '/admin/accounts',
          `/${key}`,
          `/x?api_key=${key}`,
          `/pools?api_key=${key}`,
          `/cube/token?api_key=${key}`,
        ])
          await call(`${url}${path}`, given);
    await call(`${url}/${'%'}zz${host}${wrong}`);
  }
  const keys = await admin('token', `/admin/accounts/${account.id}/keys`, 'POST', {
    role: 'USER',
    key: imported,
  });
  expect(keys.status).toBe(409);

  // Cards: loaded, rejected, duplicated.
  const cards = Array.from({ length: 4 }, () => ({
    code: plant('card code', canaryText('card')),
    pin: plant('card PIN', canaryText('pin')),
    denomination: 7,
    currency: 'EUR',
    country: 'FR',
  }));
  const lines = (rows: object[]) => rows.map((row) => JSON.stringify(row)).join('\n');
  const NDJSON = 'application/x-ndjson';
  expectStatus(await admin('gift', `/admin/pools/${pool}/cards`, 'POST', lines(cards), NDJSON), 200);
  expectStatus(await admin('gift', `/admin/pools/${pool}/cards`, 'POST', lines(cards), NDJSON), 200);
  await admin(
    'gift',
    `/admin/pools/${pool}/cards`,
    'POST',
    `${lines([{ ...cards[0], currency: 'nope' }])}\n{"code": "${cards[1]!.code}", `,
    NDJSON,
  );
  await admin(
    'gift',
    `/admin/pools/${pool}/cards`,
    'POST',
    `code,pin\n${cards[2]!.code},${cards[2]!.pin}`,
    'text/csv',
  );
  await admin('gift', `/admin/pools/${pool}/cards`, 'POST', lines(cards), 'text/plain');

  // Links: created, opened, revealed, cancelled, mistyped.
  const generate = (body: object, key = randomUUID()) =>
    asUser(
      'gift',
      `/pool/${pool}/reward-links?idempotencyKey=${key}&cmeta_name=${name}&utm_content=${name}`,
      {
        method: 'POST',
        headers: { 'x-created-by': 'canary' },
        body,
      },
    );
  const link = { denomination: 7, currency: 'EUR', expires_at: Math.floor(Date.now() / 1000) + 86_400 };
  const named = { ...link, journey_id: person, reference: mail };
  const key = randomUUID();
  const tokens: string[] = [];
  for (const body of [named, named, { ...link, reference: customer }]) {
    const reply = await generate(body);
    expectStatus(reply, 201);
    tokens.push(plant('reward token', reply.json().token));
    if (tokens.length === 3)
      await asUser('gift', `/reward-links/${reply.json().id}/cancel`, { method: 'POST' });
  }
  await generate(named, key);
  expect((await generate(link, key)).status).toBe(409);
  await generate({ ...named, reference: { name: mail } });
  await generate({ ...named, denomination: mail });
  await asUser('gift', `/reward-links?reference=${mail}&journey_id=${person}&limit=${mail}`);
  for (const token of [tokens[0]!, `${tokens[1]!}x`, tokens[1]!.slice(0, -3)])
    for (const [host, path, method] of [
      ['rewards', '/api/reward-link', 'GET'],
      ['rewards', '/api/reward-link', 'PUT'],
      ['rewards', `/api/reward-link?token=${token}`, 'GET'],
      ['rewards', `/%23${token}`, 'GET'],
      ['rewards', `/${token}`, 'GET'],
      ['gift', `/reward-links/${token}`, 'GET'],
      ['console', `/api/session?token=${token}`, 'GET'],
      ['rewards', '/api/reward-link/reveal', 'POST'],
      ['rewards', '/api/reward-link/reveal', 'GET'],
    ] as const)
      await call(`${hosts[host]}${path}`, { method, headers: { authorization: `Bearer ${token}` } });
  for (const body of [`{"token": "${tokens[0]}", `, tokens[0]!])
    await call(`${hosts.rewards}/api/reward-link/reveal`, { method: 'POST', body });

  // Perks: a click, a code for a customer.
  for (const each of account.collections) {
    const { groups } = (await admin('perks', `/admin/perk-collections/${each}`, 'GET')).json();
    for (const { id } of groups.flatMap(({ perks }: { perks: { id: string }[] }) => perks))
      if (!perk && (await admin('perks', `/admin/perks/${id}`, 'GET')).json().is_coupon_perk)
        [perk, collection] = [id, each];
  }
  const codes = Array.from({ length: 3 }, () => plant('coupon code', canaryText('coupon')));
  expectStatus(await admin('perks', `/admin/perks/${perk}/coupon-codes`, 'POST', { codes }), 200);
  await admin('perks', `/admin/perks/${perk}/coupon-codes`, 'POST', { codes: [...codes, 7] });
  const allocate = (body: string | object) =>
    asUser('perks', `/perk-collections/${collection}/perk/${perk}/coupon`, { method: 'POST', body });
  expectStatus(await allocate({ customer_id: customer }), 201);
  await Promise.all(Array.from({ length: 8 }, () => allocate({ customer_id: customer })));
  for (const body of [
    { customer_id: { name: customer } },
    `{"customer_id": "${customer}", `,
    { customer_id: customer.repeat(20) },
  ])
    await allocate(body);
  const tags = `journeyId=${person}&cmeta_name=${name}&utm_content=${name}&cmeta_customer_id=${customer}`;
  const shown = (await asUser('perks', `/perk-collections/${collection}?${tags}`)).text;
  const clicks = [...shown.matchAll(/"(http[^"]+\/c\/([\w.-]+))"/g)];
  const [, clickUrl = '', clickToken = ''] = clicks[0]!;
  plant('click token', clickToken);
  expectStatus(await call(`${clickUrl}?${tags}`), 302);
  await call(`${clickUrl}x?${tags}`);
  await call(`${clickUrl}?${tags}`, { method: 'DELETE' });

  // Campaigns: pixels, clicks, conversions.
  campaign = account.campaigns[0]!;
  const { teaser } = (await asUser('boost', `/outreach/campaign/${campaign}/pixel-urls?${tags}`)).json();
  expectStatus(await call(teaser), 200);
  const rewards = await asUser('boost', `/rewards/${campaign}?${tags}`);
  const outreachUrl = rewards.json().incentives[0].click_url as string;
  plant('click token', new URL(outreachUrl).searchParams.get('token')!);
  expectStatus(await call(outreachUrl), 302);
  await call(`${outreachUrl}x`);
  await call(outreachUrl, { method: 'POST' });
  const track = (body: string | object) =>
    asUser('boost', `/track/${campaign}?${tags}`, { method: 'POST', body });
  expectStatus(
    await track({ event: 'conversion', journeyId: person, value: 5, currency: 'EUR', externalId: order }),
    202,
  );
  for (const body of [
    { event: name },
    { event: 'conversion', journeyId: { name } },
    `{"journeyId": "${person}", `,
    { event: 'conversion', perkId: name },
  ])
    await track(body);

  // Analytics: a token, valid and invalid.
  const jwt = plant('analytics token', (await asUser('token', '/cube/token')).json().token);
  for (const authorization of [`Bearer ${jwt}`, `${jwt}x`])
    await call(`${hosts.query}/cubejs-api/v1/meta`, { headers: { authorization } });
  for (const query of [
    `{"measures": ["${person}.count"]}`,
    `{"filters": "${person}", `,
    `{"measures": ["perk_clicks.count"], "timezone": "${name}"}`,
  ])
    await call(`${hosts.query}/cubejs-api/v1/load?token=${jwt}&query=${encodeURIComponent(query)}`, {
      headers: { authorization: jwt },
    });

  // Console: a sign-in, failed sign-ins, a job.
  const origin = hosts.console;
  const session = (apiKey: unknown, from = origin) =>
    call(`${origin}/api/session`, { method: 'POST', headers: { origin: from }, body: { apiKey } as object });
  for (const apiKey of [wrong, { key: userKey }, `${userKey} `]) await session(apiKey);
  await session(userKey, 'https://elsewhere.example');
  const signedIn = await session(userKey);
  expectStatus(signedIn, 200);
  const cookie = signedIn.headers.get('set-cookie')!.split(';')[0]!;
  plant('session', cookie.split('=')[1]!);
  const page = (path: string, given: Call = {}) =>
    call(`${origin}${path}`, { ...given, headers: { cookie, origin, ...given.headers } });
  await call(`${origin}/api/session?session=${cookie}`, { headers: { cookie: `${cookie}x` } });
  const job = await page('/api/link-jobs', {
    method: 'POST',
    headers: { 'idempotency-key': randomUUID() },
    body: { poolId: pool, denomination: 7, currency: 'EUR', references: [customer] },
  });
  expectStatus(job, 202);
  await waitFor(
    async () => (await page(`/api/link-jobs/${job.json().id}`)).json().state === 'done',
    'the job',
    60_000,
  );
  const csv = (await page(`/api/link-jobs/${job.json().id}/csv`)).text;
  plant('reward token', /#([\w.-]+)/.exec(csv)![1]!);
  await page('/api/link-jobs', {
    method: 'POST',
    headers: { 'idempotency-key': mail },
    body: { references: [customer] },
  });

  // A dead letter.
  const connection = await connectTo(stack.file.natsUrl);
  const bad = {
    v: 1,
    id: randomUUID(),
    at: Date.now(),
    account: account.id,
    type: 'perk_click',
    collection,
    perk: 'no id!',
    journey: person,
    cmeta: { name },
  };
  await jetstream(connection).publish('tracking.links', JSON.stringify({ events: [bad] }));
  await connection.close();
  await waitFor(async () => (await eventsOf(person)) >= 6, 'the events of the person', 30_000);
});

const eventsOf = async (journey: string): Promise<number> =>
  (
    await stack.query<{ n: number }>(
      'select count(*)::int as n from analytics.tracking_events where account_id = $1 and journey_id = $2',
      [account.id, journey],
    )
  )[0]!.n;

it('finds the planted texts only in places with a right to them', async () => {
  const found = await stack.leftBehind();
  // The search must cover the logs, the tables, the dead letters and the responses.
  for (const app of APPS)
    expect(
      found.some(({ place, text }) => place.startsWith('log') && place.includes(app) && text.length > 0),
    ).toBe(true);
  for (const place of ['gift_cards.cards', 'accounts.api_keys', 'console.audit_outcomes', 'TRACKING_DEAD'])
    expect(found.some((each) => each.place === place)).toBe(true);
  expect(responses.length).toBeGreaterThan(300);
  expect(search([...found, ...responses], canaries, RIGHTS)).toEqual([]);
});

const totals = async () => {
  const { token } = (await asUser('token', '/cube/token')).json();
  const load = async (query: object) =>
    (
      await call(`${stack.file.hosts.query}/cubejs-api/v1/load`, {
        method: 'POST',
        headers: { authorization: token },
        body: { query },
      })
    ).json().data;
  const counts: Record<string, unknown> = {};
  for (const cube of ['perk_clicks', 'teaser_views', 'incentive_clicks', 'conversions', 'reward_links'])
    counts[cube] = await load({ measures: [`${cube}.count`, `${cube}.journeys`] });
  counts.views = await load({ measures: ['perk_views.count'] });
  counts.funnel = await load({
    measures: ['journeys', 'teaser_viewers', 'clickers', 'converters', 'gift_recipients'].map(
      (each) => `campaign_funnel.${each}`,
    ),
    dimensions: ['campaign_funnel.campaign_id'],
  });
  return counts;
};

it('erases the person everywhere without changing totals', async () => {
  const before = await totals();
  // An event that stays in an outbox until the erasure is over.
  const holder = new pg.Client({ connectionString: stack.file.databaseUrl });
  await holder.connect();
  const late = {
    v: 1,
    id: randomUUID(),
    at: Date.now(),
    account: account.id,
    type: 'perk_click',
    collection,
    perk,
    journey: person,
    cmeta: { name },
  };
  await holder.query('begin');
  await holder.query('insert into links.tracking_outbox (event) values ($1)', [JSON.stringify(late)]);

  const erase = async (body: object) => {
    const receipt = await admin('token', `/admin/accounts/${account.id}/erasures`, 'POST', body);
    expectStatus(receipt, 202);
    const path = `/admin/accounts/${account.id}/erasures/${receipt.json().id}`;
    await waitFor(
      async () => (await admin('token', path, 'GET')).json().state === 'done',
      'an erasure',
      120_000,
    );
  };
  await Promise.all([
    erase({ journey_id: person }),
    ...[mail, customer].map((each) => erase({ customer_id: each })),
  ]);
  expect(await totals()).toEqual(before);

  const people = PEOPLE.map((text) => ({ kind: 'person', text }));
  expect(search(await stack.kept(), people, [])).toEqual([]);

  await holder.query('commit');
  await holder.end();
  const clicks = async () =>
    (await stack.query('select from analytics.tracking_events where id = $1', [late.id])).length;
  await waitFor(async () => (await clicks()) === 1, 'the late event', 30_000);
  // The account sends more events of the erased person: the same conversion, which is not counted again, and a view.
  await asUser('boost', `/track/${campaign}?cmeta_name=${name}`, {
    method: 'POST',
    body: { event: 'conversion', journeyId: person, externalId: order },
  });
  await asUser('boost', `/track/${campaign}?cmeta_name=${name}`, {
    method: 'POST',
    body: { event: 'teaser_view', journeyId: person },
  });
  const afterwards = async () => (await totals()).teaser_views;
  await waitFor(
    async () => expect(JSON.stringify(await afterwards())).not.toBe(JSON.stringify(before.teaser_views)),
    'the late view',
    30_000,
  );
  await waitFor(
    async () => expect(search(await stack.kept(), people, [])).toEqual([]),
    'nothing of the person',
    30_000,
  );
  expect((await totals()).conversions).toEqual(before.conversions);
});

// Last, because it restarts the stack and deletes its keys.
describe('rotation', () => testRotation(() => stack));
