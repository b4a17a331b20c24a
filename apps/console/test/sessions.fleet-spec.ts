import { http, untilEarlyInAMinute, waitFor } from '@perkway/testing';
import { randomBytes } from 'node:crypto';
import { ADMIN_KEY, cookieOf, Fleet } from './fleet';

describe('a session', () => {
  const fleet = new Fleet();
  beforeAll(() => fleet.start(['token-issuer']), 120_000);
  afterAll(() => fleet.close());

  const keysOf = (account: string) =>
    fleet.database.query(
      `select id, is_console, revoked_at, expires_at from accounts.api_keys where account_id = $1 order by created_at`,
      [account],
    );

  it('starts with a key, and returns the account and the URLs of the fleet', async () => {
    const { account, keyId, key } = await fleet.anAccount();
    const response = await fleet.page().post('/api/session').send({ apiKey: key.toUpperCase() }).expect(200);
    expect(response.body).toMatchObject({
      accountId: account,
      accountName: `Name of ${account}`,
      role: 'USER',
      keyId,
      person: null,
      hosts: { token: fleet.urls['token-issuer'], console: 'http://console.perkway.test' },
      signIn: { oidc: null },
    });
    expect(Date.parse(response.body.expiresAt) - Date.now()).toBeLessThanOrEqual(12 * 60 * 60_000);
    expect(response.headers['cache-control']).toBe('no-store');
    const again = await fleet.page(cookieOf(response)).get('/api/session').expect(200);
    expect(again.body).toEqual(response.body);
  });

  it('is an HttpOnly, SameSite=Strict cookie and nothing else', async () => {
    const { account, key } = await fleet.anAccount();
    const response = await fleet.page().post('/api/session').send({ apiKey: key }).expect(200);
    const [set] = response.headers['set-cookie'] as unknown as string[];
    expect(set).toMatch(/^perkway_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
    const id = set!.split(/[=;]/)[1]!;
    const stored = JSON.stringify(await fleet.database.query('select * from sessions'));
    expect(stored).not.toContain(id);
    expect(stored.toLowerCase()).not.toContain(key);
    expect(fleet.console.logs.join('')).not.toContain(id);
    expect(fleet.console.logs.join('').toLowerCase()).not.toContain(key);
    expect(response.text.toLowerCase()).not.toContain(key);
    // The key behind the session is not among the listed keys.
    const shown = await fleet.admin('token-issuer').get(`/admin/accounts/${account}/keys`).expect(200);
    expect(shown.body).toHaveLength(1);
    expect(shown.body[0].last_used_at).not.toBeNull();
    expect(await keysOf(account)).toMatchObject([{ is_console: false }, { is_console: true }]);

    const secure = await fleet.launch({ CONSOLE_URL: 'https://console.perkway.test' });
    const overTls = await http(secure, { origin: 'https://console.perkway.test' })
      .post('/api/session')
      .send({ apiKey: key })
      .expect(200);
    expect((overTls.headers['set-cookie'] as unknown as string[])[0]).toMatch(
      /^__Host-perkway_session=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
    );
    expect(overTls.headers['strict-transport-security']).toBeDefined();
    await secure.close();
  });

  it('gets a new id at each sign-in, which ends the previous session', async () => {
    const { account, key } = await fleet.anAccount();
    const first = await fleet.signIn(key);
    const second = cookieOf(await fleet.page(first).post('/api/session').send({ apiKey: key }).expect(200));
    expect(second).not.toBe(first);
    await fleet.page(first).get('/api/session').expect(401);
    await fleet.page(second).get('/api/session').expect(200);
    expect(await keysOf(account)).toMatchObject([
      { revoked_at: null },
      { is_console: true, revoked_at: expect.any(Date) },
      { is_console: true, revoked_at: null },
    ]);
    // No session fixation: a given id is not adopted.
    const planted = `perkway_session=${randomBytes(32).toString('base64url')}`;
    const given = cookieOf(await fleet.page(planted).post('/api/session').send({ apiKey: key }).expect(200));
    expect(given).not.toBe(planted);
  });

  it('ends on every replica when the user signs out', async () => {
    const { key } = await fleet.anAccount();
    const cookie = await fleet.signIn(key);
    const replica = await fleet.launch();
    await fleet.page(cookie, replica).get('/api/session').expect(200);
    const response = await fleet.page(cookie).delete('/api/session').expect(204, '');
    expect((response.headers['set-cookie'] as unknown as string[])[0]).toMatch(
      /^perkway_session=; .*Expires=Thu, 01 Jan 1970/,
    );
    for (const console of [fleet.console, replica]) {
      const { body } = await fleet.page(cookie, console).get('/api/session').expect(401);
      expect(body.code).toBe('SESSION_ENDED');
    }
    await replica.close();
  });

  it('ends within seconds after the key used to sign in is revoked', async () => {
    const { account, keyId, key } = await fleet.anAccount();
    const cookie = await fleet.signIn(key);
    await fleet.page(cookie).get('/api/session').expect(200);
    await fleet.admin('token-issuer').delete(`/admin/accounts/${account}/keys/${keyId}`).expect(204);
    await waitFor(
      async () => void (await fleet.page(cookie).get('/api/session').expect(401)),
      'the end of the session',
    );
    await fleet.page().post('/api/session').send({ apiKey: key }).expect(401);
  });

  it('expires after twelve hours, or after one hour without use', async () => {
    const { key } = await fleet.anAccount();
    for (const [column, time] of [
      ['expires_at', 'now()'],
      ['used_at', "now() - interval '61 minutes'"],
    ]) {
      const cookie = await fleet.signIn(key);
      await fleet.page(cookie).get('/api/session').expect(200);
      await fleet.database.query(`update sessions set ${column} = ${time}`);
      await fleet.page(cookie).get('/api/session').expect(401);
    }
  });

  it('lets an operator view the console of an account and change nothing there', async () => {
    const [mine, other] = [await fleet.anAccount(), await fleet.anAccount()];
    const { body: admin } = await fleet
      .admin('token-issuer')
      .post('/admin/accounts/platform/keys')
      .send({ role: 'ADMIN', name: 'support' })
      .expect(201);
    const operator = fleet.page(await fleet.signIn(admin.key));
    const view = (accountId: string) => operator.post('/api/view').send({ accountId });
    expect((await view('nobody').expect(404)).body.code).toBe('ACCOUNT_NOT_FOUND');
    await fleet
      .page(await fleet.signIn(mine.key))
      .post('/api/view')
      .send({ accountId: other.account })
      .expect(403);

    for (const { account } of [mine, other, mine]) {
      const viewed = { accountId: account, role: 'USER', viewedBy: 'platform' };
      expect((await view(account).expect(200)).body).toMatchObject(viewed);
      expect((await operator.get('/api/session').expect(200)).body).toMatchObject(viewed);
      const { body: keys } = await operator.get('/api/keys').expect(200);
      expect(keys).toHaveLength(1);
      for (const change of [
        operator.post('/api/keys').send({ role: 'USER', name: 'mine' }),
        operator.delete(`/api/keys/${keys[0].id}`),
        operator.post('/api/link-jobs').send({}),
        operator.get('/api/link-jobs/any/csv'),
        operator.put('/api/events/webhooks/mine').send({ url: 'https://shop.example/' }),
      ])
        expect((await change.expect(403)).body.code).toBe('VIEW_READ_ONLY');
      await operator.get('/api/token/admin/accounts').expect(403);
      await view(other.account).expect(403);
      expect((await operator.delete('/api/view').expect(200)).body).toMatchObject({
        accountId: 'platform',
        role: 'ADMIN',
        viewedBy: null,
      });
      await operator.get('/api/token/admin/accounts').expect(200);
    }
    const opened = await fleet.database.query(
      `select role, scopes, revoked_at from accounts.api_keys where account_id = $1 and is_console and scopes is not null`,
      [mine.account],
    );
    const scopes = expect.not.arrayContaining(['links:create']);
    expect(opened).toEqual(Array(2).fill({ role: 'USER', scopes, revoked_at: expect.any(Date) }));
    const { body: log } = await operator.get('/api/audit-log').query({ object: mine.account }).expect(200);
    // Calls made with API keys arrive in the log later, in between.
    const views = log.data.filter(({ path }: { path: string }) => path.endsWith('/view'));
    expect(views).toMatchObject(Array(2).fill({ action: 'POST', actor: 'support', status: 200 }));

    await view(mine.account).expect(200);
    await fleet.admin('token-issuer').delete(`/admin/accounts/platform/keys/${admin.id}`).expect(204);
    await waitFor(async () => void (await operator.get('/api/session').expect(401)), 'the end of the view');
  });

  it('leaves no key behind when an operator starts or ends views at the same time', async () => {
    const accounts = [await fleet.anAccount(), await fleet.anAccount()];
    const operator = fleet.page(await fleet.signIn(ADMIN_KEY));
    const view = (account: string) => operator.post('/api/view').send({ accountId: account });
    const openKeys = async () => {
      const rows = await fleet.database.query(
        `select id from accounts.api_keys
         where account_id = any($1) and is_console and scopes is not null and revoked_at is null`,
        [accounts.map(({ account }) => account)],
      );
      return rows.length;
    };
    for (let round = 0; round < 5; round += 1) {
      const statuses = await Promise.all(
        [...accounts, ...accounts].map(async ({ account }) => (await view(account)).status),
      );
      // A request that comes after the first view is refused, because the session is no longer an operator's.
      expect(statuses).toContain(200);
      expect(statuses.filter((status) => ![200, 403].includes(status))).toEqual([]);
      expect(await openKeys()).toBe(1);
      await Promise.all([operator.delete('/api/view').expect(200), operator.delete('/api/view').expect(200)]);
      expect(await openKeys()).toBe(0);
    }
  });

  it('is refused for all invalid keys and JOURNEY keys with the same error', async () => {
    const journey = await fleet.anAccount('JOURNEY');
    const revoked = await fleet.anAccount();
    const { keyId, account } = revoked;
    await fleet.admin('token-issuer').delete(`/admin/accounts/${account}/keys/${keyId}`).expect(204);
    const behind = `ck_${'0'.repeat(64)}`;
    const responses = [];
    for (const apiKey of [journey.key, revoked.key, 'nonsense', 'a-key-that-nobody-has-made', behind]) {
      const response = await fleet.page().post('/api/session').send({ apiKey }).expect(401);
      expect(response.headers['set-cookie']).toBeUndefined();
      const { requestId: _, ...body } = response.body;
      responses.push(body);
    }
    expect(new Set(responses.map((body) => JSON.stringify(body))).size).toBe(1);
    expect(responses[0]).toMatchObject({ code: 'API_KEY_INVALID' });
    await fleet.page().post('/api/session').send({}).expect(400);
  });

  it('limits failed sign-ins by address, but still accepts a valid key', async () => {
    const { key } = await fleet.anAccount();
    const attacker = (address: string) =>
      http(fleet.console, { origin: 'http://console.perkway.test', 'x-forwarded-for': address });
    const wrong = async (address: string) => {
      const apiKey = `guess-${randomBytes(12).toString('hex')}`;
      return attacker(address).post('/api/session').send({ apiKey });
    };
    await untilEarlyInAMinute();
    const statuses = [];
    for (let i = 0; i < 12; i += 1) statuses.push((await wrong('203.0.113.7')).status);
    expect(statuses.slice(0, 10)).toEqual(Array(10).fill(401));
    expect(statuses.slice(10)).toEqual([429, 429]);
    const refused = await wrong('203.0.113.7');
    expect(refused.body.code).toBe('TOO_MANY_REQUESTS');
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    // A valid key is accepted, and other addresses are not limited.
    await attacker('203.0.113.7').post('/api/session').send({ apiKey: key }).expect(200);
    expect((await wrong('203.0.113.8')).status).toBe(401);
  });

  it('starts with a valid key while the same address keeps sending wrong ones', async () => {
    const { key } = await fleet.anAccount();
    const from = () =>
      http(fleet.console, { origin: 'http://console.perkway.test', 'x-forwarded-for': '203.0.113.9' });
    const send = (apiKey: string) => from().post('/api/session').send({ apiKey });
    const wrong = () => send(`guess-${randomBytes(12).toString('hex')}`);
    let isAttacking = true;
    const attacker = async () => {
      while (isAttacking) await wrong();
    };
    for (let i = 0; i < 12; i += 1) await wrong();
    const attackers = Array.from({ length: 5 }, attacker);
    const statuses = [];
    for (let round = 0; round < 5; round += 1) statuses.push((await send(key)).status);
    isAttacking = false;
    await Promise.all(attackers);
    expect(statuses).toEqual([200, 200, 200, 200, 200]);
  });

  it('is not looked up in the database for an id with a wrong MAC', async () => {
    const cookie = await fleet.signIn((await fleet.anAccount()).key);
    await fleet.database.query('alter table sessions rename to sessions_away');
    try {
      await fleet
        .page(`perkway_session=${randomBytes(32).toString('base64url')}`)
        .get('/api/session')
        .expect(401);
      expect((await fleet.page(cookie).get('/api/session')).status).toBeGreaterThanOrEqual(500);
    } finally {
      await fleet.database.query('alter table sessions_away rename to sessions');
    }
    await fleet.page(cookie).get('/api/session').expect(200);
  });

  it('cannot be started, used or ended by another site', async () => {
    const { key } = await fleet.anAccount();
    const cookie = await fleet.signIn(key);
    const senders: Record<string, string>[] = [
      { cookie },
      { cookie, origin: 'https://evil.example' },
      { cookie, origin: 'null' },
      { cookie, origin: 'http://console.perkway.test.evil.example' },
    ];
    for (const headers of senders) {
      expect((await http(fleet.console, headers).delete('/api/session').expect(403)).body.code).toBe(
        'ORIGIN_FORBIDDEN',
      );
      await http(fleet.console, headers).post('/api/session').send({ apiKey: key }).expect(403);
    }
    await fleet.page(cookie).get('/api/session').expect(200);
  });

  it('does not exist without a cookie, or with an invalid one', async () => {
    for (const cookie of [
      undefined,
      'perkway_session=x',
      'perkway_session=',
      `perkway_session=${'A'.repeat(43)}`,
    ])
      expect((await fleet.page(cookie).get('/api/session').expect(401)).body.code).toBe('SESSION_ENDED');
    await http(fleet.console, { 'x-api-key': ADMIN_KEY }).get('/api/session').expect(401);
  });

  it('serves pages that only run their own scripts', async () => {
    const { headers } = await http(fleet.console).get('/api/sign-in').expect(200, { oidc: null });
    expect(headers['content-security-policy']).toContain("script-src 'self';");
    expect(headers['content-security-policy']).toContain("style-src 'self';");
    expect(headers['content-security-policy']).not.toContain('unsafe');
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
    expect(headers['x-content-type-options']).toBe('nosniff');
    await http(fleet.console).get('/api/nothing').expect(404);
    await http(fleet.console).get('/api/oidc/start').expect(404);
  });
});
