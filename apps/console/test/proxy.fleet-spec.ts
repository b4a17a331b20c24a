import { http, waitFor } from '@perkway/testing';
import { randomUUID } from 'node:crypto';
import { request as connect } from 'node:http';
import { gzipSync } from 'node:zlib';
import { ADMIN_KEY, CONSOLE, Fleet } from './fleet';

const CARDS = (count: number) =>
  Array.from({ length: count }, () =>
    JSON.stringify({ code: randomUUID(), denomination: 25, currency: 'EUR', country: 'FR' }),
  ).join('\n');

type AuditEntry = { id: string; action: string; path: string; after: { id?: string } | null };

describe('calls to the fleet', () => {
  const fleet = new Fleet();
  let operator: string;
  beforeAll(async () => {
    await fleet.start(['token-issuer', 'perks', 'gift-cards']);
    operator = await fleet.signIn(ADMIN_KEY);
  });
  afterAll(() => fleet.close());

  const aPool = async (owner: string, cards = 2) => {
    const id = randomUUID();
    await fleet.page(operator).put(`/api/gift/admin/pools/${id}`).send({ owner }).expect(200);
    const { body } = await fleet
      .page(operator)
      .post(`/api/gift/admin/pools/${id}/cards`)
      .set('content-type', 'application/x-ndjson')
      .send(CARDS(cards))
      .expect(200);
    expect(body).toMatchObject({ imported: cards, rejected: [] });
    return id;
  };

  /** Entries of the operator's log for these paths. Others arrive at any time: apps hand in theirs with a delay. */
  const logged = async (...paths: string[]) => {
    const { body } = await fleet.page(operator).get('/api/audit-log?limit=200').expect(200);
    return (body.data as AuditEntry[]).filter(({ path }) => paths.includes(path));
  };

  it('use the account of the session, whatever the browser sends', async () => {
    const [mine, others] = [await fleet.anAccount(), await fleet.anAccount()];
    const [my, their] = [await aPool(mine.account), await aPool(others.account)];
    const cookie = await fleet.signIn(mine.key);
    const page = fleet.page(cookie);
    const pools = await page.get('/api/gift/pools').expect(200);
    expect(pools.body.map(({ id }: { id: string }) => id)).toEqual([my]);
    await page.get(`/api/gift/pool/${my}`).expect(200);
    await page.get(`/api/gift/pool/${their}`).expect(404, 'POOL_NOT_FOUND');
    await page.get(`/api/gift/pool/${their}?api_key=${others.key}`).set('x-api-key', others.key).expect(404);
    await page
      .post(`/api/gift/pool/${their}/reward-links?idempotencyKey=${randomUUID()}`)
      .send({ denomination: 25, currency: 'EUR', expires_at: Math.floor(Date.now() / 1000) + 3600 })
      .expect(404);
  });

  it('forecast the stock of the own account only, and that of each pool for operators', async () => {
    const [mine, others] = [await fleet.anAccount(), await fleet.anAccount()];
    const [my, their] = [await aPool(mine.account), await aPool(others.account)];
    const page = fleet.page(await fleet.signIn(mine.key));
    const stockOf = async (caller: typeof page, path: string) => (await caller.get(path).expect(200)).body;
    const value = {
      denomination: 25,
      currency: 'EUR',
      country: 'FR',
      available: 2,
      days_left: null,
      per_day: null,
    };
    const own = [{ pool_id: my, account_id: mine.account, product: null, ...value }];
    expect(await stockOf(page, '/api/stock')).toEqual(own);
    expect(await stockOf(page, `/api/stock?pool_id=${my}`)).toEqual(own);
    expect(await stockOf(page, `/api/stock?pool_id=${their}`)).toEqual([]);
    await page.get('/api/low-stock').expect(403);
    await page.get('/api/low-codes').expect(403);
    await page.get('/api/nearly-used-limits').expect(403);
    const all = fleet.page(operator);
    expect(await stockOf(all, `/api/stock?pool_id=${their}`)).toMatchObject([{ account_id: others.account }]);
    expect(await stockOf(all, '/api/stock?pool_id=x')).toEqual([]);
    const several = `/api/stock?pool_id=${my}&pool_id=${their}&pool_id=x`;
    const both: { pool_id: string }[] = await stockOf(all, several);
    expect(both.map(({ pool_id }) => pool_id).toSorted()).toEqual([my, their].toSorted());
    expect(await stockOf(page, several)).toEqual(own);
    await all.get(`/api/stock?${`pool_id=${my}&`.repeat(101)}`).expect(400);
    const low: { pool_id: string }[] = await stockOf(all, '/api/low-stock');
    expect(low.map(({ pool_id }) => pool_id)).toEqual(expect.arrayContaining([my, their]));
    const perk = `codes-${randomUUID()}`;
    await all
      .put(`/api/perks/admin/perks/${perk}`)
      .send({
        title: 'Two for one',
        description: 'Buy one, get one.',
        callout: '2 for 1',
        redemption_note: 'None',
        details: 'None',
        offer_url: 'https://shop.example/two-for-one',
        offer_slug: 'two-for-one',
        partner: { id: 'shop', name: 'The Shop' },
        categories: [],
        is_coupon_perk: true,
      })
      .expect(200);
    await all
      .post(`/api/perks/admin/perks/${perk}/coupon-codes`)
      .send({ codes: ['A', 'B'] })
      .expect(200);
    expect(await stockOf(all, '/api/low-codes')).toEqual([
      { perk_id: perk, title: 'Two for one', available: 2, days_left: null, per_day: null },
    ]);
  });

  it('create a link in the name of the signed-in user, and cancel it', async () => {
    const { account } = await fleet.anAccount();
    const pool = await aPool(account);
    const { body: named } = await fleet
      .admin('token-issuer')
      .post(`/admin/accounts/${account}/keys`)
      .send({ role: 'USER', name: 'Łukasz 100%' })
      .expect(201);
    const page = fleet.page(await fleet.signIn(named.key));
    const made = await page
      .post(`/api/gift/pool/${pool}/reward-links?idempotencyKey=${randomUUID()}`)
      .set('x-created-by', 'somebody else')
      .send({ denomination: 25, currency: 'EUR', expires_at: Math.floor(Date.now() / 1000) + 3600 })
      .expect(201);
    const { body: links } = await page.get('/api/gift/reward-links').expect(200);
    expect(links.data).toMatchObject([{ id: made.body.id, state: 'RESERVED' }]);
    expect(links.data[0].created_by).toBe('console: Łukasz 100%');
    expect((await page.post(`/api/gift/reward-links/${made.body.id}/cancel`).expect(200)).body.state).toBe(
      'EXPIRED',
    );
    const stored = JSON.stringify([
      await fleet.database.query(
        'select * from audit_entries e left join audit_outcomes o on o.entry_id = e.id',
      ),
      fleet.console.logs,
    ]);
    expect(stored).not.toContain(made.body.token);
  });

  it('are limited to the operations of the table', async () => {
    const { key } = await fleet.anAccount();
    const page = fleet.page(await fleet.signIn(key));
    for (const path of [
      '/api/token/cube/token',
      '/api/token/.well-known/jwks.json',
      '/api/perks/docs-json',
      '/api/gift/metrics',
      '/api/perks/perk-collections/a/../../metrics',
      '/api/perks/perk-collections/%2e%2e',
      '/api/query/livez',
      '/api/links/c/x',
    ])
      expect([path, (await page.get(path)).status]).toEqual([path, 404]);
    expect((await page.get('/api/token/admin/accounts').expect(403)).body.code).toBe('FORBIDDEN');
    await page.put('/api/token/admin/accounts/x').send({ name: 'x' }).expect(403);
    await fleet.page().get('/api/gift/pools').expect(401);
    await http(fleet.console, { 'x-api-key': key }).get('/api/gift/pools').expect(401);
    const { headers } = await page.get('/api/gift/pools').expect(200);
    expect(headers['x-api-key']).toBeUndefined();
  });

  it('are refused with the request id if their URL is too long for the host', async () => {
    const { headers, body } = await fleet
      .page(operator)
      .get(`/api/perks/admin/perks?${'limit=1&'.repeat(1_990)}`)
      .expect(400);
    expect(body).toMatchObject({ code: 'VALIDATION_FAILED', requestId: headers['x-request-id'] });
  });

  it('pass on a response without a body', async () => {
    const { account: owner, key } = await fleet.anAccount();
    const id = randomUUID();
    await fleet
      .page(operator)
      .put(`/api/perks/admin/perk-collections/${id}`)
      .send({ owner, groups: [] })
      .expect(200);
    const page = fleet.page(await fleet.signIn(key));
    const read = () => page.get(`/api/perks/perk-collections/${id}`);
    const { etag } = (await read().expect(200)).headers;
    const { headers } = await read().set('if-none-match', etag!).expect(304);
    expect([headers['content-type'], headers['content-length']]).toEqual([undefined, undefined]);
  });

  it('of operators pass on ETag and If-Match, and are logged', async () => {
    const page = fleet.page(operator);
    const address = '/api/perks/admin/categories/4711';
    const first = await page.put(address).send({ slug: 'travel', name: 'Travel' }).expect(200);
    expect(first.headers.etag).toBeDefined();
    await page.put(address).set('if-match', '"other"').send({ slug: 'travel', name: 'X' }).expect(412);
    await page
      .put(address)
      .set('if-match', first.headers.etag!)
      .send({ slug: 'travel', name: 'Trips' })
      .expect(200);
    const deleted = await page.delete(address).expect(204, '');
    expect(deleted.headers['content-type']).toBeUndefined();
    const log = await logged('/admin/categories/4711');
    expect(log).toMatchObject([
      { action: 'DELETE', status: 204, before: { name: 'Trips' }, after: null },
      { action: 'PUT', status: 200, before: { name: 'Travel' }, after: { name: 'Trips' } },
      { action: 'PUT', status: 412, before: { name: 'Travel' }, after: { refused: 'PRECONDITION_FAILED' } },
      { action: 'PUT', status: 200, before: null, after: { name: 'Travel' }, actor: 'bootstrap' },
    ]);
    expect(log[0]).toMatchObject({ account_id: 'platform', host: 'perks' });
    const newest = await page.get('/api/audit-log?limit=2').expect(200);
    const next = await page.get(`/api/audit-log?limit=2&cursor=${newest.body.next_cursor}`).expect(200);
    const ids = [...newest.body.data, ...next.body.data].map(({ id }: { id: string }) => id);
    expect(new Set(ids).size).toBe(4);
    for (const statement of [
      'delete from audit_entries',
      'update audit_outcomes set status = 1',
      'truncate audit_outcomes',
    ])
      await expect(fleet.database.query(statement)).rejects.toThrow('only ever added to');
  });

  it('that change something are not made unless the audit log has them first', async () => {
    const path = '/admin/categories/816';
    const sent = jest.spyOn(globalThis, 'fetch');
    const put = () =>
      fleet.page(operator).put(`/api/perks${path}`).send({ slug: 'unlogged', name: 'Unlogged' });
    const methods = () =>
      sent.mock.calls.flatMap(([url, init]) => (String(url).includes(path) ? [init?.method] : []));
    await fleet.database.query('alter table audit_entries rename to missing');
    try {
      expect((await put()).status).toBe(500);
      expect(methods()).not.toContain('PUT');
    } finally {
      await fleet.database.query('alter table missing rename to audit_entries');
    }
    await fleet.admin('perks').get(path).expect(404);
    await put().expect(200);
    expect(methods()).toContain('PUT');
    sent.mockRestore();
  });

  it('load a file of cards completely after the browser has left, and the rest of an interrupted one', async () => {
    const page = fleet.page(operator);
    const { account } = await fleet.anAccount();
    const pool = await aPool(account, 1);
    const address = `/api/gift/admin/pools/${pool}`;
    const cards = Array.from({ length: 6_000 }, () => `${randomUUID()},25,EUR,FR`);
    const whole = Buffer.from(['code,denomination,currency,country', ...cards].join('\n'));
    /** Sends this much of the file and disconnects. @returns the load id */
    const leave = async (bytes: number) => {
      const loadId = randomUUID();
      const request = connect(`${fleet.console.url}${address}/cards?loadId=${loadId}`, {
        method: 'POST',
        headers: {
          origin: CONSOLE,
          cookie: operator,
          'content-type': 'text/csv',
          'content-length': whole.length,
        },
      });
      request.on('error', () => undefined);
      await new Promise((resolve) => request.write(whole.subarray(0, bytes), resolve));
      // Waits until the host has the load, because it must receive part of it before the browser leaves.
      await waitFor(async () => (await load(loadId)).status === 200, 'the load to begin');
      request.destroy();
      return loadId;
    };
    const load = (loadId: string) => page.get(`${address}/loads/${loadId}`);
    const until = (loadId: string, state: string) =>
      waitFor(async () => (await load(loadId)).body.state === state, `the load to be ${state}`, 20_000);

    const cut = await leave(whole.length / 2);
    await until(cut, 'failed');
    const complete = await leave(whole.length);
    await until(complete, 'finished');
    const { body } = await load(complete);
    expect(body).toMatchObject({ rows: 6_000, rejected: 0, duplicates: (await load(cut)).body.imported });
    expect((await page.get(address).expect(200)).body.inventories).toMatchObject([{ available: 6_001 }]);
    const path = `/admin/pools/${pool}/cards`;
    await waitFor(
      async () => expect((await logged(path))[0]).toMatchObject({ status: 200 }),
      'the outcome in the log',
    );
    const { body: check } = await page
      .post(`${address}/cards/check`)
      .set('content-type', 'text/csv')
      .send(whole)
      .expect(200);
    expect(check).toMatchObject({ rows: 6_000, importable: 0, duplicates: 6_000, complete: true });
    expect(await logged(`${path}/check`)).toEqual([]);
    expect(JSON.stringify(fleet.console.logs)).not.toContain(cards[0]!.split(',')[0]);
  });

  it("are compressed for the console's own pages only", async () => {
    // The log of a client's session changes only by its own calls.
    const page = fleet.page(await fleet.signIn((await fleet.anAccount()).key));
    for (let nth = 1; nth <= 5; nth += 1) await page.post('/api/keys').send({ role: 'USER' }).expect(201);
    const log = () => page.get('/api/audit-log?limit=50').set('accept-encoding', 'gzip, br');
    const compressed = await log().set('sec-fetch-site', 'same-origin').expect(200);
    expect(compressed.headers['content-encoding']).toBe('br');
    expect(compressed.headers.vary).toMatch(/accept-encoding/i);
    const plain = await log().expect(200);
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(JSON.stringify(plain.body).length).toBeGreaterThan(1_024);
    expect(compressed.body).toEqual(plain.body);
    // A page on a sibling domain can make the browser send the cookie, and choose the query.
    const lured = await log().set('sec-fetch-site', 'same-site').expect(200);
    expect(lured.headers['content-encoding']).toBeUndefined();
    const body = gzipSync(JSON.stringify({ role: 'USER', name: 'Packed' }));
    const sent = page
      .post('/api/keys')
      .set({ 'content-type': 'application/json', 'content-encoding': 'gzip' });
    expect((await sent.send(body)).status).toBe(400);
  });

  it('return a new key once, and store it nowhere', async () => {
    const { account } = await fleet.anAccount();
    const page = fleet.page(operator);
    const keys = `/admin/accounts/${account}/keys`;
    const { body } = await page.post(`/api/token${keys}`).send({ role: 'USER' }).expect(201);
    await page.delete(`/api/token${keys}/${body.id}`).expect(204);
    const log = await logged(keys, `${keys}/${body.id}`);
    // The record of the account's first key, made by another key, may arrive later.
    expect(log.find(({ action }) => action === 'DELETE')).toMatchObject({
      before: { id: body.id, revoked_at: null },
    });
    expect(log.find(({ after }) => after?.id === body.id)).toMatchObject({
      action: 'POST',
      path: keys,
      after: { last4: body.key.slice(-4) },
    });
    expect(JSON.stringify([log, fleet.console.logs])).not.toContain(body.key);
  });

  it('let an account manage its own keys only', async () => {
    const [mine, others] = [await fleet.anAccount(), await fleet.anAccount()];
    const cookie = await fleet.signIn(mine.key);
    const page = fleet.page(cookie);
    const made = await page.post('/api/keys').send({ role: 'USER', name: 'Web shop' }).expect(201);
    expect(made.body).toMatchObject({ role: 'USER', name: 'Web shop', last4: made.body.key.slice(-4) });
    await fleet.signIn(made.body.key);
    const { body: keys } = await page.get('/api/keys').expect(200);
    expect(keys.map(({ id }: { id: string }) => id)).toEqual([mine.keyId, made.body.id]);
    await page.post('/api/keys').send({ role: 'ADMIN' }).expect(403);
    await page.post('/api/keys').send({ role: 'KING' }).expect(400);
    expect((await page.delete(`/api/keys/${others.keyId}`).expect(404)).body.code).toBe('KEY_NOT_FOUND');
    await page.delete(`/api/keys/${made.body.id}`).expect(204);
    await page.delete(`/api/keys/${made.body.id}`).expect(404);
    await fleet.page().post('/api/session').send({ apiKey: made.body.key }).expect(401);
    const { body: log } = await page.get('/api/audit-log').expect(200);
    expect(new Set(log.data.map(({ account_id: id }: { account_id: string }) => id))).toEqual(
      new Set([mine.account]),
    );
    const stored = JSON.stringify([log, await fleet.database.query('select * from accounts.api_keys')]);
    expect(stored).not.toContain(made.body.key);
  });

  it('let a USER session of the platform neither see nor end its ADMIN keys', async () => {
    const keysOf = '/admin/accounts/platform/keys';
    const { body: user } = await fleet.admin('token-issuer').post(keysOf).send({ role: 'USER' }).expect(201);
    const { body: all } = await fleet.admin('token-issuer').get(keysOf).expect(200);
    const first = all.find(({ role }: { role: string }) => role === 'ADMIN');
    expect(first).toBeDefined();
    const page = fleet.page(await fleet.signIn(user.key));
    const { body: seen } = await page.get('/api/keys').expect(200);
    expect(seen.map(({ id }: { id: string }) => id)).toContain(user.id);
    expect(seen.filter(({ role }: { role: string }) => role === 'ADMIN')).toEqual([]);
    await page.delete(`/api/keys/${first.id}`).expect(404);
    await page.post(`/api/keys/${first.id}/rotate`).send({}).expect(404);
    await fleet.admin('token-issuer').get(keysOf).expect(200);
  });

  it('let an account make keys with scopes and an expiry, and rotate them', async () => {
    const [mine, others] = [await fleet.anAccount(), await fleet.anAccount()];
    const page = fleet.page(await fleet.signIn(mine.key));
    const wanted = {
      role: 'USER',
      name: 'CRM',
      scopes: ['pools:read'],
      expires_at: '2099-01-01T00:00:00.000Z',
    };
    const { body: old } = await page.post('/api/keys').send(wanted).expect(201);
    expect(old).toMatchObject(wanted);
    await page.post('/api/keys').send({ role: 'USER', scopes: [] }).expect(400);
    await page.post('/api/keys').send({ role: 'USER', expires_at: '2020-01-01T00:00:00Z' }).expect(400);

    const rotate = (id: string, body: object = {}) => page.post(`/api/keys/${id}/rotate`).send(body);
    const { body: next } = await rotate(old.id, { overlap_seconds: 0 }).expect(201);
    expect(next).toMatchObject({ ...wanted, counted_as: old.id, last4: next.key.slice(-4) });
    const pools = (key: string) => http({ url: fleet.urls['gift-cards']! }, { key }).get('/pools');
    await pools(next.key).expect(200);
    await pools(old.key).expect(401);
    expect((await rotate(old.id).expect(409)).body.code).toBe('KEY_ROTATED');
    expect((await rotate(others.keyId).expect(404)).body.code).toBe('KEY_NOT_FOUND');
    await rotate(next.id, { overlap_seconds: -1 }).expect(400);
    // The new key has scopes, so it may not sign in.
    await fleet.page().post('/api/session').send({ apiKey: next.key }).expect(401);

    const { body: log } = await page.get('/api/audit-log').expect(200);
    expect(log.data).toContainEqual(
      expect.objectContaining({
        action: 'POST',
        path: `/accounts/${mine.account}/keys/${old.id}/rotate`,
        status: 201,
        before: expect.objectContaining({ id: old.id, rotated_to: null }),
        after: expect.objectContaining({ id: next.id, scopes: wanted.scopes }),
      }),
    );
    expect(JSON.stringify([log, fleet.console.logs])).not.toContain(next.key);
  });

  it('let an operator rotate the key of any account', async () => {
    const { account, keyId } = await fleet.anAccount();
    const page = fleet.page(operator);
    const path = `/admin/accounts/${account}/keys/${keyId}/rotate`;
    const { body } = await page.post(`/api/token${path}`).send({ overlap_seconds: 60 }).expect(201);
    const log = await logged(path);
    expect(log).toMatchObject([{ action: 'POST', before: { id: keyId }, after: { id: body.id } }]);
    expect(JSON.stringify(log)).not.toContain(body.key);
  });

  it('made with a key instead of the console are in the same log, once, and in its export', async () => {
    const from = new Date().toISOString();
    const perks = fleet.admin('perks');
    await perks.put('/admin/categories/815').send({ slug: 'sea', name: 'Sea' }).expect(200);
    await perks.put('/admin/categories/815').send({ slug: 'sea', name: 'Seaside' }).expect(200);
    await perks.put('/admin/categories/815').send({ slug: 'sea' }).expect(400);
    const { account } = await fleet.anAccount();
    const made = await fleet
      .admin('token-issuer')
      .post(`/admin/accounts/${account}/keys`)
      .send({ role: 'USER', name: 'till' })
      .expect(201);
    const { id, key } = made.body as { id: string; key: string };
    const rotated = await fleet
      .admin('token-issuer')
      .post(`/admin/accounts/${account}/keys/${id}/rotate`)
      .expect(201);
    await fleet.admin('token-issuer').delete(`/admin/accounts/${account}/keys/${id}`).expect(204);
    await fleet.page(operator).delete('/api/perks/admin/categories/815').expect(204);

    const page = fleet.page(operator);
    const exported = async () => {
      const { text } = await page.get(`/api/audit-log/export?from=${from}`).buffer(true).expect(200);
      const lines = text.split('\n').filter((line) => line !== '');
      return lines.map((line) => JSON.parse(line) as { path: string; status: number | null });
    };
    const of = async (path: string) => (await exported()).filter((entry) => entry.path === path);
    await waitFor(async () => {
      const entries = [
        ...(await of('/admin/categories/815')),
        ...(await of(`/admin/accounts/${account}/keys/${id}`)),
        ...(await of(`/admin/accounts/${account}/keys/${id}/rotate`)),
      ];
      return entries.length === 6 && entries.every(({ status }) => status !== null);
    }, 'the log of the apps');
    const entries = await of('/admin/categories/815');
    expect(entries).toHaveLength(4);
    expect(entries).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          action: 'PUT',
          status: 200,
          before: null,
          host: 'perks',
          actor: 'bootstrap',
        }),
        expect.objectContaining({
          action: 'PUT',
          before: expect.objectContaining({ name: 'Sea' }),
          after: expect.objectContaining({ name: 'Seaside' }),
          account_id: 'platform',
          person: null,
        }),
        expect.objectContaining({ action: 'PUT', status: 400, after: { refused: 'VALIDATION_FAILED' } }),
        expect.objectContaining({ action: 'DELETE', status: 204 }),
      ]),
    );
    expect(await of(`/admin/accounts/${account}/keys/${id}`)).toMatchObject([
      { action: 'DELETE', before: { id, name: 'till', revoked_at: null }, status: 204 },
    ]);
    expect(await of(`/admin/accounts/${account}/keys/${id}/rotate`)).toMatchObject([
      { action: 'POST', before: { id, rotated_to: null }, after: { id: rotated.body.id }, status: 201 },
    ]);
    for (const secret of [key, rotated.body.key])
      expect(JSON.stringify(await exported())).not.toContain(secret);
    const wrong = [
      '',
      '?from=yesterday',
      '?from=2026-02-30',
      '?from=2026-11-01&to=x',
      '?from=2026-11-01&to=2026-10-01',
    ];
    for (const range of wrong)
      expect((await page.get(`/api/audit-log/export${range}`).expect(400)).body.code).toBe(
        'VALIDATION_FAILED',
      );
  });

  it('are found by account and by outcome', async () => {
    const [mine, others] = [await fleet.anAccount(), await fleet.anAccount()];
    const page = fleet.page(operator);
    await page.put(`/api/token/admin/accounts/${mine.account}`).send({ name: 'Renamed' }).expect(200);
    const pool = await aPool(mine.account);
    await aPool(others.account);
    await page.put(`/api/gift/admin/pools/${pool}`).send({ owner: '' }).expect(400);
    const user = fleet.page(await fleet.signIn(mine.key));
    await user.post('/api/keys').send({ role: 'USER', name: 'Till' }).expect(201);
    const found = async (query: object, by = page) => {
      const { body } = await by.get('/api/audit-log').query(query).expect(200);
      return (body.data as { path: string; status: number }[]).map(({ path, status }) => `${status} ${path}`);
    };
    const account = mine.account;
    await waitFor(
      async () =>
        // With calls by API keys, which arrive later: those that made the account and its key.
        expect((await found({ account })).sort()).toEqual(
          [
            `200 /admin/accounts/${account}`,
            `200 /admin/accounts/${account}`,
            `201 /admin/accounts/${account}/keys`,
            `200 /admin/pools/${pool}`,
            `200 /admin/pools/${pool}/cards`,
            `400 /admin/pools/${pool}`,
            `201 /accounts/${account}/keys`,
          ].sort(),
        ),
      'the entries of the account',
    );
    expect(await found({ account, outcome: 'rejected' })).toEqual([`400 /admin/pools/${pool}`]);
    expect(await found({ account, outcome: 'done', kind: 'pools' })).toEqual([
      `200 /admin/pools/${pool}/cards`,
      `200 /admin/pools/${pool}`,
    ]);
    expect(await found({ account, outcome: 'unknown' })).toEqual([]);
    const [row] = await fleet.database.query<{ id: string }>(
      `insert into console.audit_entries (account_id, role, actor, action, host, path)
       values ($1, 'USER', 'somebody', 'POST', 'console', '/reports/1') returning id`,
      [account],
    );
    const { body: unknown } = await page.get('/api/audit-log').query({ account, outcome: 'unknown' });
    expect(unknown.data).toMatchObject([{ id: row!.id, status: null }]);
    // Filters show nothing of others, and nothing by operators.
    expect(await found({ account: others.account }, user)).toEqual([]);
    expect(await found({ account, outcome: 'done' }, user)).toEqual([`201 /accounts/${account}/keys`]);
    expect(
      (await page.get('/api/audit-log').query({ outcome: 'fine' }).expect(400)).body.errors,
    ).toMatchObject([{ field: 'outcome' }]);
  });

  it('are found by person, object, kind and time, alone and together', async () => {
    const { account } = await fleet.anAccount();
    const { body: named } = await fleet
      .admin('token-issuer')
      .post(`/admin/accounts/${account}/keys`)
      .send({ role: 'ADMIN', name: 'Night_shift 100%' })
      .expect(201);
    const night = fleet.page(await fleet.signIn(named.key));
    const day = fleet.page(operator);
    const from = new Date().toISOString();
    await night.put('/api/perks/admin/categories/901').send({ slug: 'a', name: 'A' }).expect(200);
    await day.put('/api/perks/admin/categories/901').send({ slug: 'a', name: 'B' }).expect(200);
    await day.put('/api/perks/admin/categories/902').send({ slug: 'b', name: 'C' }).expect(200);
    const pool = await aPool(account);
    const to = new Date().toISOString();
    const found = async (query: object, page = day) => {
      const { body } = await page.get('/api/audit-log').query(query).expect(200);
      return (body.data as { path: string }[]).map(({ path }) => path.replace('/admin/', ''));
    };
    expect(await found({ object: '901' })).toEqual(['categories/901', 'categories/901']);
    expect(await found({ object: '901', person: 'night_SHIFT' })).toEqual(['categories/901']);
    // `_` and `%` are no wildcards.
    expect(await found({ object: '901', person: 'night%' })).toEqual([]);
    expect(await found({ kind: 'categories', from, to })).toEqual([
      'categories/902',
      'categories/901',
      'categories/901',
    ]);
    expect(await found({ kind: 'categories', from: to })).toEqual([]);
    expect(await found({ kind: 'pools', object: pool })).toEqual([`pools/${pool}/cards`, `pools/${pool}`]);
    expect(await found({ kind: 'perks', object: pool })).toEqual([]);
    const first = await day.get('/api/audit-log').query({ object: '901', limit: 1 }).expect(200);
    const cursor = first.body.next_cursor as string;
    expect(await found({ object: '901', limit: 1, cursor })).toEqual(['categories/901']);
    for (const query of [{ kind: 'secrets' }, { from: 'yesterday' }, { object: 'x'.repeat(256) }])
      expect((await day.get('/api/audit-log').query(query).expect(400)).body.errors).toMatchObject([
        { field: Object.keys(query)[0] },
      ]);
    const { text } = await day
      .get('/api/audit-log/export')
      .query({ from, to, kind: 'categories', object: '902' })
      .buffer(true)
      .expect(200);
    expect(text.trim().split('\n')).toHaveLength(1);
    // Filters show nothing of others.
    const user = fleet.page(await fleet.signIn((await fleet.anAccount()).key));
    expect(await found({ object: '901' }, user)).toEqual([]);
  });

  it('hide ADMIN keys and changes by operators from a USER session of the same account', async () => {
    const { account, key } = await fleet.anAccount();
    const keys = fleet.admin('token-issuer').post(`/admin/accounts/${account}/keys`);
    const { body: admin } = await keys.send({ role: 'ADMIN' }).expect(201);
    const operator = fleet.page(await fleet.signIn(admin.key));
    const { body: shown } = await operator.get('/api/keys').expect(200);
    expect(shown.map(({ id }: { id: string }) => id)).toContain(admin.id);
    const { body: second } = await operator.post('/api/keys').send({ role: 'ADMIN' }).expect(201);

    const user = fleet.page(await fleet.signIn(key));
    const { body: own } = await user.get('/api/keys').expect(200);
    expect(own.map(({ role }: { role: string }) => role)).toEqual(['USER']);
    for (const { id } of [admin, second])
      expect((await user.post(`/api/keys/${id}/rotate`).send({}).expect(404)).body.code).toBe(
        'KEY_NOT_FOUND',
      );
    for (const { id } of [admin, second])
      expect((await user.delete(`/api/keys/${id}`).expect(404)).body.code).toBe('KEY_NOT_FOUND');
    const { body: log } = await user.get('/api/audit-log').expect(200);
    expect(log.data).toEqual([]);
    await operator.delete(`/api/keys/${second.id}`).expect(204);
  });

  it('respond 503 with Retry-After while a host is unavailable', async () => {
    const { key } = await fleet.anAccount();
    const page = fleet.page(await fleet.signIn(key));
    const response = await page.get('/api/query/cubejs-api/v1/meta').expect(503);
    expect(response.headers['retry-after']).toBeDefined();
    expect(response.body.code).toBe('DEPENDENCY_UNAVAILABLE');
    const boost = await page.get('/api/boost/campaigns').expect(503);
    expect(boost.body.detail).toContain('Boost');
  });
});
