import { ADVISORY_LOCKS } from '@perkway/domain';
import {
  http,
  runNode,
  testDatabase,
  testNats,
  testSecrets,
  waitFor,
  type LaunchedApp,
  type TestDatabase,
  type TestNats,
} from '@perkway/testing';
import pg from 'pg';
import { ADMIN_KEY, launchTokenIssuer, migrate, tokenIssuerDatabase } from './launch';

describe('BOOTSTRAP_ADMIN_KEY', () => {
  let nats: TestNats;
  let database: TestDatabase;
  const running: LaunchedApp[] = [];
  const launch = async (key: string) => {
    const issuer = await launchTokenIssuer({ database, nats }, { BOOTSTRAP_ADMIN_KEY: key });
    running.push(issuer);
    return issuer;
  };
  const status = async (app: LaunchedApp, key: string) =>
    (await http(app, { key }).get('/admin/accounts/platform/keys')).status;

  beforeAll(async () => {
    nats = await testNats();
  });
  beforeEach(async () => {
    database = await tokenIssuerDatabase();
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((issuer) => issuer.close()));
    await database.close();
  });
  afterAll(() => nats.close());

  it('becomes the only ADMIN key when replicas start together', async () => {
    const keys = Array.from({ length: 4 }, (_, i) => `First-Admin-Key-${i}`);
    const replicas = await Promise.all(keys.map(launch));
    expect(await database.query('select account_id, role from api_keys')).toEqual([
      { account_id: 'platform', role: 'ADMIN' },
    ]);
    const statuses = await Promise.all(keys.map((key) => status(replicas[0]!, key)));
    expect(statuses.sort()).toEqual([200, 401, 401, 401]);
    expect(
      replicas
        .flatMap(({ logs }) => logs)
        .join('')
        .toLowerCase(),
    ).not.toContain('first-admin-key');
  });

  it('is ignored once an ADMIN key has existed, even a revoked one', async () => {
    const first = await launch('first-admin-key-0');
    const admin = http(first, { key: 'first-admin-key-0' });
    const [{ id }] = (await admin.get('/admin/accounts/platform/keys').expect(200)).body;
    await admin.delete(`/admin/accounts/platform/keys/${id}`).expect(204);
    const second = await launch('second-admin-key-0');
    expect(await status(second, 'first-admin-key-0')).toBe(401);
    expect(await status(second, 'second-admin-key-0')).toBe(401);
    expect(await database.query('select 1 as one from api_keys')).toHaveLength(1);
  });

  it('is stored beside USER keys and into an existing platform account', async () => {
    await database.query(`insert into accounts (id, name) values ('platform', 'Our own name')`);
    await database.query(
      `insert into api_keys (id, account_id, role, hash) values (gen_random_uuid(), 'platform', 'USER', repeat('0', 64))`,
    );
    const issuer = await launch('first-admin-key-0');
    expect(await status(issuer, 'first-admin-key-0')).toBe(200);
    expect(await database.query('select name from accounts')).toEqual([{ name: 'Our own name' }]);
  });

  it('is stored before an app that waited for its schema is ready', async () => {
    await database.close();
    database = await testDatabase('token-issuer', async () => undefined, { template: 'token-issuer-empty' });
    const issuer = await launch('first-admin-key-0');
    const locker = new pg.Client(database.url);
    await locker.connect();
    try {
      await locker.query(`select pg_advisory_lock(${ADVISORY_LOCKS.adminKeyBootstrap})`);
      await migrate(database.url);
      await waitFor(() => issuer.logs.join('').includes('the database is available'), 'the schema');
      await http(issuer).get('/readyz').expect(503);
    } finally {
      await locker.end();
    }
    await waitFor(async () => void (await http(issuer).get('/readyz').expect(200)), 'readiness');
    expect(await status(issuer, 'first-admin-key-0')).toBe(200);
  });
});

describe('perkway admin-key', () => {
  let nats: TestNats;
  let database: TestDatabase;
  let issuer: LaunchedApp | undefined;

  beforeAll(async () => {
    [nats, database] = await Promise.all([testNats(), tokenIssuerDatabase()]);
  });
  afterAll(async () => {
    await issuer?.close();
    await Promise.all([database?.close(), nats?.close()]);
  });

  const API_KEY_PEPPER = testSecrets().apiKeyPepper;
  const command = (env: Record<string, string>, ...args: string[]) =>
    runNode(['--import', 'tsx', 'tools/perkway/src/admin-key.ts', ...args], { env });
  const newKey = async (...args: string[]) => {
    const { exitCode, output } = await command({ DATABASE_URL: database.url, API_KEY_PEPPER }, ...args);
    expect({ exitCode, output }).toEqual({
      exitCode: 0,
      output: expect.stringMatching(/^pk_[a-z2-7]{32}\n$/),
    });
    return output.trim();
  };

  it('creates an ADMIN key of the platform, even after all others were revoked', async () => {
    const first = await newKey();
    issuer = await launchTokenIssuer({ database, nats });
    // An ADMIN key has existed, so the one in the environment is not stored.
    await http(issuer, { key: ADMIN_KEY }).get('/admin/accounts/platform/keys').expect(401);
    const [{ id }] = (await http(issuer, { key: first }).get('/admin/accounts/platform/keys').expect(200))
      .body;
    await http(issuer, { key: first }).delete(`/admin/accounts/platform/keys/${id}`).expect(204);

    const second = await newKey('--name', 'After the break-in');
    const { body: keys } = await http(issuer, { key: second })
      .get('/admin/accounts/platform/keys')
      .expect(200);
    expect(keys).toMatchObject([
      { name: 'perkway admin-key', last4: first.slice(-4), revoked_at: expect.any(String) },
      { name: 'After the break-in', last4: second.slice(-4), role: 'ADMIN', revoked_at: null },
    ]);
    const stored = JSON.stringify(await database.query('select * from api_keys'));
    for (const key of [first, second]) expect(stored).not.toContain(key);
  });

  it('says in one sentence what is missing', async () => {
    const empty = await testDatabase('token-issuer', async () => undefined, {
      template: 'token-issuer-empty',
    });
    try {
      for (const [env, args, message] of [
        [{ API_KEY_PEPPER }, [], 'DATABASE_URL is missing. Set the value of token-issuer.\n'],
        [{ DATABASE_URL: database.url }, [], 'API_KEY_PEPPER is missing. Set the value of token-issuer.\n'],
        [
          { DATABASE_URL: empty.url, API_KEY_PEPPER },
          [],
          'The database has no table of keys. Run the migrations of token-issuer first.\n',
        ],
        [
          { DATABASE_URL: database.url, API_KEY_PEPPER },
          ['--name', ''],
          '`--name` must have 1 to 200 characters.\n',
        ],
      ] as const)
        expect(await command(env, ...args)).toEqual({ exitCode: 1, output: message });
    } finally {
      await empty.close();
    }
  });
});
