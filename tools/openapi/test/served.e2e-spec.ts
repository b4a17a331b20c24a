import type { AppName } from '@perkway/domain';
import { APPS } from '@perkway/fleet';
import { loadEnv, runMigrations } from '@perkway/platform';
import {
  createTrackingStream,
  launchApp,
  testDatabase,
  testEnvironment,
  testNats,
  testSecrets,
  type LaunchedApp,
  type TestDatabase,
  type TestNats,
} from '@perkway/testing';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { OpenApiDocument } from '../src/documents';
import { APPS_FOLDER, documentFromSources, sourcesOf } from './sources';
import { routesOf, type Route } from './walk';

// What the documents say of credentials, held against what the guards of all apps do. (That answers are as documented,
// the tests of each app check: `launchApp` does so.)

async function databaseOf(app: AppName): Promise<TestDatabase | undefined> {
  const migrations = join(APPS_FOLDER, app, 'src/migrations/index.ts');
  if (!existsSync(migrations)) return undefined;
  const { migrations: all } = await import(migrations);
  return testDatabase(app as Parameters<typeof testDatabase>[0], (url) => runMigrations(url, app, all));
}

describe('the fleet, as its documents say', () => {
  let nats: TestNats;
  const databases: TestDatabase[] = [];
  const apps = new Map<AppName, LaunchedApp>();
  let userKey: string;

  beforeAll(async () => {
    nats = await testNats();
    await createTrackingStream(nats.url);
    for (const app of APPS) {
      const database = await databaseOf(app);
      if (database) databases.push(database);
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
    const issuer = (path: string, method: string, body: object) =>
      fetch(`${apps.get('token-issuer')!.url}${path}`, {
        method,
        headers: { 'x-api-key': testSecrets().adminKey, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    await issuer('/admin/accounts/a-bank', 'PUT', { name: 'A bank' });
    const created = await issuer('/admin/accounts/a-bank/keys', 'POST', { role: 'USER' });
    userKey = ((await created.json()) as { key: string }).key;
  }, 180_000);
  afterAll(async () => {
    const closed = await Promise.allSettled([...apps.values()].map((app) => app.close()));
    await Promise.allSettled([...databases, nats].map((server) => server?.close()));
    expect(closed.flatMap((each) => (each.status === 'rejected' ? [String(each.reason)] : []))).toEqual([]);
  });

  const documentOf = async (app: AppName): Promise<OpenApiDocument> =>
    (await (await fetch(`${apps.get(app)!.url}/docs-json`)).json()) as OpenApiDocument;

  /** Sends what an operation needs by its document, but no body. */
  const send = (
    app: AppName,
    { path, method, parameters }: Route,
    key?: { header?: string; query?: string },
  ) => {
    const url = new URL(apps.get(app)!.url);
    url.pathname = path.replace(/\{(\w+)\}/g, (_, name) =>
      String(parameters.find((parameter) => parameter.name === name)!.example),
    );
    for (const { name, in: place, required, example } of parameters)
      if (place === 'query' && required) url.searchParams.set(name, String(example));
    if (key?.query) url.searchParams.set('api_key', key.query);
    return fetch(url, {
      method,
      redirect: 'manual',
      headers: key?.header ? { 'x-api-key': key.header } : {},
    });
  };

  it.each(APPS)('%s answers the document that is made without it', async (app) => {
    const [served, made] = await Promise.all([documentOf(app), documentFromSources(app)]);
    expect({ ...served, servers: [] }).toEqual(JSON.parse(JSON.stringify({ ...made, servers: [] })));
    expect(served.servers).toEqual([{ url: expect.stringMatching(/^https:\/\/\w+\.perkway\.test$/) }]);
  });

  it.each(APPS)('%s asks for a credential where its document does', async (app) => {
    for (const route of routesOf(await documentOf(app))) {
      const { status } = await send(app, route);
      expect([route.name, status === 401]).toEqual([route.name, route.security!.length > 0]);
    }
  });

  const keyed = ['perks', 'boost', 'gift-cards', 'token-issuer'] as const;
  it.each(keyed)(
    '%s takes the key from the query, refuses roles and tells limits where its document says so',
    async (app) => {
      for (const route of routesOf(await documentOf(app))) {
        if (route.security!.length === 0) continue;
        const inQuery = await send(app, route, { query: userKey });
        const takesQuery = route.parameters.some(({ name }) => name === 'api_key');
        expect([route.name, inQuery.status !== 401]).toEqual([route.name, takesQuery]);
        const inHeader = await send(app, route, { header: userKey });
        expect([route.name, inHeader.status === 403]).toEqual([route.name, route.path.startsWith('/admin/')]);
        expect([route.name, inHeader.headers.has('ratelimit-remaining')]).toEqual([route.name, true]);
      }
    },
  );
});
