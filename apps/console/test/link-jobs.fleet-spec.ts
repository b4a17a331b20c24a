import { waitFor } from '@perkway/testing';
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { ADMIN_KEY, Fleet } from './fleet';

describe('link jobs', () => {
  const fleet = new Fleet();
  beforeAll(() => fleet.start(['token-issuer', 'gift-cards']), 180_000);
  afterAll(() => fleet.close());

  const aPool = async (owner: string, cards: number) => {
    const operator = fleet.page(await fleet.signIn(ADMIN_KEY));
    const id = randomUUID();
    await operator.put(`/api/gift/admin/pools/${id}`).send({ owner }).expect(200);
    await load(id, cards);
    return id;
  };
  const load = async (pool: string, cards: number) => {
    const lines = Array.from({ length: cards }, () =>
      JSON.stringify({ code: randomUUID(), denomination: 25, currency: 'EUR', country: 'FR' }),
    );
    await fleet
      .admin('gift-cards')
      .post(`/admin/pools/${pool}/cards`)
      .set('content-type', 'application/x-ndjson')
      .send(lines.join('\n'))
      .expect(200);
  };
  const somebody = async (cards: number) => {
    const { account, key, keyId } = await fleet.anAccount();
    const poolId = await aPool(account, cards);
    const cookie = await fleet.signIn(key);
    return { account, key, keyId, poolId, cookie, page: fleet.page(cookie) };
  };
  type Page = Awaited<ReturnType<typeof somebody>>['page'];
  const create = (page: Page, body: object, key: string = randomUUID()) =>
    page
      .post('/api/link-jobs')
      .set('idempotency-key', key)
      .send({ denomination: 25, currency: 'EUR', ...body });
  const until = async (page: Page, id: string, state: string) => {
    await waitFor(
      async () => (await page.get(`/api/link-jobs/${id}`)).body.state === state,
      `the job to be ${state}`,
      120_000,
    );
    return (await page.get(`/api/link-jobs/${id}`).expect(200)).body;
  };
  const linksOf = (account: string) =>
    fleet.database.query(`select id from gift_cards.reward_links where account = $1`, [account]);

  it('create all links, whose file can be downloaded repeatedly', async () => {
    const { page, poolId, account } = await somebody(40);
    const references = Array.from({ length: 30 }, (_, i) => `customer, ${i}`);
    references[3] = '=SUM(A1)';
    const { body } = await create(page, { poolId, references, campaign: 'spring' }).expect(202);
    const job = await until(page, body.id, 'done');
    expect(job).toMatchObject({
      total: 30,
      made: 30,
      failed: [],
      code: null,
      pool_id: poolId,
      campaign_id: 'spring',
    });
    const first = await page
      .get(`/api/link-jobs/${body.id}/csv`)
      .set({ 'sec-fetch-site': 'same-origin', 'accept-encoding': 'br' })
      .expect(200);
    // Never compressed: the length would reveal something about the links.
    expect(first.headers['content-encoding']).toBeUndefined();
    expect(first.headers['content-type']).toContain('text/csv');
    expect(first.headers['cache-control']).toBe('no-store');
    const lines = first.text.trim().split('\r\n');
    expect(lines[0]).toBe('reference,link,expiry,state');
    expect(lines).toHaveLength(31);
    expect(lines[1]).toMatch(
      /^"customer, 0",https:\/\/rewards\.perkway\.test\/#[\w-]+,20\d\d-\d\d-\d\dT[^,]+,waiting$/,
    );
    expect(lines[4]).toMatch(/^'=SUM\(A1\),/);
    expect(new Set(lines.map((line) => line.split('#')[1])).size).toBe(31);
    expect((await page.get(`/api/link-jobs/${body.id}/csv`).expect(200)).text).toBe(first.text);
    expect(await linksOf(account)).toHaveLength(30);
    // A link is a secret: it is in no table and no log of the console.
    const token = lines[1]!.split('#')[1]!.split(',')[0]!;
    const stored = JSON.stringify([
      await fleet.database.query('select * from link_jobs'),
      await fleet.database.query('select * from link_job_rows'),
      await fleet.database.query(
        'select * from audit_entries e left join audit_outcomes o on o.entry_id = e.id',
      ),
      fleet.console.logs,
    ]);
    expect(stored).not.toContain(token);
    const list = async (query: object) => (await page.get('/api/link-jobs').query(query).expect(200)).body;
    for (const query of [{}, { state: 'done' }])
      expect(await list(query)).toEqual({ data: [job], next_cursor: null });
    expect(await list({ state: 'running' })).toEqual({ data: [], next_cursor: null });
    await page.get('/api/link-jobs').query({ state: 'unknown' }).expect(400);
  });

  it('list the references that already have a link, of their own account only', async () => {
    const { page, poolId } = await somebody(10);
    const references = Array.from({ length: 4 }, (_, nth) => `customer-${nth}`);
    const check = async (by: Page) =>
      (await by.post('/api/link-jobs/check').send({ references }).expect(200)).body;
    expect(await check(page)).toEqual({ references: [], latest: null });
    const { body } = await create(page, { poolId, references: references.slice(2) }).expect(202);
    const { created_at } = await until(page, body.id, 'done');
    expect(await check(page)).toEqual({ references: references.slice(2), latest: created_at });
    const later = await create(page, { poolId, references: references.slice(0, 3) }).expect(202);
    const second = await until(page, later.body.id, 'done');
    expect(await check(page)).toEqual({ references, latest: second.created_at });
    expect(await check((await somebody(0)).page)).toEqual({ references: [], latest: null });
    await page.post('/api/link-jobs/check').send({ references: [] }).expect(400);
    await page
      .post('/api/link-jobs/check')
      .send({ references: Array(10_001).fill('a') })
      .expect(400);
  });

  it('have a name, report the states of their links, and can cancel the rest repeatedly', async () => {
    const { account, page, poolId } = await somebody(40);
    const made = await create(page, { poolId, count: 30, name: 'Spring mailing' }).expect(202);
    const { id } = made.body;
    expect(await until(page, id, 'done')).toMatchObject({ name: 'Spring mailing' });
    const links = async () => (await page.get(`/api/link-jobs/${id}/links`).expect(200)).body;
    expect(await links()).toEqual({ waiting: 30, opened: 0, cancelled: 0, expired: 0 });
    const [opened, expired] = await linksOf(account);
    await fleet.database.query('update gift_cards.reward_links set revealed_at = now() where id = $1', [
      opened!['id'],
    ]);
    await fleet.database.query(
      `update gift_cards.reward_links set expires_at = now() - interval '1 minute' where id = $1`,
      [expired!['id']],
    );
    await fleet.database.query('update gift_cards.reward_links set replaces = $1 where id = $2', [
      opened!['id'],
      expired!['id'],
    ]);
    expect(await links()).toEqual({ waiting: 28, opened: 1, cancelled: 0, expired: 1 });
    const cancel = (after: unknown) => page.post(`/api/link-jobs/${id}/cancel`).send({ after });
    for (let time = 0; time < 2; time += 1)
      expect((await cancel(0).expect(200)).body).toEqual({ cancelled: 28, opened: 1, next: null });
    expect(await links()).toEqual({ waiting: 0, opened: 1, cancelled: 28, expired: 1 });
    const results = await page.get(`/api/link-jobs/${id}/results`).expect(200);
    expect(results.headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8',
      'cache-control': 'no-store',
    });
    const [head, ...rows] = results.text.trim().split('\r\n');
    expect(head).toBe('reference,state,opened_at,cancelled_at');
    const time = String.raw`20\d\d-\d\d-\d\dT[\d:.]+Z`;
    const counted = [`,opened,${time},`, `,cancelled,,${time}`, ',expired,,'].map(
      (line) => rows.filter((row) => new RegExp(`^${line}$`).test(row)).length,
    );
    expect(counted).toEqual([1, 28, 1]);
    const list = (query: object) => page.get(`/api/link-jobs/${id}/reward-links`).query(query);
    const { body: whole } = await list({ limit: 50 }).expect(200);
    expect(whole.next_cursor).toBeNull();
    expect(whole.data.map(({ row }: { row: number }) => row)).toEqual(rows.map((_, index) => index + 1));
    expect(whole.data.find(({ link_id }: { link_id: string }) => link_id === opened!['id'])).toEqual({
      row: expect.any(Number),
      reference: null,
      link_id: opened!['id'],
      state: 'opened',
      replaced_by: expired!['id'],
      opened_at: expect.stringMatching(new RegExp(`^${time}$`)),
      cancelled_at: null,
    });
    const cancelled = whole.data.filter(({ state }: { state: string }) => state === 'cancelled');
    expect(cancelled).toHaveLength(28);
    const first = await list({ state: 'cancelled', limit: 20 }).expect(200);
    const second = await list({ state: 'cancelled', limit: 20, cursor: first.body.next_cursor }).expect(200);
    expect([...first.body.data, ...second.body.data]).toEqual(cancelled);
    expect(second.body.next_cursor).toBeNull();
    expect((await list({ state: 'waiting' }).expect(200)).body).toEqual({ data: [], next_cursor: null });
    expect((await list({ state: 'RESERVED' }).expect(400)).body.errors).toMatchObject([{ field: 'state' }]);
    expect((await cancel(30).expect(200)).body).toEqual({ cancelled: 0, opened: 0, next: null });
    await cancel(-1).expect(400);
    const { body: log } = await page.get('/api/audit-log').query({ object: id }).expect(200);
    expect(log.data[0]).toMatchObject({
      path: `/link-jobs/${id}/cancel`,
      after: { cancelled: 0, opened: 0 },
    });
    const other = await somebody(1);
    await other.page.get(`/api/link-jobs/${id}/links`).expect(404);
    await other.page.get(`/api/link-jobs/${id}/results`).expect(404);
    await other.page.get(`/api/link-jobs/${id}/reward-links`).expect(404);
    await other.page.post(`/api/link-jobs/${id}/cancel`).send({ after: 0 }).expect(404);
    await create(page, { poolId, count: 1, name: '' }).expect(400);
  });

  it('belong to the journeys of their recipients if the references are journey ids', async () => {
    const { account, page, poolId } = await somebody(4);
    const references = ['ann', 'ben'];
    for (const are of [false, true]) {
      const body = { poolId, references, references_are_journey_ids: are };
      const { id } = (await create(page, body).expect(202)).body;
      expect(await until(page, id, 'done')).toMatchObject({ references_are_journey_ids: are });
    }
    const links = await fleet.database.query<{ reference: string; journey_id: string | null }>(
      `select reference, journey_id from gift_cards.reward_links where account = $1
       order by reference, journey_id nulls first`,
      [account],
    );
    expect(links.map(({ reference, journey_id }) => [reference, journey_id])).toEqual([
      ['ann', null],
      ['ann', 'ann'],
      ['ben', null],
      ['ben', 'ben'],
    ]);
    const refused = await create(page, { poolId, count: 1, references_are_journey_ids: true }).expect(400);
    expect(refused.body.detail).toContain('references_are_journey_ids');
  });

  it('give their links custom attributes', async () => {
    const { account, page, poolId } = await somebody(1);
    const attributes = { utm_source: 'mailchimp', cmeta_segment: 'gold' };
    const { id } = (await create(page, { poolId, count: 1, attributes }).expect(202)).body;
    expect(await until(page, id, 'done')).toMatchObject({ attributes });
    expect(
      await fleet.database.query('select attributes from gift_cards.reward_links where account = $1', [
        account,
      ]),
    ).toEqual([{ attributes: { utm: { utm_source: 'mailchimp' }, cmeta: { segment: 'gold' } } }]);

    const many = Object.fromEntries(Array.from({ length: 21 }, (_, nth) => [`cmeta_${nth}`, 'x']));
    for (const refused of [
      { segment: 'gold' },
      { utm_source: 'x'.repeat(255) },
      { utm_source: 1 },
      many,
      [],
    ]) {
      const { body } = await create(page, { poolId, count: 1, attributes: refused }).expect(400);
      expect(body.errors).toMatchObject([{ field: 'attributes' }]);
    }
  });

  it('are created once per idempotency key', async () => {
    const { page, poolId, account } = await somebody(40);
    const key = randomUUID();
    const responses = await Promise.all(
      Array.from({ length: 5 }, () => create(page, { poolId, count: 10 }, key)),
    );
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([202]));
    expect(new Set(responses.map(({ body }) => body.id)).size).toBe(1);
    await until(page, responses[0]!.body.id, 'done');
    expect(await linksOf(account)).toHaveLength(10);
    const other = await create(page, { poolId, count: 11 }, key).expect(409);
    expect(other.body.code).toBe('IDEMPOTENCY_KEY_CONFLICT');
  });

  it('survive a crash of the console at any moment: no link is lost or created twice', async () => {
    const { page, poolId, account } = await somebody(400);
    const { body } = await create(page, { poolId, count: 350 }).expect(202);
    await waitFor(async () => (await page.get(`/api/link-jobs/${body.id}`)).body.made > 0, 'the first links');
    // Simulates a killed batch, which leaves links that the job has not recorded, and a lease.
    await fleet.database.query(
      'update link_job_rows set link_id = null where job_id = $1 and row % 3 = 0 and link_id is not null',
      [body.id],
    );
    const replica = await fleet.launch();
    expect(await until(page, body.id, 'done')).toMatchObject({ total: 350, made: 350, failed: [] });
    expect(await linksOf(account)).toHaveLength(350);
    await replica.close();
  });

  it('can be resumed after the stock ran out and was refilled', async () => {
    const { page, poolId, account } = await somebody(5);
    const { body } = await create(page, { poolId, count: 12 }).expect(202);
    const failed = await until(page, body.id, 'failed');
    expect(failed).toMatchObject({ made: 5, code: 'NO_AVAILABLE_CARDS' });
    expect(failed.failed.length).toBeGreaterThan(0);
    await load(poolId, 10);
    await page.post(`/api/link-jobs/${body.id}/resume`).expect(200);
    expect(await until(page, body.id, 'done')).toMatchObject({ made: 12, failed: [], code: null });
    expect(await linksOf(account)).toHaveLength(12);
  });

  it('keep the lease of a batch that still runs when they are stopped and resumed', async () => {
    const { page, poolId } = await somebody(8);
    const lock = new pg.Client(fleet.database.urls.admin);
    await lock.connect();
    try {
      await lock.query('begin; lock table gift_cards.reward_links in share mode');
      const { body } = await create(page, { poolId, count: 8 }).expect(202);
      await waitFor(async () => {
        const waiting = await fleet.database.query(
          `select from pg_locks where relation = 'gift_cards.reward_links'::regclass and not granted`,
        );
        return waiting.length > 0;
      }, 'the links of the batch');
      await page.post(`/api/link-jobs/${body.id}/stop`).expect(200);
      await page.post(`/api/link-jobs/${body.id}/resume`).expect(200);
      const [job] = await fleet.database.query(
        'select leased_until > now() as is_leased from link_jobs where id = $1',
        [body.id],
      );
      await lock.query('rollback');
      expect(job).toEqual({ is_leased: true });
      expect(await until(page, body.id, 'done')).toMatchObject({ made: 8, failed: [] });
    } finally {
      await lock.end();
    }
  });

  it("continue after sign-out, but only while the creator's key is valid", async () => {
    const { page, poolId, account, keyId, key } = await somebody(400);
    const { body } = await create(page, { poolId, count: 300 }).expect(202);
    await page.delete('/api/session').expect(204);
    const again = fleet.page(await fleet.signIn(key));
    await until(again, body.id, 'done');
    const second = (await create(again, { poolId, count: 60 }).expect(202)).body;
    await again.post(`/api/link-jobs/${second.id}/stop`).expect(200);
    const stopped = (await again.get(`/api/link-jobs/${second.id}`).expect(200)).body;
    expect(['stopped', 'done']).toContain(stopped.state);
    await fleet.admin('token-issuer').delete(`/admin/accounts/${account}/keys/${keyId}`).expect(204);
    const keys = await fleet.database.query(
      `select id from accounts.api_keys where account_id = $1 and is_console and revoked_at is null`,
      [account],
    );
    expect(keys).toEqual([]);
  });

  it('belong to one account: nobody else sees, stops or downloads them', async () => {
    const mine = await somebody(5);
    const other = await somebody(5);
    const { body } = await create(mine.page, { poolId: mine.poolId, count: 2 }).expect(202);
    await until(mine.page, body.id, 'done');
    const address = `/api/link-jobs/${body.id}`;
    for (const call of [
      other.page.get(address),
      other.page.get(`${address}/csv`),
      other.page.post(`${address}/stop`),
      other.page.post(`${address}/resume`),
      mine.page.get('/api/link-jobs/nonsense'),
    ])
      expect((await call.expect(404)).body.code).toBe('JOB_NOT_FOUND');
    await other.page.get('/api/link-jobs').expect(200, { data: [], next_cursor: null });
    const foreign = await create(other.page, { poolId: mine.poolId, count: 1 }).expect(404);
    expect(foreign.body.code).toBe('POOL_NOT_FOUND');
  });

  it('are rejected if the request is invalid', async () => {
    const { page, poolId } = await somebody(1);
    for (const [field, body] of [
      ['references', { poolId }],
      ['references', { poolId, count: 1, references: ['a'] }],
      ['references', { poolId, references: [] }],
      ['references', { poolId, references: [''] }],
      ['references', { poolId, references: Array(10_001).fill('a') }],
      ['count', { poolId, count: 0 }],
      ['count', { poolId, count: 10_001 }],
      ['poolId', { poolId: 'x', count: 1 }],
      ['denomination', { poolId, count: 1, denomination: '25' }],
      // Too small for a Date.
      ['expires_at', { poolId, count: 1, expires_at: -1e20 }],
      ['expires_at', { poolId, count: 1, expires_at: 0 }],
    ] as const) {
      const { body: problem } = await create(page, body).expect(400);
      expect([body, problem.errors.map(({ field: name }: { field: string }) => name)]).toEqual([
        body,
        expect.arrayContaining([expect.stringContaining(field)]),
      ]);
    }
    await page
      .post('/api/link-jobs')
      .send({ poolId, count: 1, denomination: 25, currency: 'EUR' })
      .expect(400);
  });
});
