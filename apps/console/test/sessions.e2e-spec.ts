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

  it('begins with a key and says for whom it is, and where the fleet is', async () => {
    const { account, keyId, key } = await fleet.anAccount();
    const answer = await fleet.page().post('/api/session').send({ apiKey: key.toUpperCase() }).expect(200);
    expect(answer.body).toMatchObject({
      accountId: account,
      accountName: `Name of ${account}`,
      role: 'USER',
      keyId,
      person: null,
      hosts: { token: fleet.urls['token-issuer'], console: 'http://console.perkway.test' },
      signIn: { oidc: null },
    });
    expect(Date.parse(answer.body.expiresAt) - Date.now()).toBeLessThanOrEqual(12 * 60 * 60_000);
    expect(answer.headers['cache-control']).toBe('no-store');
    const again = await fleet.page(cookieOf(answer)).get('/api/session').expect(200);
    expect(again.body).toEqual(answer.body);
  });

  it('is a cookie that no script reads and no other site sends, and nowhere else', async () => {
    const { account, key } = await fleet.anAccount();
    const answer = await fleet.page().post('/api/session').send({ apiKey: key }).expect(200);
    const [set] = answer.headers['set-cookie'] as unknown as string[];
    expect(set).toMatch(/^perkway_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
    const id = set!.split(/[=;]/)[1]!;
    const stored = JSON.stringify(await fleet.database.query('select * from sessions'));
    expect(stored).not.toContain(id);
    expect(stored.toLowerCase()).not.toContain(key);
    expect(fleet.console.logs.join('')).not.toContain(id);
    expect(fleet.console.logs.join('').toLowerCase()).not.toContain(key);
    expect(answer.text.toLowerCase()).not.toContain(key);
    // The key behind it is none of those that people see.
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

  it('is another one after each sign-in, which ends the one before', async () => {
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
    // Nobody can choose an id for somebody else.
    const planted = `perkway_session=${randomBytes(32).toString('base64url')}`;
    const given = cookieOf(await fleet.page(planted).post('/api/session').send({ apiKey: key }).expect(200));
    expect(given).not.toBe(planted);
  });

  it('ends with signing out, on every replica', async () => {
    const { key } = await fleet.anAccount();
    const cookie = await fleet.signIn(key);
    const replica = await fleet.launch();
    await fleet.page(cookie, replica).get('/api/session').expect(200);
    const answer = await fleet.page(cookie).delete('/api/session').expect(204, '');
    expect((answer.headers['set-cookie'] as unknown as string[])[0]).toMatch(
      /^perkway_session=; .*Expires=Thu, 01 Jan 1970/,
    );
    for (const console of [fleet.console, replica]) {
      const { body } = await fleet.page(cookie, console).get('/api/session').expect(401);
      expect(body.code).toBe('SESSION_ENDED');
    }
    await replica.close();
  });

  it('ends within 5 s when the key that somebody signed in with is revoked', async () => {
    const { account, keyId, key } = await fleet.anAccount();
    const cookie = await fleet.signIn(key);
    await fleet.page(cookie).get('/api/session').expect(200);
    await fleet.admin('token-issuer').delete(`/admin/accounts/${account}/keys/${keyId}`).expect(204);
    await waitFor(
      async () => void (await fleet.page(cookie).get('/api/session').expect(401)),
      'the end of the session',
      5_000,
    );
    await fleet.page().post('/api/session').send({ apiKey: key }).expect(401);
  });

  it('ends by time: twelve hours, or one hour unused', async () => {
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

  it('is refused to wrong keys in one way, and to those of browsers', async () => {
    const journey = await fleet.anAccount('JOURNEY');
    const revoked = await fleet.anAccount();
    const { keyId, account } = revoked;
    await fleet.admin('token-issuer').delete(`/admin/accounts/${account}/keys/${keyId}`).expect(204);
    const behind = `ck_${'0'.repeat(64)}`;
    const answers = [];
    for (const apiKey of [journey.key, revoked.key, 'nonsense', 'a-key-that-nobody-has-made', behind]) {
      const answer = await fleet.page().post('/api/session').send({ apiKey }).expect(401);
      expect(answer.headers['set-cookie']).toBeUndefined();
      const { requestId: _, ...body } = answer.body;
      answers.push(body);
    }
    expect(new Set(answers.map((body) => JSON.stringify(body))).size).toBe(1);
    expect(answers[0]).toMatchObject({ code: 'API_KEY_INVALID' });
    await fleet.page().post('/api/session').send({}).expect(400);
  });

  it('is slow to come by for who guesses, and not lost to who has a key', async () => {
    const { key } = await fleet.anAccount();
    const guesser = (address: string) =>
      http(fleet.console, { origin: 'http://console.perkway.test', 'x-forwarded-for': address });
    const wrong = async (address: string) => {
      const apiKey = `guess-${randomBytes(12).toString('hex')}`;
      return guesser(address).post('/api/session').send({ apiKey });
    };
    await untilEarlyInAMinute();
    const statuses = [];
    for (let i = 0; i < 12; i += 1) statuses.push((await wrong('203.0.113.7')).status);
    expect(statuses.slice(0, 10)).toEqual(Array(10).fill(401));
    expect(statuses.slice(10)).toEqual([429, 429]);
    const refused = await wrong('203.0.113.7');
    expect(refused.body.code).toBe('TOO_MANY_REQUESTS');
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    // The right key opens the door, and other addresses know nothing of it.
    await guesser('203.0.113.7').post('/api/session').send({ apiKey: key }).expect(200);
    expect((await wrong('203.0.113.8')).status).toBe(401);
  });

  it('is nothing that another site can begin, use or end', async () => {
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

  it('is none without a cookie, or with somebody else’s idea of one', async () => {
    for (const cookie of [
      undefined,
      'perkway_session=x',
      'perkway_session=',
      `perkway_session=${'A'.repeat(43)}`,
    ])
      expect((await fleet.page(cookie).get('/api/session').expect(401)).body.code).toBe('SESSION_ENDED');
    await http(fleet.console, { 'x-api-key': ADMIN_KEY }).get('/api/session').expect(401);
  });

  it('has pages that run nothing but their own files', async () => {
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
