import { hashApiKey } from '@perkway/auth';
import { REPORT_KEY_USES, RESOLVE_KEYS } from '@perkway/domain';
import {
  closeAll,
  http,
  anAccountId,
  rpcCaller,
  testNats,
  testSecrets,
  waitFor,
  type LaunchedApp,
  type TestDatabase,
  type TestNats,
} from '@perkway/testing';
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ADMIN_KEY, launchTokenIssuer, tokenIssuerDatabase } from './launch';

const aKeyText = () => `Some-Key_${randomBytes(8).toString('hex')}`;

describe('API keys', () => {
  let database: TestDatabase;
  let nats: TestNats;
  let issuer: LaunchedApp;
  let replica: LaunchedApp;
  let admin: ReturnType<typeof http>;

  beforeAll(async () => {
    [database, nats] = await Promise.all([tokenIssuerDatabase(), testNats()]);
    issuer = await launchTokenIssuer({ database, nats });
    replica = await launchTokenIssuer({ database, nats });
    admin = http(issuer, { key: ADMIN_KEY });
  });
  afterAll(() => closeAll(issuer, replica, database, nats));

  const anAccount = async () => {
    const id = anAccountId();
    await admin.put(`/admin/accounts/${id}`).send({ name: id }).expect(200);
    return id;
  };
  const create = (account: string, body: string | object) =>
    admin.post(`/admin/accounts/${account}/keys`).send(body);
  const token = (key: string, of = issuer) => http(of, { key }).get('/cube/token');

  it('of role JOURNEY are created and listed like others, and get no token', async () => {
    const account = await anAccount();
    const { body } = await create(account, { role: 'JOURNEY', name: 'Our site' }).expect(201);
    expect(body).toMatchObject({ role: 'JOURNEY', name: 'Our site' });
    expect((await admin.get(`/admin/accounts/${account}/keys`)).body).toMatchObject([{ role: 'JOURNEY' }]);
    expect((await token(body.key).expect(403)).body.code).toBe('FORBIDDEN');
  });

  it('are created with 160 random bits in lower case, shown once, and work in any case', async () => {
    const account = await anAccount();
    const response = await create(account, { role: 'USER', name: 'Web shop' }).expect(201);
    expect(response.headers['cache-control']).toBe('no-store');
    const { id, key, role, name, created_at } = response.body;
    expect(key).toMatch(/^pk_[a-z2-7]{32}$/);
    expect({ role, name }).toEqual({ role: 'USER', name: 'Web shop' });
    expect(Math.abs(Date.parse(created_at) - Date.now())).toBeLessThan(60_000);
    const list = await admin.get(`/admin/accounts/${account}/keys`).expect(200);
    expect(list.body).toEqual([
      {
        id,
        role: 'USER',
        name: 'Web shop',
        last4: key.slice(-4),
        created_at,
        last_used_at: null,
        revoked_at: null,
        scopes: null,
        expires_at: null,
        rotated_to: null,
        counted_as: id,
      },
    ]);
    expect(list.text).not.toContain(key.slice(0, -4));
    expect(await database.query('select hash from api_keys where id = $1', [id])).toEqual([
      { hash: hashApiKey(testSecrets().apiKeyPepper, key) },
    ]);
    await token(key).expect(200);
    await token(key.toUpperCase()).expect(200);
    const other = await create(account, { role: 'USER' }).expect(201);
    expect(other.body.key).not.toBe(key);
  });

  it('are imported unchanged, and only once, whatever their case and account', async () => {
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
    await admin.get(`/admin/accounts/${another}/keys`).expect(200, []);
  });

  it('are imported once when many requests try at the same time', async () => {
    const accounts = await Promise.all(Array.from({ length: 4 }, anAccount));
    const key = aKeyText();
    const responses = await Promise.all(
      Array.from({ length: 16 }, (_, i) =>
        http(i % 2 ? issuer : replica, { key: ADMIN_KEY })
          .post(`/admin/accounts/${accounts[i % 4]}/keys`)
          .send({ role: 'USER', key: i % 3 ? key : key.toUpperCase() }),
      ),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([201, ...Array(15).fill(409)]);
    const hash = hashApiKey(testSecrets().apiKeyPepper, key);
    expect(await database.query('select 1 as one from api_keys where hash = $1', [hash])).toHaveLength(1);
  });

  it('work here at once, even if they were cached as unknown', async () => {
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
    ['scope', { role: 'USER', scope: ['links:create'] }],
    ['scopes', { role: 'USER', scopes: [] }],
    ['scopes', { role: 'USER', scopes: 'links:create' }],
    ['scopes', { role: 'USER', scopes: ['links:create', 's3cret:read'] }],
    ['scopes', { role: 'USER', scopes: ['links:create', 'links:create'] }],
    ['scopes', { role: 'USER', scopes: [null] }],
    ['expires_at', { role: 'USER', expires_at: '2026-01-01T00:00:00Z' }],
    ['expires_at', { role: 'USER', expires_at: '2099-02-30T00:00:00Z' }],
    ['expires_at', { role: 'USER', expires_at: '2099-W01-1T00:00:00Z' }],
    ['expires_at', { role: 'USER', expires_at: '2099-01-01T00:00:00' }],
    ['expires_at', { role: 'USER', expires_at: '+275760-09-13T00:00:00Z' }],
    ['expires_at', { role: 'USER', expires_at: 4_102_444_800 }],
  ])('are rejected with an invalid %s, without repeating it', async (field, body) => {
    const { body: problem, text } = await create(await anAccount(), body).expect(400);
    expect(problem).toMatchObject({ code: 'VALIDATION_FAILED', errors: [{ field }] });
    expect(text).not.toMatch(/s[e3]cret/);
  });

  it('belong to existing accounts', async () => {
    const requests = [
      create('nobody', { role: 'USER' }),
      admin.get('/admin/accounts/nobody/keys'),
      admin.delete(`/admin/accounts/nobody/keys/${randomUUID()}`),
    ];
    for (const sent of requests) expect((await sent.expect(404)).body.code).toBe('ACCOUNT_NOT_FOUND');
    await create('bad id', { role: 'USER' }).expect(400);
    // The body is validated before the account is looked up.
    await create('nobody', {}).expect(400);
  });

  it('are rejected everywhere within 5 s after revocation, and at once where it was done', async () => {
    const account = await anAccount();
    const { body } = await create(account, { role: 'USER' }).expect(201);
    await token(body.key).expect(200);
    await token(body.key, replica).expect(200);
    const revokedAt = Date.now();
    await admin.delete(`/admin/accounts/${account}/keys/${body.id}`).expect(204, '');
    await token(body.key).expect(401);
    let status: number;
    let sentAt: number;
    do {
      await sleep(20);
      sentAt = Date.now();
      ({ status } = await token(body.key, replica));
      // A busy machine may be too slow to look up the key.
    } while (status === 503 || (status !== 401 && sentAt - revokedAt <= 5_000));
    expect(status).toBe(401);
    const [revoked] = (await admin.get(`/admin/accounts/${account}/keys`).expect(200)).body;
    expect(revoked).toMatchObject({ id: body.id, last4: body.key.slice(-4) });
    expect(Math.abs(Date.parse(revoked.revoked_at) - revokedAt)).toBeLessThan(60_000);
  });

  it('are revoked once, by their own id under their own account', async () => {
    const [account, another] = [await anAccount(), await anAccount()];
    const { body } = await create(account, { role: 'USER' }).expect(201);
    const revoke = (owner: string, id: string) => admin.delete(`/admin/accounts/${owner}/keys/${id}`);
    for (const id of [randomUUID(), 'no-uuid', '%00'])
      expect((await revoke(account, id).expect(404)).body.code).toBe('KEY_NOT_FOUND');
    expect((await revoke(another, body.id).expect(404)).body.code).toBe('KEY_NOT_FOUND');
    await token(body.key).expect(200);
    const responses = await Promise.all(Array.from({ length: 6 }, () => revoke(account, body.id)));
    expect(responses.map(({ status }) => status).sort()).toEqual([204, 404, 404, 404, 404, 404]);
    // Some clients send a content type without a body.
    const { body: next } = await create(account, { role: 'USER' }).expect(201);
    await revoke(account, next.id).set('Content-Type', 'application/json').expect(204);
  });

  it('show their last use to the minute, written at most once a minute', async () => {
    const account = await anAccount();
    const { body } = await create(account, { role: 'USER' }).expect(201);
    const read = async () => (await admin.get(`/admin/accounts/${account}/keys`).expect(200)).body[0];
    const row = () => database.query('select xmin, last_used_at from api_keys where id = $1', [body.id]);
    const minute = () => Math.floor(Date.now() / 60_000) * 60_000;

    const before = minute();
    await token(body.key).expect(200);
    await waitFor(async () => (await read()).last_used_at !== null, 'the use to be recorded', 20_000);
    const usedAt = Date.parse((await read()).last_used_at);
    expect(usedAt % 60_000).toBe(0);
    expect(usedAt).toBeGreaterThanOrEqual(before);
    expect(usedAt).toBeLessThanOrEqual(minute());

    // Another app reports the same minute, and then an older one.
    const written = await row();
    const apps = await rpcCaller(nats.url);
    for (const at of [usedAt, usedAt - 60_000])
      await apps.rpc.request(REPORT_KEY_USES, { minutes: { [body.id]: at / 60_000, 'no-uuid': 1 } });
    expect(await row()).toEqual(written);
    await apps.rpc.request(REPORT_KEY_USES, { minutes: { [body.id]: usedAt / 60_000 + 1 } });
    expect(Date.parse((await read()).last_used_at)).toBe(usedAt + 60_000);
    await apps.close();
  });

  it('may be imported again after revocation, as new keys', async () => {
    const account = await anAccount();
    const key = aKeyText();
    const first = await create(account, { role: 'USER', key }).expect(201);
    await admin.delete(`/admin/accounts/${account}/keys/${first.body.id}`).expect(204);
    const second = await create(account, { role: 'ADMIN', key }).expect(201);
    expect(second.body.id).not.toBe(first.body.id);
    await http(issuer, { key: key }).get(`/admin/accounts/${account}/keys`).expect(200);
  });

  it('are managed with ADMIN keys only', async () => {
    const account = await anAccount();
    const { body } = await create(account, { role: 'USER' }).expect(201);
    const path = `/admin/accounts/${account}/keys`;
    for (const [method, address] of [
      ['post', path],
      ['get', path],
      ['delete', `${path}/${body.id}`],
      ['post', `${path}/${body.id}/rotate`],
      ['get', '/admin/keys'],
    ] as const) {
      expect((await http(issuer, body)[method](address).expect(403)).body.code).toBe('FORBIDDEN');
      expect((await http(issuer)[method](address).expect(401)).body.code).toBe('API_KEY_INVALID');
      await http(issuer)[method](`${address}?api_key=${ADMIN_KEY}`).expect(401);
    }
  });

  it('of all accounts are found by id, name or last characters, page by page', async () => {
    const [mine, other] = [await anAccount(), await anAccount()];
    const mark = randomBytes(6).toString('hex');
    const keys = [];
    for (const account of [mine, other, mine])
      keys.push((await create(account, { role: 'USER', name: `Till ${mark}` }).expect(201)).body);
    await admin.delete(`/admin/accounts/${mine}/keys/${keys[2].id}`).expect(204);
    const find = async (query: object) => (await admin.get('/admin/keys').query(query).expect(200)).body;
    const idsOf = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id);
    const first = await find({ q: `TILL ${mark}`, limit: 2 });
    const second = await find({ q: `TILL ${mark}`, limit: 2, cursor: first.next_cursor });
    expect([...idsOf(first), ...idsOf(second)]).toEqual(keys.map(({ id }) => id).sort());
    expect(second.next_cursor).toBeNull();
    const { key, ...shown } = keys[1];
    expect(await find({ q: shown.id.slice(2, 20) })).toEqual({
      data: [{ ...shown, owner: other }],
      next_cursor: null,
    });
    expect(idsOf(await find({ q: key.slice(-4), owner: other }))).toEqual([shown.id]);
    expect(idsOf(await find({ q: mark, owner: mine }))).toHaveLength(2);
    await admin
      .get('/admin/keys')
      .query({ q: 'x'.repeat(201) })
      .expect(400);
  });

  it('of a chain of rotations are counted as the first one', async () => {
    const account = await anAccount();
    const { body: first } = await create(account, { role: 'USER', scopes: ['links:create'] }).expect(201);
    const { body: second } = await rotate(account, first.id).expect(201);
    const { body: third } = await rotate(account, second.id).expect(201);
    const hash = hashApiKey(testSecrets().apiKeyPepper, third.key);
    const other = await rpcCaller(nats.url);
    try {
      expect(await other.rpc.request(RESOLVE_KEYS, { ids: [hash] })).toEqual({
        [hash]: { keyId: third.id, account, role: 'USER', scopes: ['links:create'], countedAs: first.id },
      });
    } finally {
      await other.close();
    }
  });

  it('are available to the other apps over NATS by hash', async () => {
    const account = await anAccount();
    const { body } = await create(account, { role: 'USER' }).expect(201);
    const hash = hashApiKey(testSecrets().apiKeyPepper, body.key);
    const other = await rpcCaller(nats.url);
    const sendRequest = (ids: string[]) => other.rpc.request(RESOLVE_KEYS, { ids });
    expect(await sendRequest([hash, '0'.repeat(64), 'nonsense'])).toEqual({
      [hash]: { keyId: body.id, account, role: 'USER' },
    });
    expect(await sendRequest([])).toEqual({});
    await other.close();
  });

  it('with scopes may only do what these name, and make no management calls', async () => {
    const account = await anAccount();
    const scopes = ['links:create', 'analytics:read'];
    const { body } = await create(account, { role: 'ADMIN', scopes }).expect(201);
    expect(body.scopes).toEqual(scopes);
    expect((await admin.get(`/admin/accounts/${account}/keys`)).body).toMatchObject([{ scopes }]);
    await token(body.key).expect(200);
    const refused = await http(issuer, body).get(`/admin/accounts/${account}/keys`).expect(403);
    expect(refused.body.code).toBe('SCOPE_MISSING');

    const other = await create(account, { role: 'USER', scopes: ['links:create'] }).expect(201);
    expect((await token(other.body.key).expect(403)).body).toMatchObject({
      code: 'SCOPE_MISSING',
      detail: 'The key does not have the scope analytics:read.',
    });
  });

  it('expire at the given time, in every app', async () => {
    const account = await anAccount();
    /** Returns a key that every app has accepted, which takes longer on a busy machine. */
    const anAcceptedKey = async (ms: number): Promise<{ id: string; key: string; expires_at: string }> => {
      const expires_at = new Date(Date.now() + ms).toISOString();
      const { status, body } = await create(account, { role: 'USER', expires_at });
      if (status === 400 && Date.now() >= Date.parse(expires_at)) return anAcceptedKey(2 * ms);
      expect([status, body.expires_at]).toEqual([201, expires_at]);
      const tokens = await Promise.all([issuer, replica].map((app) => token(body.key, app)));
      if (Date.now() >= Date.parse(expires_at)) return anAcceptedKey(2 * ms);
      expect(tokens.map(({ status }) => status)).toEqual([200, 200]);
      return body;
    };
    const { id, key, expires_at } = await anAcceptedKey(1_000);
    await sleep(Date.parse(expires_at) - Date.now());
    for (const app of [issuer, replica])
      expect((await token(key, app).expect(401)).body.detail).toMatch(/expired/);
    expect((await rotate(account, id).expect(409)).body.code).toBe('KEY_EXPIRED');
  });

  const rotate = (account: string, id: string, body: object = {}) =>
    admin.post(`/admin/accounts/${account}/keys/${id}/rotate`).send(body);

  it('are rotated: the new one is of the same kind, the old one ends after the overlap', async () => {
    const account = await anAccount();
    const expires_at = '2099-01-01T00:00:00.000Z';
    const wanted = { role: 'USER', name: 'Web shop', scopes: ['analytics:read'], expires_at };
    const { body: old } = await create(account, wanted).expect(201);
    await token(old.key).expect(200);
    await token(old.key, replica).expect(200);

    const before = Date.now();
    const response = await rotate(account, old.id, { overlap_seconds: 60 }).expect(201);
    const after = Date.now();
    expect(response.headers['cache-control']).toBe('no-store');
    const next = response.body;
    expect(next).toMatchObject({
      ...wanted,
      last4: next.key.slice(-4),
      counted_as: old.id,
      rotated_to: null,
    });
    const [first, second] = (await admin.get(`/admin/accounts/${account}/keys`).expect(200)).body;
    expect(first).toMatchObject({ id: old.id, rotated_to: next.id, revoked_at: null });
    const endsAt = Date.parse(first.expires_at);
    // Also right if the clocks of the database and of this process differ a little.
    expect(endsAt).toBeGreaterThan(before + 59_000);
    expect(endsAt).toBeLessThan(after + 61_000);
    expect(second).toMatchObject({ id: next.id, expires_at });

    for (const app of [issuer, replica])
      for (const key of [old.key, next.key]) await token(key, app).expect(200);
    // As if the overlap were over.
    await database.query('update api_keys set expires_at = now() where id = $1', [old.id]);
    for (const app of [issuer, replica]) {
      await waitFor(async () => (await token(old.key, app)).status === 401, 'the end of the old key');
      expect((await token(old.key, app).expect(401)).body.detail).toMatch(/expired/);
      await token(next.key, app).expect(200);
    }
  });

  it('are rotated with an overlap of a day unless another one is given, and at once with none', async () => {
    const account = await anAccount();
    const { body: first } = await create(account, { role: 'USER' }).expect(201);
    // A body is optional.
    const { body: second } = await admin
      .post(`/admin/accounts/${account}/keys/${first.id}/rotate`)
      .expect(201);
    const { body: third } = await rotate(account, second.id, { overlap_seconds: 0 }).expect(201);
    expect(third).toMatchObject({ counted_as: first.id, expires_at: null });
    const [{ expires_at }] = (await admin.get(`/admin/accounts/${account}/keys`).expect(200)).body;
    expect(Math.abs(Date.parse(expires_at) - Date.now() - 86_400_000)).toBeLessThan(60_000);
    await token(first.key).expect(200);
    await token(second.key).expect(401);
    await token(third.key).expect(200);
  });

  it('do not live longer by rotation', async () => {
    const account = await anAccount();
    const expires_at = new Date(Date.now() + 3_600_000).toISOString();
    const { body: old } = await create(account, { role: 'USER', expires_at }).expect(201);
    expect((await rotate(account, old.id).expect(201)).body.expires_at).toBe(expires_at);
    const list = (await admin.get(`/admin/accounts/${account}/keys`).expect(200)).body;
    expect(list).toMatchObject([{ expires_at }, { expires_at }]);
  });

  it('make no key that could replace them after they have expired', async () => {
    const [account, client] = [await anAccount(), await anAccount()];
    const expires_at = new Date(Date.now() + 3_600_000).toISOString();
    const { body: brief } = await create(account, { role: 'ADMIN', expires_at }).expect(201);
    const { body: lasting } = await create(client, { role: 'ADMIN' }).expect(201);
    const { body: ofClient } = await create(client, { role: 'USER' }).expect(201);
    const as = http(issuer, { key: brief.key });
    const made = async (of: string, body: object) =>
      (await as.post(`/admin/accounts/${of}/keys`).send(body).expect(201)).body.expires_at;
    const later = new Date(Date.now() + 7_200_000).toISOString();
    const sooner = new Date(Date.now() + 1_800_000).toISOString();
    expect(await made(client, { role: 'ADMIN' })).toBe(expires_at);
    expect(await made(client, { role: 'ADMIN', expires_at: later })).toBe(expires_at);
    expect(await made(client, { role: 'ADMIN', expires_at: sooner })).toBe(sooner);
    expect(await made(account, { role: 'USER' })).toBe(expires_at);
    // Keys of other accounts belong to these, and outlive the operator's key.
    expect(await made(client, { role: 'USER' })).toBeNull();
    const rotateAs = (of: string, id: string) => as.post(`/admin/accounts/${of}/keys/${id}/rotate`).send({});
    expect((await rotateAs(client, lasting.id).expect(403)).body.code).toBe('FORBIDDEN');
    await rotateAs(client, ofClient.id).expect(201);
    expect((await rotateAs(account, brief.id).expect(201)).body.expires_at).toBe(expires_at);
  });

  it('are rotated once, while they are valid, by their own id under their own account', async () => {
    const [account, another] = [await anAccount(), await anAccount()];
    const { body } = await create(account, { role: 'USER' }).expect(201);
    for (const [owner, id] of [
      [account, randomUUID()],
      [account, 'no-uuid'],
      [account, '%00'],
      [another, body.id],
    ] as const)
      expect((await rotate(owner, id).expect(404)).body.code).toBe('KEY_NOT_FOUND');
    expect((await rotate('nobody', body.id).expect(404)).body.code).toBe('ACCOUNT_NOT_FOUND');
    for (const overlap_seconds of [-1, 604_801, 1.5, '60', true])
      expect((await rotate(account, body.id, { overlap_seconds }).expect(400)).body).toMatchObject({
        errors: [{ field: 'overlap_seconds' }],
      });
    expect((await rotate(account, body.id, { overlap: 0 }).expect(400)).body).toMatchObject({
      errors: [{ field: 'overlap' }],
    });
    const responses = await Promise.all(Array.from({ length: 6 }, () => rotate(account, body.id)));
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
    expect(responses.find(({ status }) => status === 409)!.body.code).toBe('KEY_ROTATED');
    const { body: revoked } = await create(account, { role: 'USER' }).expect(201);
    await admin.delete(`/admin/accounts/${account}/keys/${revoked.id}`).expect(204);
    expect((await rotate(account, revoked.id).expect(404)).body.code).toBe('KEY_NOT_FOUND');
  });

  it('appear in no log line', async () => {
    const account = await anAccount();
    const key = aKeyText();
    await create(account, { role: 'USER', key }).expect(201);
    await create(account, { role: 'USER', key }).expect(409);
    const { body } = await create(account, { role: 'USER' }).expect(201);
    const rotated = await rotate(account, body.id).expect(201);
    const issued = await token(body.key).expect(200);
    await http(issuer).get(`/cube/token?api_key=${key}&clientId=${key}`).expect(401);
    await http(issuer).get(`/no/such/place?api_key=${key}`).expect(404);
    const logs = issuer.logs.join('').toLowerCase();
    expect(logs).toContain('/admin/accounts/:accountid/keys');
    for (const secret of [key, body.key, rotated.body.key, ADMIN_KEY, issued.body.token])
      expect(logs).not.toContain(secret.toLowerCase());
  });
});
