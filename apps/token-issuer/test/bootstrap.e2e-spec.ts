import { http, testNats, type LaunchedApp, type TestDatabase, type TestNats } from '@perkway/testing';
import { launchTokenIssuer, tokenIssuerDatabase } from './launch';

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

  it('becomes the one ADMIN key when replicas start together', async () => {
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

  it('is not looked at once there has been an ADMIN key, even a revoked one', async () => {
    const first = await launch('first-admin-key-0');
    const admin = http(first, { key: 'first-admin-key-0' });
    const [{ id }] = (await admin.get('/admin/accounts/platform/keys').expect(200)).body;
    await admin.delete(`/admin/accounts/platform/keys/${id}`).expect(204);
    const second = await launch('second-admin-key-0');
    expect(await status(second, 'first-admin-key-0')).toBe(401);
    expect(await status(second, 'second-admin-key-0')).toBe(401);
    expect(await database.query('select 1 as one from api_keys')).toHaveLength(1);
  });

  it('is stored beside USER keys and into a platform account that exists', async () => {
    await database.query(`insert into accounts (id, name) values ('platform', 'Our own name')`);
    await database.query(
      `insert into api_keys (id, account_id, role, hash) values (gen_random_uuid(), 'platform', 'USER', repeat('0', 64))`,
    );
    const issuer = await launch('first-admin-key-0');
    expect(await status(issuer, 'first-admin-key-0')).toBe(200);
    expect(await database.query('select name from accounts')).toEqual([{ name: 'Our own name' }]);
  });
});
