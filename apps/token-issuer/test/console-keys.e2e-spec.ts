import { hashApiKey } from '@perkway/auth';
import {
  ADD_ACCOUNT_KEY,
  CLOSE_CONSOLE_KEYS,
  OPEN_CONSOLE_KEY,
  RESOLVE_KEYS,
  ROTATE_ACCOUNT_KEY,
  SCOPES,
  type ConsoleKeyHolder,
  type Role,
} from '@perkway/domain';
import {
  anAccountId,
  rpcCaller,
  closeAll,
  http,
  testNats,
  testSecrets,
  waitFor,
  type RpcCaller,
  type LaunchedApp,
  type TestDatabase,
  type TestNats,
} from '@perkway/testing';
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { ADMIN_KEY, launchTokenIssuer, tokenIssuerDatabase } from './launch';

describe('console keys', () => {
  let database: TestDatabase;
  let nats: TestNats;
  let issuer: LaunchedApp;
  let console: RpcCaller;

  beforeAll(async () => {
    [database, nats] = await Promise.all([tokenIssuerDatabase(), testNats()]);
    issuer = await launchTokenIssuer({ database, nats }, { DATABASE_POOL_SIZE: '3' });
    console = await rpcCaller(nats.url);
  });
  afterAll(() => closeAll(console, issuer, database, nats));

  const aKey = async () => {
    const account = anAccountId();
    const admin = http(issuer, { key: ADMIN_KEY });
    await admin.put(`/admin/accounts/${account}`).send({ name: account }).expect(200);
    const { body } = await admin.post(`/admin/accounts/${account}/keys`).send({ role: 'USER' }).expect(201);
    return { account, id: body.id as string, hash: hashApiKey(pepper, body.key) };
  };
  const pepper = testSecrets().apiKeyPepper;
  const openFor = (holder: ConsoleKeyHolder, id = randomUUID(), secret = randomUUID() as string) =>
    console.rpc.request(OPEN_CONSOLE_KEY, {
      id,
      hash: hashApiKey(pepper, secret),
      expiresAt: Date.now() + 60_000,
      for: holder,
    });
  const open = (key: { hash: string }) => openFor({ keyHash: key.hash });

  it('let an operator view an account, and open nothing further', async () => {
    const { account, hash } = await aKey();
    const [operator, user, viewing] = [randomUUID(), randomUUID(), randomUUID()];
    await openFor({ keyHash: hashApiKey(pepper, ADMIN_KEY) }, operator);
    await openFor({ keyHash: hash }, user);
    const denied = { error: 'API_KEY_INVALID' };
    expect(await openFor({ keyId: user, viewing: account })).toEqual(denied);
    expect(await openFor({ keyId: operator, viewing: anAccountId() })).toEqual({
      error: 'ACCOUNT_NOT_FOUND',
    });
    const key = randomUUID();
    expect(await openFor({ keyId: operator, viewing: account }, viewing, key)).toMatchObject({
      account,
      role: 'USER',
    });
    const found = await console.rpc.request(RESOLVE_KEYS, { ids: [hashApiKey(pepper, key)] });
    const scopes = SCOPES.filter((scope) => !['links:create', 'links:cancel'].includes(scope));
    expect(Object.values(found)).toMatchObject([{ account, role: 'USER', scopes }]);
    expect(await openFor({ keyId: viewing })).toEqual(denied);
    expect(await openFor({ keyId: viewing, viewing: account })).toEqual(denied);
    const made = await console.rpc.request(ADD_ACCOUNT_KEY, {
      account,
      consoleKeyId: viewing,
      id: randomUUID(),
      hash: hashApiKey(pepper, randomUUID()),
      last4: 'abcd',
      role: 'USER',
      name: 'made while viewing',
    });
    expect(made).toEqual({ error: 'FORBIDDEN' });
  });

  it('are refused for an address that only looks like that of a person', async () => {
    const account = anAccountId();
    const admin = http(issuer, { key: ADMIN_KEY });
    await admin.put(`/admin/accounts/${account}`).send({ name: account }).expect(200);
    await admin
      .put(`/admin/accounts/${account}/people/mike@bank.example`)
      .send({ role: 'ADMIN' })
      .expect(200);
    const signIn = (email: string) => openFor({ email });
    expect(await signIn('MIKE@Bank.example')).toMatchObject({ account, role: 'ADMIN' });
    // With the Kelvin sign, whose lower-case form is k. A provider may have let somebody register it.
    for (const email of [
      'mi\u212ae@bank.example',
      'm\u0130ke@bank.example',
      'm\u0131ke@bank.example',
      ' mike@bank.example',
    ])
      expect(await signIn(email)).toEqual({ error: 'API_KEY_INVALID' });
  });

  it('are issued for one sign-in after another with the same key, without blocking other sign-ins', async () => {
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
      await waitFor(async () => (await waitsForTheLock()).length > 0, 'a waiting sign-in');
      expect(await open(other)).toMatchObject({ account: other.account });
      expect((await http(issuer).get('/readyz')).status).toBe(200);
    } finally {
      await blocker.query('rollback');
      await blocker.end();
    }
    await waiting;
    expect(await open(contended)).toMatchObject({ account: contended.account });
  });

  it.each(['session', 'job'] as const)('of a %s are refused once they have expired', async (kind) => {
    const { account, hash } = await aKey();
    const [session, ended] = [randomUUID(), randomUUID()];
    const keys = { session: `console-${session}`, ended: `console-${ended}` };
    await openFor({ keyHash: hash }, session, keys.session);
    await openFor(kind === 'job' ? { keyId: session } : { keyHash: hash }, ended, keys.ended);
    // Before its first use, so that no cache has it.
    await database.query(`update api_keys set expires_at = now() - interval '1 second' where id = $1`, [
      ended,
    ]);
    await http(issuer, { key: keys.ended }).get('/cube/token').expect(401);
    // The console ends a session when its key is not found.
    const ids = [hashApiKey(pepper, keys.ended)];
    expect(await console.rpc.request(RESOLVE_KEYS, { ids })).toEqual({});
    await http(issuer, { key: keys.session }).get('/cube/token').expect(200);
    expect(await openFor({ keyId: ended })).toEqual({ error: 'API_KEY_INVALID' });
    expect(await openFor({ keyId: session })).toMatchObject({ account });
  });

  it('are refused to a key with scopes, because a session can create keys without', async () => {
    const { account } = await aKey();
    const { body } = await http(issuer, { key: ADMIN_KEY })
      .post(`/admin/accounts/${account}/keys`)
      .send({ role: 'USER', scopes: ['links:create'] })
      .expect(201);
    expect(await openFor({ keyHash: hashApiKey(pepper, body.key) })).toEqual({ error: 'API_KEY_INVALID' });
  });

  it.each(['session', 'job'] as const)('of a %s end with a key that expires or is rotated', async (kind) => {
    const { account, id, hash } = await aKey();
    const [session, opened] = [randomUUID(), randomUUID()];
    const secret = `console-${opened}`;
    await openFor({ keyHash: hash }, session);
    await openFor(kind === 'job' ? { keyId: session } : { keyHash: hash }, opened, secret);
    const resolve = async () => {
      const found = await console.rpc.request(RESOLVE_KEYS, { ids: [hashApiKey(pepper, secret)] });
      return Object.values(found)[0]!;
    };
    expect(await resolve()).toMatchObject({ keyId: opened, countedAs: id });
    await http(issuer, { key: ADMIN_KEY })
      .post(`/admin/accounts/${account}/keys/${id}/rotate`)
      .send({ overlap_seconds: 20 })
      .expect(201);
    const [old] = await database.query<{ expires_at: Date }>(
      'select expires_at from api_keys where id = $1',
      [id],
    );
    expect((await resolve()).expiresAt).toBe(old!.expires_at.getTime());
    // A session that begins during the overlap ends with it, too.
    const late = randomUUID();
    await openFor(kind === 'job' ? { keyId: session } : { keyHash: hash }, late);
    expect(await database.query('select expires_at from api_keys where id = $1', [late])).toEqual([old]);
    await database.query(`update api_keys set expires_at = now() where id = $1`, [id]);
    expect(await openFor({ keyHash: hash })).toEqual({ error: 'API_KEY_INVALID' });
  });

  it('rotate a key of their account once, however often the request is repeated', async () => {
    const [mine, others] = [await aKey(), await aKey()];
    const consoleKeyId = randomUUID();
    await openFor({ keyHash: mine.hash }, consoleKeyId);
    const rotate = (keyId: string, account = mine.account, id = randomUUID()) =>
      console.rpc.request(ROTATE_ACCOUNT_KEY, {
        account,
        consoleKeyId,
        keyId,
        id,
        last4: 'abcd',
        overlapSeconds: 60,
        hash: hashApiKey(pepper, `rotated-${id}`),
      });
    expect(await rotate(others.id, others.account)).toEqual({ error: 'FORBIDDEN' });
    expect(await rotate(others.id)).toEqual({ error: 'KEY_NOT_FOUND' });
    const id = randomUUID();
    const made = await rotate(mine.id, mine.account, id);
    expect(made).toMatchObject({ key: { id, last4: 'abcd', counted_as: mine.id } });
    expect(await rotate(mine.id, mine.account, id)).toEqual(made);
    expect(await rotate(mine.id)).toEqual({ error: 'KEY_ROTATED' });
    await http(issuer, { key: `rotated-${id}` })
      .get('/cube/token')
      .expect(200);
  });

  it('make and rotate no key that lives longer than the key that signed in', async () => {
    const { account, id: lasting } = await aKey();
    const admin = http(issuer, { key: ADMIN_KEY });
    const keys = `/admin/accounts/${account}/keys`;
    const expires_at = new Date(Date.now() + 3_600_000).toISOString();
    const { body: brief } = await admin.post(keys).send({ role: 'USER', expires_at }).expect(201);
    const consoleKeyId = randomUUID();
    await openFor({ keyHash: hashApiKey(pepper, brief.key) }, consoleKeyId);
    const request = () => {
      const id = randomUUID();
      return { account, consoleKeyId, id, hash: hashApiKey(pepper, id), last4: 'abcd' };
    };
    const add = async (expiresAt: string | null) => {
      const made = await console.rpc.request(ADD_ACCOUNT_KEY, {
        ...{ ...request(), role: 'USER' as const, name: null, expiresAt },
      });
      return 'key' in made ? made.key.expires_at : made.error;
    };
    const sooner = new Date(Date.now() + 1_800_000).toISOString();
    expect(await add(null)).toBe(expires_at);
    expect(await add(new Date(Date.now() + 7_200_000).toISOString())).toBe(expires_at);
    expect(await add(sooner)).toBe(sooner);
    const rotate = (keyId: string) =>
      console.rpc.request(ROTATE_ACCOUNT_KEY, { ...request(), keyId, overlapSeconds: 60 });
    expect(await rotate(lasting)).toEqual({ error: 'FORBIDDEN' });
    expect(await rotate(brief.id)).toMatchObject({ key: { expires_at } });
    // An operator's session is limited by the key that signed in, not by its own 12 hours.
    const operator = randomUUID();
    const secret = randomUUID();
    await openFor({ keyHash: hashApiKey(pepper, ADMIN_KEY) }, operator, secret);
    const made = await http(issuer, { key: secret }).post(keys).send({ role: 'ADMIN' }).expect(201);
    expect(made.body.expires_at).toBeNull();
    const eve = `/admin/accounts/${account}/people/eve@x.example`;
    await http(issuer, { key: secret }).put(eve).send({ role: 'ADMIN' }).expect(200);
    await admin.delete(eve).expect(204);
    // A session of an operator's key that expires gives no lasting access.
    const body = { role: 'ADMIN', expires_at };
    const { body: briefAdmin } = await admin.post(keys).send(body).expect(201);
    const ofBrief = randomUUID();
    await openFor({ keyHash: hashApiKey(pepper, briefAdmin.key) }, randomUUID(), ofBrief);
    const refused = await http(issuer, { key: ofBrief }).put(eve).send({ role: 'ADMIN' }).expect(403);
    expect(refused.body.code).toBe('KEY_EXPIRES');
  });

  describe('keys that a person makes in the console', () => {
    const admin = () => http(issuer, { key: ADMIN_KEY });
    /** Opens a session of a person or of a key. */
    const signIn = async (holder: ConsoleKeyHolder) => {
      const id = randomUUID();
      expect(await openFor(holder, id)).not.toHaveProperty('error');
      return id;
    };
    const aPerson = async (role: 'USER' | 'ADMIN' = 'USER') => {
      const account = anAccountId();
      const email = `${account}@bank.example`;
      const path = `/admin/accounts/${account}/people/${email}`;
      await admin().put(`/admin/accounts/${account}`).send({ name: account }).expect(200);
      await admin().put(path).send({ role }).expect(200);
      return { account, email, path, consoleKeyId: await signIn({ email }) };
    };
    const add = async (account: string, consoleKeyId: string, role: Role = 'USER') => {
      const key = `made-in-the-console-${randomUUID()}`;
      const hash = hashApiKey(pepper, key);
      const request = {
        account,
        consoleKeyId,
        id: randomUUID(),
        hash,
        last4: key.slice(-4),
        role,
        name: null,
      };
      return { key, hash, reply: await console.rpc.request(ADD_ACCOUNT_KEY, request) };
    };
    const statusOf = async (key: string) => (await http(issuer, { key }).get('/cube/token')).status;
    /** Returns the keys of an account by role. */
    const valid = async (account: string) => {
      const { body } = await admin().get(`/admin/accounts/${account}/keys`).expect(200);
      return (body as { role: Role; revoked_at: string | null }[])
        .filter((key) => key.revoked_at === null)
        .map((key) => key.role);
    };

    it('are revoked when that person is removed, except JOURNEY keys and those of others', async () => {
      const { account, path, consoleKeyId } = await aPerson();
      const made = await add(account, consoleKeyId);
      await add(account, consoleKeyId, 'JOURNEY');
      // Made with the person's own key, so it belongs to the person too.
      const second = await add(account, await signIn({ keyHash: made.hash }));
      await admin().put(`/admin/accounts/${account}/people/other@bank.example`).send({ role: 'USER' });
      const others = await add(account, await signIn({ email: 'other@bank.example', account }));
      for (const { key } of [made, second, others]) expect(await statusOf(key)).toBe(200);

      await admin().delete(path).expect(204);
      for (const { key } of [made, second]) expect(await statusOf(key)).toBe(401);
      expect(await statusOf(others.key)).toBe(200);
      expect(await valid(account)).toEqual(['JOURNEY', 'USER']);
      expect(await openFor({ keyHash: made.hash })).toEqual({ error: 'API_KEY_INVALID' });
    });

    it('are revoked by repeating a removal that was interrupted', async () => {
      const { account, path, consoleKeyId } = await aPerson();
      const made = await add(account, consoleKeyId);
      expect(await statusOf(made.key)).toBe(200);
      await database.query('delete from people where account_id = $1', [account]);
      await admin().delete(path).expect(404);
      expect(await statusOf(made.key)).toBe(401);
      expect(await valid(account)).toEqual([]);
    });

    it("are revoked if they are above the person's new role", async () => {
      const { account, path, consoleKeyId } = await aPerson('ADMIN');
      await add(account, consoleKeyId, 'ADMIN');
      await add(account, consoleKeyId, 'USER');
      await admin().put(path).send({ role: 'ADMIN' }).expect(200);
      expect(await valid(account)).toEqual(['ADMIN', 'USER']);
      await admin().put(path).send({ role: 'USER' }).expect(200);
      expect(await valid(account)).toEqual(['USER']);
    });

    it('are refused to a session that has lost access, and above its role', async () => {
      const { account, path, consoleKeyId } = await aPerson();
      expect((await add(account, consoleKeyId, 'ADMIN')).reply).toEqual({ error: 'FORBIDDEN' });
      const other = await aPerson();
      expect((await add(account, other.consoleKeyId)).reply).toEqual({ error: 'FORBIDDEN' });
      await admin().delete(path).expect(204);
      expect((await add(account, consoleKeyId)).reply).toEqual({ error: 'FORBIDDEN' });
      expect(await valid(account)).toEqual([]);
    });

    it('are revoked even if the person is removed while a key is being made', async () => {
      const { account, path, consoleKeyId } = await aPerson();
      const made = await add(account, consoleKeyId);
      const session = await signIn({ keyHash: made.hash });
      // The removal has no session to end first.
      await console.rpc.request(CLOSE_CONSOLE_KEYS, { ids: [consoleKeyId] });
      const blocker = new pg.Client(database.urls.admin);
      await blocker.connect();
      await blocker.query('begin');
      // The insert, which follows the check of the session's rights, waits here.
      await blocker.query('lock table accounts.api_keys in share mode');
      const waiting = async (statement: string) => {
        const rows = await database.query(
          `select from pg_stat_activity
           where wait_event_type = 'Lock' and datname = current_database() and query ilike $1`,
          [`%${statement}%`],
        );
        return rows.length > 0;
      };
      let work: Promise<unknown>[] = [];
      try {
        work = [add(account, session)];
        await waitFor(() => waiting('insert into api_keys'), 'the key that is being made');
        work.push(admin().delete(path).then());
        await waitFor(() => waiting('update "api_keys"'), 'the removal');
      } finally {
        await blocker.query('rollback');
        await blocker.end();
        await Promise.allSettled(work);
      }
      expect(await valid(account)).toEqual([]);
    });
  });
});
