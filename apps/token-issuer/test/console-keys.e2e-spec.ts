import { hashApiKey } from '@perkway/auth';
import { OPEN_CONSOLE_KEY } from '@perkway/domain';
import {
  anAccountId,
  asker,
  closeAll,
  http,
  testNats,
  testSecrets,
  waitFor,
  type Asker,
  type LaunchedApp,
  type TestDatabase,
  type TestNats,
} from '@perkway/testing';
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { ADMIN_KEY, launchTokenIssuer, tokenIssuerDatabase } from './launch';

describe('keys of the console', () => {
  let database: TestDatabase;
  let nats: TestNats;
  let issuer: LaunchedApp;
  let console: Asker;

  beforeAll(async () => {
    [database, nats] = await Promise.all([tokenIssuerDatabase(), testNats()]);
    issuer = await launchTokenIssuer({ database, nats }, { DATABASE_POOL_SIZE: '3' });
    console = await asker(nats.url);
  });
  afterAll(() => closeAll(console, issuer, database, nats));

  const aKey = async () => {
    const account = anAccountId();
    const admin = http(issuer, { key: ADMIN_KEY });
    await admin.put(`/admin/accounts/${account}`).send({ name: account }).expect(200);
    const { body } = await admin.post(`/admin/accounts/${account}/keys`).send({ role: 'USER' }).expect(201);
    return { account, id: body.id as string, hash: hashApiKey(testSecrets().apiKeyPepper, body.key) };
  };
  const open = (key: { hash: string }) =>
    console.rpc.ask(OPEN_CONSOLE_KEY, {
      id: randomUUID(),
      hash: hashApiKey(testSecrets().apiKeyPepper, randomUUID()),
      expiresAt: Date.now() + 60_000,
      for: { keyHash: key.hash },
    });

  it('are for nobody whose address only looks like that of a person', async () => {
    const account = anAccountId();
    const admin = http(issuer, { key: ADMIN_KEY });
    await admin.put(`/admin/accounts/${account}`).send({ name: account }).expect(200);
    await admin
      .put(`/admin/accounts/${account}/people/mike@bank.example`)
      .send({ role: 'ADMIN' })
      .expect(200);
    const signIn = (email: string) =>
      console.rpc.ask(OPEN_CONSOLE_KEY, {
        id: randomUUID(),
        hash: hashApiKey(testSecrets().apiKeyPepper, randomUUID()),
        expiresAt: Date.now() + 60_000,
        for: { email },
      });
    expect(await signIn('MIKE@Bank.example')).toMatchObject({ account, role: 'ADMIN' });
    // The Kelvin sign, the small form of which is a k, and what a provider may have let somebody register.
    for (const email of [
      'mi\u212ae@bank.example',
      'm\u0130ke@bank.example',
      'm\u0131ke@bank.example',
      ' mike@bank.example',
    ])
      expect(await signIn(email)).toEqual({ error: 'API_KEY_INVALID' });
  });

  it('may be asked for by many sign-ins with one key, and others go on while those wait', async () => {
    const [contended, other] = [await aKey(), await aKey()];
    const blocker = new pg.Client(database.urls.admin);
    await blocker.connect();
    await blocker.query('begin');
    await blocker.query('select from accounts.api_keys where id = $1 for update', [contended.id]);
    const waiting = Promise.allSettled(Array.from({ length: 20 }, () => open(contended)));
    const waitsForTheLock = () =>
      database.query(
        `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
      );
    try {
      await waitFor(async () => (await waitsForTheLock()).length > 0, 'a sign-in that waits');
      expect(await open(other)).toMatchObject({ account: other.account });
      expect((await http(issuer).get('/readyz')).status).toBe(200);
    } finally {
      await blocker.query('rollback');
      await blocker.end();
    }
    await waiting;
    expect(await open(contended)).toMatchObject({ account: contended.account });
  });
});
