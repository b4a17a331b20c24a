import { randomUUID } from 'node:crypto';
import { APPS, FLEET } from '@perkway/fleet';
import type { AppName } from '@perkway/domain';
import { operationsOf, type OpenApiDocument, type Operation } from './document.js';
import type { Credential, Target } from './requests.js';
import type { WholeStackFile } from '@perkway/fleet';

/** Ids of resources that requests may change and delete, so that the demo's resources stay. */
const EXPENDABLE = ['fuzz-1', 'fuzz-2', 'fuzz-3'];
const LINKS = 20;
/** Number of each of these to create in the console: link jobs, reports, saved questions, keys. Requests delete most. */
const CONSOLE_RESOURCES = 10;
const TIMEOUT_MS = 15_000;
/** Webhooks may lead to this machine in a local stack, but nothing listens there. */
const UNREACHABLE = 'http://127.0.0.1:1/';

interface Call {
  method?: string;
  headers?: Record<string, string>;
  body?: unknown;
}

async function call(url: string, { method = 'GET', headers = {}, body }: Call = {}): Promise<Response> {
  const isText = typeof body === 'string';
  const response = await fetch(url, {
    method,
    headers: {
      ...(body === undefined ? {} : { 'content-type': isText ? 'text/csv' : 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (!response.ok) throw new Error(`${method} ${new URL(url).pathname} returned ${response.status}`);
  return response;
}

export interface World {
  targets: Map<AppName, Target>;
  urls: Map<AppName, URL>;
  /** The word to print instead of each secret. */
  secrets: Map<string, string>;
}

/** Reads existing ids, creates resources that requests may destroy, gets credentials and signs in to the console. */
export async function learn({ hosts, adminKey, accounts }: WholeStackFile): Promise<World> {
  const urls = new Map(APPS.map((app) => [app, new URL(hosts[FLEET[app].host])]));
  const at = (app: AppName, path: string) => new URL(path, urls.get(app)!).href;
  const as = (key: string) => ({ 'x-api-key': key });
  const admin = async <T>(app: AppName, method: string, path: string, body?: unknown): Promise<T> =>
    (await call(at(app, path), { method, body, headers: as(adminKey) })).json() as Promise<T>;
  const read = async <T>(app: AppName, path: string, headers: Record<string, string>): Promise<T> =>
    (await call(at(app, path), { headers })).json() as Promise<T>;
  const [own, other] = accounts as [WholeStackFile['accounts'][0], WholeStackFile['accounts'][0]];
  const user = as(own.userKey);

  const keyIds: string[] = [];
  for (const account of EXPENDABLE) {
    await admin('token-issuer', 'PUT', `/admin/accounts/${account}`, { name: account });
    for (let made = 0; made < 10; made += 1)
      keyIds.push(
        (
          await admin<{ id: string }>('token-issuer', 'POST', `/admin/accounts/${account}/keys`, {
            role: 'USER',
          })
        ).id,
      );
  }
  const { key: journeyKey } = await admin<{ key: string }>(
    'token-issuer',
    'POST',
    `/admin/accounts/${own.id}/keys`,
    { role: 'JOURNEY' },
  );

  const pool = randomUUID();
  await admin('gift-cards', 'PUT', `/admin/pools/${pool}`, { owner: own.id });
  const cards = Array.from({ length: 2_000 }, () => `${randomUUID()},25,EUR,FR`);
  await admin(
    'gift-cards',
    'POST',
    `/admin/pools/${pool}/cards`,
    ['code,denomination,currency,country', ...cards].join('\n'),
  );
  const loads = await admin<{ id: string }[]>('gift-cards', 'GET', `/admin/pools/${pool}/loads`);
  const begun = await call(at('gift-cards', `/admin/pools/${pool}/withdrawals`), {
    method: 'POST',
    headers: { ...as(adminKey), 'idempotency-key': randomUUID() },
    body: { reason: 'fuzz', batch: 'fuzz', reserved: 'keep' },
  });
  const withdrawal = (await begun.json()) as { id: string };
  const links: { id: string; token: string }[] = [];
  for (let made = 0; made < LINKS; made += 1) {
    const response = await call(
      at('gift-cards', `/pool/${pool}/reward-links?idempotencyKey=${randomUUID()}`),
      {
        method: 'POST',
        headers: { ...user, 'x-created-by': 'fuzz' },
        body: { denomination: 25, currency: 'EUR', expires_at: Math.floor(Date.now() / 1_000) + 3_600 },
      },
    );
    links.push((await response.json()) as { id: string; token: string });
  }

  // Pools that never had a card can be deleted.
  const emptyPools = EXPENDABLE.map(() => randomUUID());
  for (const empty of emptyPools)
    await admin('gift-cards', 'PUT', `/admin/pools/${empty}`, { owner: own.id });

  for (const id of EXPENDABLE) {
    await admin('gift-cards', 'PUT', `/admin/limits/${id}`, {
      owner: own.id,
      links: 1_000_000,
      period: 'day',
    });
    const webhook = { url: UNREACHABLE };
    await call(at('events', `/webhooks/${id}`), { method: 'PUT', headers: user, body: webhook });
  }
  const { data: events } = await read<{ data: { id: string }[] }>('events', '/events?limit=20', user);

  const collection = own.collections[0]!;
  const { perks } = await read<{ perks: { id: string; click_url: string; is_coupon_perk?: boolean }[] }>(
    'perks',
    `/perk-collections/${collection}?show_coupon_perks=true`,
    user,
  );
  const campaign = own.campaigns[0]!;
  const { incentives } = await read<{ incentives: string[] }>('boost', `/campaigns/${campaign}`, user);
  const rewardUrl = await read<string>(
    'boost',
    `/outreach/campaign/${campaign}/reward-url?perkId=${incentives[0]}`,
    user,
  );
  const rewards = await read<{ incentives: { click_url: string }[] }>('boost', `/rewards/${campaign}`, user);
  const { token: analytics } = await read<{ token: string }>('token-issuer', '/cube/token', user);
  const { cubes } = await read<{ cubes: { measures: Named[]; dimensions: Named[]; segments?: Named[] }[] }>(
    'analytics-query',
    '/cubejs-api/v1/meta',
    { authorization: analytics },
  );
  const names = (kind: 'measures' | 'dimensions' | 'segments') =>
    cubes.flatMap((cube) => (cube[kind] ?? []).map(({ name }) => name));
  const consoleUrl = at('console', '/');
  const signIn = async (apiKey: string): Promise<string> => {
    const response = await call(at('console', '/api/session'), {
      method: 'POST',
      headers: { origin: new URL(consoleUrl).origin },
      body: { apiKey },
    });
    return response.headers.get('set-cookie')!.split(';')[0]!;
  };
  const sessions = await Promise.all(
    [own.userKey, adminKey, ...Array<string>(30).fill(own.userKey)].map(signIn),
  );

  const postToConsole = async <T>(path: string, body: unknown): Promise<T> => {
    const response = await call(at('console', path), {
      method: 'POST',
      headers: { cookie: sessions[0]!, origin: new URL(consoleUrl).origin, 'idempotency-key': randomUUID() },
      body,
    });
    return response.json() as Promise<T>;
  };
  const jobIds: string[] = [];
  const reports: { id: string; url: string }[] = [];
  const ownKeyIds: string[] = [];
  const questionIds: string[] = [];
  const today = new Date().toISOString().slice(0, 10);
  for (let made = 0; made < CONSOLE_RESOURCES; made += 1) {
    const job = { poolId: pool, denomination: 25, currency: 'EUR', count: 2 };
    jobIds.push((await postToConsole<{ id: string }>('/api/link-jobs', job)).id);
    const report = {
      campaignId: campaign,
      range: { from: today, to: today },
      title: 'fuzz',
      expiresAt: new Date(Date.now() + 86_400_000).toISOString(),
    };
    reports.push(await postToConsole<{ id: string; url: string }>('/api/reports', report));
    const question = { name: `fuzz ${made}`, question: 'cube=perk_clicks' };
    questionIds.push((await postToConsole<{ id: string }>('/api/saved-questions', question)).id);
    ownKeyIds.push((await postToConsole<{ id: string }>('/api/keys', { role: 'USER' })).id);
  }
  const erasureIds: string[] = [];
  for (const account of EXPENDABLE) {
    const erasure = { journey_id: 'fuzz' };
    const made = await admin<{ id: string }>(
      'token-issuer',
      'POST',
      `/admin/accounts/${account}/erasures`,
      erasure,
    );
    erasureIds.push(made.id);
  }

  const couponPerks = perks.filter((perk) => perk.is_coupon_perk).map(({ id }) => id);
  const inOneHour = Math.floor(Date.now() / 1_000) + 3_600;

  const shared: [string, unknown[]][] = [
    ['member', names('dimensions')],
    ['dimension', names('dimensions').filter((name) => name.endsWith('occurred_at'))],
    ['granularity', ['day', 'hour', 'month', 'quarter']],
    ['dateRange', ['last 7 days', 'today', ['2026-01-01', '2026-01-31'], 'from 6 days ago to now']],
    ['operator', ['equals', 'notEquals', 'contains', 'gt', 'set', 'inDateRange', 'startsWith']],
    ['timezone', ['UTC', 'Europe/Paris', 'America/St_Johns']],
    ['denomination', [25]],
    ['currency', ['EUR']],
    ['country', ['FR']],
    ['expires_at', [inOneHour]],
    ['expiresAt', [new Date(inOneHour * 1_000).toISOString()]],
    ['api_key', [own.userKey, journeyKey]],
    ['apiKey', [own.userKey, adminKey]],
    ['incentives', [incentives]],
    ['role', ['USER', 'ADMIN', 'JOURNEY']],
    ['token', links.map(({ token }) => token)],
  ];
  const known = new Map<string, unknown[]>([
    ...shared,
    ['campaignId', own.campaigns],
    ['collectionId', own.collections],
    ['perkId', [...perks.map(({ id }) => id), ...incentives]],
    ['poolId', [pool, ...own.pools]],
    ['pool_id', [pool, ...own.pools]],
    ['accountId', [own.id, other.id, ...EXPENDABLE]],
    ['clientId', [own.id]],
    ['owner', [own.id]],
    ['linkId', links.map(({ id }) => id)],
    ['loadId', loads.map(({ id }) => id)],
    ['withdrawalId', [withdrawal.id]],
    ['keyId', keyIds],
    ['email', ['fuzz@example.com']],
    ['erasureId', erasureIds],
    ['jobId', jobIds],
    ['reportId', reports.map(({ id }) => id)],
    ['questionId', questionIds],
    ['question', ['cube=perk_clicks&measures=count']],
    ['secret', reports.map(({ url }) => secretOf(url))],
    ['id', [1, 2, 3]],
    ['limitId', EXPENDABLE],
    ['webhookId', EXPENDABLE],
    ['eventId', events.map(({ id }) => id)],
    ['types', ['perk.clicked', 'perk.clicked,reward_link.generated']],
    ['wait', [0, 1]],
    ['from', ['2026-01-01T00:00:00Z']],
    ['month', ['2026-01', today.slice(0, 7)]],
  ]);
  const expendable = new Map<string, unknown[]>([
    ...known,
    ['campaignId', [...EXPENDABLE, ...own.campaigns.slice(1)]],
    ['collectionId', [...EXPENDABLE, ...own.collections.slice(1)]],
    ['perkId', [...EXPENDABLE, ...couponPerks.slice(0, 2)]],
    ['poolId', [pool, ...emptyPools]],
    ['accountId', EXPENDABLE],
    ['id', [101, 102, ...EXPENDABLE]],
    ['categories', [[1], [1, 2]]],
    ['types', [['perk.clicked'], null]],
    ['url', [UNREACHABLE]],
  ]);
  for (const kind of ['measures', 'dimensions', 'segments'] as const) {
    const all = names(kind);
    const some = [...all.map((name) => [name]), all.slice(0, 2), all.slice(-2)];
    known.set(kind, some);
    expendable.set(kind, some);
  }

  const keys: Credential[] = [
    [['x-api-key', own.userKey]],
    [['x-api-key', adminKey]],
    [['x-api-key', other.userKey]],
    [['x-api-key', journeyKey]],
    [['x-api-key', 'nobody-knows-this-key']],
    [['x-api-key', 'é'.repeat(40)]],
    [['authorization', `Bearer ${own.userKey}`]],
    [],
  ];
  const bearer = (scheme: string, token: string): Credential => [['authorization', `${scheme}${token}`]];
  const wrong: Credential[] = [
    bearer('', ''),
    bearer('Bearer ', 'a.b.c'),
    bearer('Basic ', 'YTpi'),
    bearer('Bearer ', `${'a'.repeat(4_000)}`),
    [],
  ];
  const credentialsOf: Partial<Record<AppName, Credential[]>> = {
    'analytics-query': [
      bearer('', analytics),
      bearer('Bearer ', analytics),
      bearer('', `${analytics.slice(0, -2)}xx`),
      bearer('', 'eyJhbGciOiJub25lIn0.eyJhY2NvdW50IjoiYSJ9.'),
      ...wrong,
    ],
    'allocation-page': [
      ...links.map(({ token }) => bearer('Bearer ', token)),
      bearer('Bearer ', `${links[0]!.token}x`),
      ...wrong,
    ],
    links: [[]],
    console: [...asCookies(sessions.slice(0, 2)), [['cookie', 'perkway_session=a']], []],
  };

  const endedBy = { path: '/api/session', credentials: asCookies(sessions.slice(2)) };
  const documents = new Map<AppName, OpenApiDocument>();
  for (const app of APPS) documents.set(app, await read<OpenApiDocument>(app, '/docs-json', {}));
  const targets = new Map(
    APPS.map((app): [AppName, Target] => {
      const document = documents.get(app)!;
      const tokens =
        app === 'links'
          ? perks.map(({ click_url }) => new URL(click_url).pathname.split('/').at(-1)!)
          : app === 'boost'
            ? [rewardUrl, ...rewards.incentives.map(({ click_url }) => click_url)].map(tokenOf)
            : undefined;
      const ofHost = (map: Map<string, unknown[]>) =>
        new Map<string, unknown[]>([
          ...map,
          ...(tokens ? [['token', tokens] as const] : []),
          // In boost, the perk must belong to the campaign.
          ...(app === 'boost' ? [['perkId', incentives] as const] : []),
          // In the console, the key must belong to the session's account.
          ...(app === 'console' ? [['keyId', ownKeyIds] as const] : []),
        ]);
      return [
        app,
        {
          operations: [...operationsOf(document), ...(app === 'console' ? proxied(documents) : [])],
          schemas: document.components?.schemas ?? {},
          known: ofHost(known),
          expendable: ofHost(expendable),
          credentials: credentialsOf[app] ?? keys,
          origin: urls.get(app)!.origin,
          ...(app === 'console' ? { endedBy } : {}),
        },
      ];
    }),
  );
  const secrets = new Map<string, string>([
    [adminKey, '<admin key>'],
    [own.userKey, '<user key>'],
    [other.userKey, '<user key of another account>'],
    [journeyKey, '<journey key>'],
    [analytics, '<analytics token>'],
    [analytics.slice(0, -2), '<analytics token>'],
    ...links.map(({ token }): [string, string] => [token, '<link token>']),
    ...reports.map(({ url }): [string, string] => [secretOf(url), '<secret of a report>']),
    ...sessions.map((cookie): [string, string] => [cookie.split('=')[1]!, '<session>']),
  ]);
  return { targets, urls, secrets };
}

const secretOf = (url: string): string => url.split('#')[1]!;
const tokenOf = (url: string): string => new URL(url).searchParams.get('token') ?? 'none';
const asCookies = (cookies: string[]): Credential[] => cookies.map((cookie) => [['cookie', cookie]]);

interface Named {
  name: string;
}

/** Returns the operations that the console forwards for a session. Other documents describe their responses. */
function proxied(documents: Map<AppName, OpenApiDocument>): Operation[] {
  return (['perks', 'boost', 'gift-cards', 'token-issuer', 'analytics-query', 'events'] as const).flatMap(
    (app) =>
      operationsOf({ paths: documents.get(app)!.paths }).map((operation) => ({
        ...operation,
        name: `${operation.method} /api/${FLEET[app].host}${operation.path}`,
        path: `/api/${FLEET[app].host}${operation.path}`,
        isKeyed: true,
        responses: null,
      })),
  );
}
