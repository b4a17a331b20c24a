import { hashApiKey } from '@perkway/auth';
import { RESOLVE_KEYS } from '@perkway/domain';
import { NatsService, RpcClient } from '@perkway/platform';
import {
  anAccountId,
  testNats,
  testSecrets,
  type LaunchedApp,
  type TestDatabase,
  type TestNats,
} from '@perkway/testing';
import { randomBytes, randomUUID } from 'node:crypto';
import { ADMIN_KEY, client, launchTokenIssuer, tokenIssuerDatabase, type Client } from './launch';

const aKeyText = () => `Some-Key_${randomBytes(8).toString('hex')}`;

describe('API keys', () => {
  let database: TestDatabase;
  let nats: TestNats;
  let issuer: LaunchedApp;
  let replica: LaunchedApp;
  let admin: ReturnType<Client['as']>;

  beforeAll(async () => {
    [database, nats] = await Promise.all([tokenIssuerDatabase(), testNats()]);
    issuer = await launchTokenIssuer({ database, nats });
    replica = await launchTokenIssuer({ database, nats });
    admin = client(issuer.url).as(ADMIN_KEY);
  });
  afterAll(async () => {
    await Promise.all([issuer?.close(), replica?.close()]);
    await Promise.all([database?.close(), nats?.close()]);
  });

  const anAccount = async () => {
    const id = anAccountId();
    await admin('put', `/admin/accounts/${id}`).send({ name: id }).expect(200);
    return id;
  };
  const create = (account: string, body: string | object) =>
    admin('post', `/admin/accounts/${account}/keys`).send(body);
  const token = (key: string, url = issuer.url) => client(url).as(key)('get', '/cube/token');

  it('are made with 160 random bits in one case, shown once, and work in any case', async () => {
    const account = await anAccount();
    const response = await create(account, { role: 'USER', name: 'Web shop' }).expect(201);
    expect(response.headers['cache-control']).toBe('no-store');
    const { id, key, role, name, created_at } = response.body;
    expect(key).toMatch(/^pk_[a-z2-7]{32}$/);
    expect({ role, name }).toEqual({ role: 'USER', name: 'Web shop' });
    expect(Math.abs(Date.parse(created_at) - Date.now())).toBeLessThan(60_000);
    await token(key).expect(200);
    await token(key.toUpperCase()).expect(200);

    const list = await admin('get', `/admin/accounts/${account}/keys`).expect(200);
    expect(list.body).toEqual([{ id, role: 'USER', name: 'Web shop', created_at }]);
    expect(list.text).not.toContain(key.slice(-4));
    expect(await database.query('select hash from api_keys where id = $1', [id])).toEqual([
      { hash: hashApiKey(testSecrets().apiKeyPepper, key) },
    ]);
    const other = await create(account, { role: 'USER' }).expect(201);
    expect(other.body.key).not.toBe(key);
  });

  it('are imported as they are, and then only once whatever their case and account', async () => {
    const [account, another] = [await anAccount(), await anAccount()];
    const key = aKeyText();
    const { body } = await create(account, { role: 'ADMIN', key }).expect(201);
    expect(body).toMatchObject({ key, role: 'ADMIN', name: null });
    for (const [owner, again] of [
      [account, key],
      [account, key.toUpperCase()],
      [another, key.toLowerCase()],
    ] as const) {
      const { body: problem } = await create(owner, { role: 'USER', key: again }).expect(409);
      expect(problem.code).toBe('KEY_EXISTS');
      expect(JSON.stringify(problem).toLowerCase()).not.toContain(key.toLowerCase());
    }
    await admin('get', `/admin/accounts/${another}/keys`).expect(200, []);
  });

  it('are imported once when many try at the same moment', async () => {
    const accounts = await Promise.all(Array.from({ length: 4 }, anAccount));
    const key = aKeyText();
    const responses = await Promise.all(
      Array.from({ length: 16 }, (_, i) =>
        client(i % 2 ? issuer.url : replica.url)
          .as(ADMIN_KEY)('post', `/admin/accounts/${accounts[i % 4]}/keys`)
          .send({ role: 'USER', key: i % 3 ? key : key.toUpperCase() }),
      ),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([201, ...Array(15).fill(409)]);
    const hash = hashApiKey(testSecrets().apiKeyPepper, key);
    expect(await database.query('select 1 as one from api_keys where hash = $1', [hash])).toHaveLength(1);
  });

  it('work at once here when they were tried in vain before', async () => {
    const key = aKeyText();
    await token(key).expect(401);
    await create(await anAccount(), { role: 'USER', key }).expect(201);
    await token(key).expect(200);
  });

  it.each<[string, object]>([
    ['role', {}],
    ['role', { role: 'user' }],
    ['role', { role: ['USER'] }],
    ['name', { role: 'USER', name: '' }],
    ['name', { role: 'USER', name: 'a\0b' }],
    ['name', { role: 'USER', name: { a: 1 } }],
    ['key', { role: 'USER', key: 'too-short-secret'.slice(0, 15) }],
    ['key', { role: 'USER', key: 's3cret'.repeat(22) }],
    ['key', { role: 'USER', key: 'secret with spaces in it' }],
    ['key', { role: 'USER', key: 1234567890123456 }],
    ['key', { role: 'USER', key: '' }],
    ['key', { role: 'USER', key: 'secret-0123456789\n' }],
  ])('are refused with a wrong %s, without repeating it', async (field, body) => {
    const { body: problem, text } = await create(await anAccount(), body).expect(400);
    expect(problem).toMatchObject({ code: 'VALIDATION_FAILED', errors: [{ field }] });
    expect(text).not.toMatch(/s[e3]cret/);
  });

  it('belong to accounts that exist', async () => {
    const requests = [
      create('nobody', { role: 'USER' }),
      admin('get', '/admin/accounts/nobody/keys'),
      admin('delete', `/admin/accounts/nobody/keys/${randomUUID()}`),
    ];
    for (const sent of requests) expect((await sent.expect(404)).body.code).toBe('ACCOUNT_NOT_FOUND');
    await create('bad id', { role: 'USER' }).expect(400);
    // A wrong body is judged before the account is looked for.
    await create('nobody', {}).expect(400);
  });

  it('are refused everywhere within 5 s after they were revoked, and at once where that was done', async () => {
    const account = await anAccount();
    const { body } = await create(account, { role: 'USER' }).expect(201);
    await token(body.key).expect(200);
    await token(body.key, replica.url).expect(200);
    await admin('delete', `/admin/accounts/${account}/keys/${body.id}`).expect(204, '');
    const revokedAt = Date.now();
    await token(body.key).expect(401);
    while ((await token(body.key, replica.url)).status === 200) {
      expect(Date.now() - revokedAt).toBeLessThan(5_000);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    await token(body.key, replica.url).expect(401);
    await admin('get', `/admin/accounts/${account}/keys`).expect(200, []);
  });

  it('are revoked once, by their own id under their own account', async () => {
    const [account, another] = [await anAccount(), await anAccount()];
    const { body } = await create(account, { role: 'USER' }).expect(201);
    const revoke = (owner: string, id: string) => admin('delete', `/admin/accounts/${owner}/keys/${id}`);
    for (const id of [randomUUID(), 'no-uuid', '%00'])
      expect((await revoke(account, id).expect(404)).body.code).toBe('KEY_NOT_FOUND');
    expect((await revoke(another, body.id).expect(404)).body.code).toBe('KEY_NOT_FOUND');
    await token(body.key).expect(200);
    const responses = await Promise.all(Array.from({ length: 6 }, () => revoke(account, body.id)));
    expect(responses.map(({ status }) => status).sort()).toEqual([204, 404, 404, 404, 404, 404]);
    // Some clients name the type of a body that they do not send.
    const { body: next } = await create(account, { role: 'USER' }).expect(201);
    await revoke(account, next.id).set('Content-Type', 'application/json').expect(204);
  });

  it('may be imported again after they were revoked, as new ones', async () => {
    const account = await anAccount();
    const key = aKeyText();
    const first = await create(account, { role: 'USER', key }).expect(201);
    await admin('delete', `/admin/accounts/${account}/keys/${first.body.id}`).expect(204);
    const second = await create(account, { role: 'ADMIN', key }).expect(201);
    expect(second.body.id).not.toBe(first.body.id);
    await client(issuer.url).as(key)('get', `/admin/accounts/${account}/keys`).expect(200);
  });

  it('are managed with ADMIN keys only', async () => {
    const account = await anAccount();
    const { body } = await create(account, { role: 'USER' }).expect(201);
    const { as, anonymous } = client(issuer.url);
    const path = `/admin/accounts/${account}/keys`;
    for (const [method, address] of [
      ['post', path],
      ['get', path],
      ['delete', `${path}/${body.id}`],
    ] as const) {
      expect((await as(body.key)(method, address).expect(403)).body.code).toBe('FORBIDDEN');
      expect((await anonymous(method, address).expect(401)).body.code).toBe('API_KEY_INVALID');
      await anonymous(method, `${address}?api_key=${ADMIN_KEY}`).expect(401);
    }
  });

  it('are known to the other apps over NATS as hashes', async () => {
    const account = await anAccount();
    const { body } = await create(account, { role: 'USER' }).expect(201);
    const hash = hashApiKey(testSecrets().apiKeyPepper, body.key);
    await issuer.app.get(NatsService).connected();
    const ask = (ids: string[]) => issuer.app.get(RpcClient).ask(RESOLVE_KEYS, { ids });
    expect(await ask([hash, '0'.repeat(64), 'nonsense'])).toEqual({
      [hash]: { keyId: body.id, account, role: 'USER' },
    });
    expect(await ask([])).toEqual({});
  });

  it('stand in no log line', async () => {
    const account = await anAccount();
    const key = aKeyText();
    await create(account, { role: 'USER', key }).expect(201);
    await create(account, { role: 'USER', key }).expect(409);
    const { body } = await create(account, { role: 'USER' }).expect(201);
    const issued = await token(body.key).expect(200);
    await client(issuer.url).anonymous('get', `/cube/token?api_key=${key}&clientId=${key}`).expect(401);
    await client(issuer.url).anonymous('get', `/no/such/place?api_key=${key}`).expect(404);
    const logs = issuer.logs.join('').toLowerCase();
    expect(logs).toContain('/admin/accounts/:accountid/keys');
    for (const secret of [key, body.key, ADMIN_KEY, issued.body.token])
      expect(logs).not.toContain(secret.toLowerCase());
  });
});
