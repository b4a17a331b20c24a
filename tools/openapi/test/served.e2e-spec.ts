import { SCOPES, type AppName, type Role, type Scope } from '@perkway/domain';
import { APPS } from '@perkway/fleet';
import { loadEnv, runMigrations } from '@perkway/platform';
import {
  createTrackingStream,
  http,
  launchApp,
  testDatabase,
  testEnvironment,
  testNats,
  testSecrets,
  waitFor,
  type Caller,
  type LaunchedApp,
  type TestDatabase,
  type TestNats,
} from '@perkway/testing';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OpenApiDocument } from '../src/documents';
import { APPS_FOLDER, documentFromSources, sourcesOf } from './sources';
import { routesOf, type Route } from './walk';

// Compares the documented credentials with the guards of all apps. (`launchApp` compares responses with the documents
// in each app's own tests.)

async function databaseOf(app: AppName): Promise<TestDatabase | undefined> {
  const migrations = join(APPS_FOLDER, app, 'src/migrations/index.ts');
  if (!existsSync(migrations)) return undefined;
  const { migrations: all } = await import(migrations);
  return testDatabase(app as Parameters<typeof testDatabase>[0], (url) => runMigrations(url, app, all));
}

/** Operations that a website may call with a public JOURNEY key. All others refuse it. */
const FOR_BROWSERS = new Set([
  'GET /perk-collections',
  'GET /perk-collections/{collectionId}',
  'GET /perk-collections/{collectionId}/perk/{perkId}',
  'GET /perk-collections/{collectionId}/categories',
  'GET /teasers/{campaignId}',
  'GET /rewards/{campaignId}',
  'POST /track/{campaignId}',
]);

describe('the fleet and its documents', () => {
  let nats: TestNats;
  const databases = new Map<AppName, TestDatabase>();
  const apps = new Map<AppName, LaunchedApp>();
  let userKey: string;
  let journeyKey: string;

  beforeAll(async () => {
    nats = await testNats();
    await createTrackingStream(nats.url);
    for (const app of APPS) {
      const database = await databaseOf(app);
      if (database) databases.set(app, database);
      const { defineApp, envSpec } = await sourcesOf(app);
      const variables: Record<string, string> = {
        ...testEnvironment(app, { database, nats }),
        ANALYTICS_ROLES: 'query',
      };
      if (app === 'allocation-page') {
        const { pageFiles } = await import(join(APPS_FOLDER, app, 'test/page-files'));
        variables.ASSETS_FOLDER = pageFiles();
      }
      apps.set(app, await launchApp(defineApp(loadEnv(envSpec, variables) as never)));
    }
    await operator().put('/admin/accounts/a-bank').send({ name: 'A bank' }).expect(200);
    userKey = (await aKey({ role: 'USER' })).key;
    journeyKey = (await aKey({ role: 'JOURNEY' })).key;
  });
  afterAll(async () => {
    const closed = await Promise.allSettled([...apps.values()].map((app) => app.close()));
    await Promise.allSettled([...databases.values(), nats].map((server) => server?.close()));
    expect(closed.flatMap((each) => (each.status === 'rejected' ? [String(each.reason)] : []))).toEqual([]);
  });

  const KEYS = '/admin/accounts/a-bank/keys';
  const operator = () => http(apps.get('token-issuer')!, { key: testSecrets().adminKey });
  const aKey = async (body: { role: Role; scopes?: Scope[] }): Promise<{ id: string; key: string }> =>
    (await operator().post(KEYS).send(body).expect(201)).body;

  const documentOf = async (app: AppName): Promise<OpenApiDocument> =>
    (await http(apps.get(app)!).get('/docs-json')).body as OpenApiDocument;

  const examplePath = ({ path, parameters }: Route): string =>
    path.replace(/\{(\w+)\}/g, (_, name) =>
      String(parameters.find((parameter) => parameter.name === name)!.example),
    );

  /** Sends the parameters that an operation requires, but no body. */
  const send = (app: AppName, route: Route, key?: { header?: string; query?: string }) => {
    const url = new URL(apps.get(app)!.url);
    url.pathname = examplePath(route);
    for (const { name, in: place, required, example } of route.parameters)
      if (place === 'query' && required) url.searchParams.set(name, String(example));
    if (key?.query) url.searchParams.set('api_key', key.query);
    const caller: Caller = key?.header ? { key: key.header } : {};
    return http(apps.get(app)!, caller)[route.method.toLowerCase() as 'get'](url.pathname + url.search);
  };

  it.each(APPS)('%s serves the document that is generated from its sources', async (app) => {
    const [served, made] = await Promise.all([documentOf(app), documentFromSources(app)]);
    expect({ ...served, servers: [] }).toEqual(JSON.parse(JSON.stringify({ ...made, servers: [] })));
    expect(served.servers).toEqual([{ url: expect.stringMatching(/^https:\/\/\w+\.perkway\.test$/) }]);
  });

  it.each(APPS)('%s requires a credential where documented', async (app) => {
    for (const route of routesOf(await documentOf(app))) {
      const { status } = await send(app, route);
      expect([route.name, status === 401]).toEqual([route.name, route.security!.length > 0]);
    }
  });

  const keyed = ['perks', 'boost', 'gift-cards', 'token-issuer', 'events'] as const;
  it.each(keyed)(
    '%s accepts a key in the query, refuses roles and reports limits where documented',
    async (app) => {
      for (const route of routesOf(await documentOf(app))) {
        if (route.security!.length === 0) continue;
        const inQuery = await send(app, route, { query: userKey });
        const takesQuery = route.parameters.some(({ name }) => name === 'api_key');
        expect([route.name, inQuery.status !== 401]).toEqual([route.name, takesQuery]);
        const inHeader = await send(app, route, { header: userKey });
        expect([route.name, inHeader.status === 403]).toEqual([route.name, route.path.startsWith('/admin/')]);
        expect([route.name, 'ratelimit-remaining' in inHeader.headers]).toEqual([route.name, true]);
      }
    },
  );

  it.each([...SCOPES.map((scope) => ['USER', scope] as const), ['ADMIN', 'links:create'] as const])(
    'allow a key of role %s with %s alone what the documents name for it, and nothing else',
    async (role, scope) => {
      const { key } = await aKey({ role, scopes: [scope] });
      const table: Record<string, string> = {};
      const expected: Record<string, string> = {};
      for (const app of APPS)
        for (const route of routesOf(await documentOf(app))) {
          const name = `${app}: ${route.name}`;
          const { status, body, text, headers } = await send(app, route, { header: key });
          const code = body.code ?? text;
          table[name] = [401, 403].includes(status) ? `${status} ${code}` : 'allowed';
          const required = route['x-required-scope'];
          const isManagement = route.path.startsWith('/admin/');
          if (!route.security!.some((scheme) => 'apiKey' in scheme))
            // The key is not read here. Sessions and tokens are checked instead.
            expected[name] = code === 'SCOPE_MISSING' ? 'not 403' : table[name];
          else if (required === scope) expected[name] = 'allowed';
          else if (isManagement && role === 'USER') expected[name] = '403 FORBIDDEN';
          else expected[name] = '403 SCOPE_MISSING';
          if (code === 'SCOPE_MISSING')
            expect([name, body.detail ?? headers['perkway-detail']]).toEqual([
              name,
              expect.stringContaining(required ?? 'management'),
            ]);
        }
      expect(table).toEqual(expected);
      expect(Object.values(expected)).toContain('403 SCOPE_MISSING');
      expect(Object.values(expected)).toContain('allowed');
    },
    120_000,
  );

  it('log every management call that is not a read, of every host, whatever its status', async () => {
    const sent: string[] = [];
    const checks: string[] = [];
    for (const app of APPS)
      for (const route of routesOf(await documentOf(app))) {
        if (!route.path.startsWith('/admin/') || route.method === 'GET') continue;
        const { status } = await send(app, route, { header: testSecrets().adminKey });
        const call = `${app}: ${route.method} ${examplePath(route)} ${status}`;
        // The POSTs that change nothing.
        if (route.path.endsWith('/check')) checks.push(call);
        else sent.push(call);
      }
    for (const app of ['perks', 'boost', 'gift-cards', 'token-issuer'])
      expect(sent.join()).toContain(`${app}: `);
    const logged = async () => {
      const rows = await databases.get('console')!.query<{ line: string }>(
        `select case e.host when 'gift' then 'gift-cards' when 'token' then 'token-issuer' else e.host end
           || ': ' || e.action || ' ' || e.path || ' ' || o.status as line
         from audit_entries e join audit_outcomes o on o.entry_id = e.id`,
      );
      return rows.map(({ line }) => line);
    };
    await waitFor(async () => expect(await logged()).toEqual(expect.arrayContaining(sent)), 'the log');
    expect(checks).toHaveLength(2);
    for (const check of checks) expect(await logged()).not.toContain(check);
  });

  it('fail no request of a client that switches to the new key within the overlap', async () => {
    const OVERLAP_S = 4;
    const old = await aKey({ role: 'USER' });
    const reads = [
      ['perks', '/perk-collections'],
      ['boost', '/campaigns'],
      ['gift-cards', '/pools'],
      ['events', '/webhooks'],
      ['token-issuer', '/cube/token'],
    ] as const;
    /** Repeats on 503, as clients do: a busy machine may be too slow to look up a key. */
    const read = async (index: number, key: string): Promise<number> => {
      const [app, path] = reads[index % reads.length]!;
      const { status } = await http(apps.get(app)!, { key }).get(path);
      return status === 503 ? read(index, key) : status;
    };
    let next: { key: string; since: number } | undefined;
    let endsAt = Infinity;
    let isOver = false;
    const statuses: number[] = [];
    /** Uses the old key for some time after the rotation, which is longer for a client with a higher index. */
    const client = async (index: number) => {
      for (let count = index; !isOver; count += 1) {
        const isLate = next && Date.now() - next.since > index * 300;
        const status = await read(count, isLate ? next!.key : old.key);
        // On a busy machine the response may come after the overlap.
        if (status === 200 || Date.now() < endsAt) statuses.push(status);
        // Leaves the processor to other test files.
        await sleep(20);
      }
    };
    const clients = Array.from({ length: 10 }, (_, index) => client(index));
    try {
      const path = `${KEYS}/${old.id}/rotate`;
      endsAt = Date.now() + OVERLAP_S * 1_000;
      const { body } = await operator().post(path).send({ overlap_seconds: OVERLAP_S }).expect(201);
      next = { key: body.key, since: Date.now() };
      await sleep(OVERLAP_S * 1_000);
    } finally {
      isOver = true;
      await Promise.all(clients);
    }
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(statuses.length).toBeGreaterThan(20);
    for (const index of reads.keys()) {
      await waitFor(async () => expect(await read(index, old.key)).toBe(401), 'the end of the old key');
      expect(await read(index, next.key)).toBe(200);
    }
  });

  it.each(keyed)('%s allows a JOURNEY key for browser operations only', async (app) => {
    for (const route of routesOf(await documentOf(app))) {
      if (route.security!.length === 0) continue;
      for (const key of [{ header: journeyKey }, { query: journeyKey }]) {
        const { status } = await send(app, route, key);
        const takesKey = 'header' in key || route.parameters.some(({ name }) => name === 'api_key');
        const refusal = FOR_BROWSERS.has(route.name) ? undefined : takesKey ? 403 : 401;
        expect([route.name, [401, 403].includes(status) ? status : undefined]).toEqual([route.name, refusal]);
      }
    }
  });
});
