import { audit } from '@perkway/audit';
import { ADVISORY_LOCKS, LIST_NEARLY_USED_LIMITS } from '@perkway/domain';
import { aKey, http, rpcCaller, trackedEvents, waitFor } from '@perkway/testing';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { LimitUsage } from '../src/limits/limit.dto.js';
import { aBody, EUR_25, GiftCards, type Link } from './support.js';

describe('limits', () => {
  let gift: GiftCards;
  beforeAll(async () => {
    gift = await GiftCards.start();
  });
  afterAll(() => gift?.close());

  const put = (id: string, body: object, owner = gift.user.account) =>
    http(gift.app, gift.admin)
      .put(`/admin/limits/${id}`)
      .send({ owner, ...body });
  const aLimit = async (body: object, owner = gift.user.account): Promise<string> => {
    const id = `limit-${randomUUID()}`;
    await put(id, { period: 'day', ...body }, owner).expect(200);
    return id;
  };
  const drop = (id: string) => http(gift.app, gift.admin).delete(`/admin/limits/${id}`).expect(204);
  const usageOf = async (id: string, value?: string, key = gift.user.key) =>
    (
      await gift.get<LimitUsage>(
        `/limits/${id}/usage${value === undefined ? '' : `?value=${encodeURIComponent(value)}`}`,
        key,
      )
    ).body;
  const cancel = ({ id }: Link, key = gift.user.key) =>
    http(gift.app, { key }).post(`/reward-links/${id}/cancel`).expect(200);
  /** Sets the expiry of a link to now, but, like a cancellation, not while limits are being settled. */
  const expire = ({ id }: Link) =>
    gift.database.query(`
      begin;
      select pg_advisory_xact_lock_shared(${ADVISORY_LOCKS.giftCardCounting});
      update reward_links set expires_at = clock_timestamp() where id = '${id}';
      commit`);
  const expectAudit = async () => {
    const report = await audit({ databaseUrl: gift.database.urls.admin });
    expect(report.output).toContain('Every card is in exactly one place');
    expect(report.passed).toBe(true);
  };
  /** Creates an account, so that the limits of other tests do not apply. */
  const anAccount = async (cards = 40) => {
    const user = gift.newKey();
    const pool = await gift.aPool(cards, EUR_25, user.account);
    return {
      ...user,
      pool,
      link: (given: object = {}, key?: string) =>
        gift.generate<Link>(pool, { apiKey: user.key, body: aBody(given), ...(key ? { key } : {}) }),
    };
  };

  it('are listed for operators once 80 % are used in the current period, except limits per reference', async () => {
    const { account, key, link } = await anAccount();
    const all = await aLimit({ links: 5, period: 'total' }, account);
    const each = await aLimit({ amount: 125, currency: 'EUR', period: 'day', per: 'campaign_id' }, account);
    await aLimit({ links: 1, period: 'day', per: 'reference' }, account);
    await aLimit({ links: 10, period: 'day' }, account);
    const { rpc, close } = await rpcCaller(gift.nats.url);
    const listed = async () =>
      (await rpc.request(LIST_NEARLY_USED_LIMITS, {})).limits.filter((limit) => limit.account === account);
    // A full counter of an earlier day.
    await gift.database.query(
      `insert into limit_counts values ($1, 'spring', now() - interval '2 days', now() - interval '1 day', 5, 125, now())`,
      [each],
    );
    let persons = 0;
    const linkFor = (campaign_id: string) => link({ campaign_id, reference: `person-${(persons += 1)}` });
    const ofAll = {
      id: all,
      account,
      per: 'account',
      value: account,
      product: null,
      resetsAt: null,
      amount: null,
    };
    try {
      for (let nth = 0; nth < 3; nth += 1) await linkFor('spring');
      expect(await listed()).toEqual([]);
      const { body } = await linkFor('summer');
      expect(await listed()).toEqual([{ ...ofAll, links: { limit: 5, used: 4 } }]);
      // A cancelled link counts no longer.
      await cancel(body, key);
      expect(await listed()).toEqual([]);
      await linkFor('spring');
      await linkFor('autumn');
      const { resets_at } = await usageOf(each, 'spring', key);
      expect(await listed()).toEqual([
        { ...ofAll, links: { limit: 5, used: 5 } },
        {
          ...{
            id: each,
            account,
            per: 'campaign_id',
            value: 'spring',
            product: null,
            resetsAt: Date.parse(resets_at!),
          },
          ...{ links: null, amount: { limit: 125, used: 100, currency: 'EUR' } },
        },
      ]);
    } finally {
      await gift.database.query('delete from limit_counts where limit_id = $1', [each]);
      await close();
    }
  });

  it('per account are listed for operators as soon as they are created, with the links of before', async () => {
    const { account, key, link } = await anAccount();
    const { body: first } = await link();
    for (let nth = 0; nth < 3; nth += 1) await link();
    const { rpc, close } = await rpcCaller(gift.nats.url);
    const listed = async () =>
      (await rpc.request(LIST_NEARLY_USED_LIMITS, {})).limits
        .filter((limit) => limit.account === account)
        .map(({ id, links: used }) => [id, used]);
    try {
      const limit = await aLimit({ links: 5 }, account);
      await aLimit({ links: 6 }, account);
      expect(await listed()).toEqual([[limit, { limit: 5, used: 4 }]]);
      await cancel(first, key);
      expect(await listed()).toEqual([]);
      // The first request for a link creates its counter.
      await link();
      expect(await listed()).toEqual([[limit, { limit: 5, used: 4 }]]);
    } finally {
      await close();
    }
  });

  it('are at most 100 per account, even when many are created concurrently', async () => {
    const { account } = await anAccount(0);
    const other = await anAccount(0);
    const body = { links: 5, period: 'day' };
    await gift.database.query(
      `insert into limits (id, owner, links, period, timezone, per, created_at, updated_at)
       select gen_random_uuid(), $1, 5, 'day', 'UTC', 'account', now(), now() from generate_series(1, 97)`,
      [account],
    );
    const ids = Array.from({ length: 6 }, () => `limit-${randomUUID()}`);
    const replies = await Promise.all(ids.map((id) => put(id, body, account)));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(3);
    for (const { body: problem } of replies.filter(({ status }) => status !== 200))
      expect(problem).toMatchObject({ status: 409, code: 'TOO_MANY_LIMITS' });
    const id = ids[replies.findIndex(({ status }) => status === 200)]!;
    await put(id, { ...body, links: 6 }, account).expect(200);
    const foreign = await aLimit(body, other.account);
    expect((await put(foreign, body, account).expect(409)).body.code).toBe('TOO_MANY_LIMITS');
    await drop(id);
    await put(foreign, body, account).expect(200);
  });

  describe('as resources', () => {
    it('are created, replaced, listed and deleted with ETags, and read by their account alone', async () => {
      const other = gift.newKey();
      const id = `limit-${randomUUID()}`;
      const created = await put(id, { links: 5, period: 'week', timezone: 'Europe/Paris' }).expect(200);
      expect(created.body).toEqual({
        id,
        owner: gift.user.account,
        links: 5,
        amount: null,
        currency: null,
        period: 'week',
        timezone: 'Europe/Paris',
        per: 'account',
        only: null,
        created_at: expect.any(String),
        updated_at: expect.any(String),
      });
      await put(id, { links: 6, period: 'week' }).set('if-match', '"other"').expect(412);
      await put(id, created.body).expect(200, created.body);
      const changed = await put(id, { amount: 10.55, currency: 'EUR', period: 'total', per: 'pool_id' })
        .set('if-match', created.headers['etag']!)
        .expect(200);
      expect(changed.body).toMatchObject({ links: null, amount: 10.55, currency: 'EUR', timezone: 'UTC' });
      expect((await gift.get(`/limits/${id}`)).body).toEqual(changed.body);
      expect((await gift.get<{ data: object[] }>('/limits')).body.data).toContainEqual(changed.body);
      expect((await gift.get<{ data: object[] }>('/limits', other.key)).body.data).toEqual([]);
      for (const path of [`/limits/${id}`, `/limits/${id}/usage?value=x`])
        expect(await gift.get(path, other.key)).toMatchObject({ status: 404, body: 'LIMIT_NOT_FOUND' });
      const stored = await gift.get<{ data: object[] }>(
        `/admin/limits?owner=${gift.user.account}`,
        gift.admin.key,
      );
      expect(stored.body.data).toContainEqual(changed.body);
      expect((await gift.get('/admin/limits', gift.user.key)).status).toBe(403);
      expect(await gift.get(`/limits/${id}/usage`)).toMatchObject({ status: 400, body: 'VALIDATION_FAILED' });
      await drop(id);
      expect((await gift.get(`/admin/limits/${id}`, gift.admin.key)).status).toBe(404);
    });

    it('take null for a missing value, and keep amounts exact to the cent', async () => {
      const id = `limit-${randomUUID()}`;
      const { body } = await put(id, {
        links: null,
        amount: 999_999_999_999.99,
        currency: 'EUR',
        period: 'total',
        timezone: null,
        per: null,
        only: { pool_id: null, campaign_id: null },
      }).expect(200);
      expect(body).toMatchObject({
        links: null,
        amount: 999_999_999_999.99,
        currency: 'EUR',
        timezone: 'UTC',
        per: 'account',
        only: null,
      });
      const { body: usage } = await gift.get<LimitUsage>(`/limits/${id}/usage`);
      expect(usage).toEqual({
        value: gift.user.account,
        period_start: '1970-01-01T00:00:00.000Z',
        resets_at: null,
        amount: { limit: 999_999_999_999.99, used: expect.any(Number), currency: 'EUR' },
      });
      const only = { pool_id: randomUUID(), campaign_id: 'spring' };
      expect((await put(id, { links: 1, period: 'day', only })).body.only).toEqual(only);
      await put(id, { links: 1, period: 'day', only: null }).expect(200);
      await drop(id);
    });

    it('are listed in pages, by id, and searched by operators', async () => {
      const user = gift.newKey();
      const mark = randomUUID();
      const ids = ['a', 'b', 'c'].map((name) => `${mark}-${name}`);
      for (const id of ids) await put(id, { links: 1, period: 'day' }, user.account).expect(200);
      interface Listed {
        data: { id: string }[];
        next_cursor: string | null;
      }
      const cursors: string[] = [];
      for (const [path, key] of [
        ['/limits?limit=2', user.key],
        [`/admin/limits?limit=2&owner=${user.account}`, gift.admin.key],
        [`/admin/limits?limit=2&q=${mark.toUpperCase()}`, gift.admin.key],
      ] as const) {
        const { body: first } = await gift.get<Listed>(path, key);
        const { body: second } = await gift.get<Listed>(`${path}&cursor=${first.next_cursor}`, key);
        expect([first, second].map(({ data }) => data.map(({ id }) => id))).toEqual([
          ids.slice(0, 2),
          ids.slice(2),
        ]);
        expect(second.next_cursor).toBeNull();
        cursors.push(first.next_cursor!);
      }
      for (const query of ['limit=0', 'limit=201', 'cursor=x', `cursor=${cursors[1]}`]) {
        const own = await gift.get(`/limits?${query}`, user.key);
        expect([query, own.status, own.body]).toEqual([query, 400, 'VALIDATION_FAILED']);
      }
      const stored = await gift.get<{ code: string }>(`/admin/limits?cursor=${cursors[0]}`, gift.admin.key);
      expect(stored).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } });
      const foreign = await gift.get<Listed>(`/limits?cursor=${cursors[0]}`);
      expect(JSON.stringify(foreign.body)).not.toContain(mark);
    });

    it('are deleted once, and only as they were read', async () => {
      const id = await aLimit({ links: 1 });
      const remove = () => http(gift.app, gift.admin).delete(`/admin/limits/${id}`);
      await remove().set('if-match', '"other"').expect(412);
      const { headers } = await http(gift.app, gift.admin).get(`/admin/limits/${id}`).expect(200);
      await remove().set('if-match', headers['etag']!).expect(204, '');
      expect((await remove().expect(404)).body.code).toBe('LIMIT_NOT_FOUND');
      for (const path of [`/limits/${id}`, `/limits/${id}/usage`])
        expect(await gift.get(path)).toMatchObject({ status: 404, body: 'LIMIT_NOT_FOUND' });
      expect((await put(id, { links: 1, period: 'day' }).set('if-match', '*').expect(412)).body.code).toBe(
        'PRECONDITION_FAILED',
      );
      for (const method of ['put', 'delete', 'get'] as const)
        await http(gift.app, gift.user)[method](`/admin/limits/${id}`).expect(403);
    });

    it('show an ADMIN the usage of every account', async () => {
      const user = await anAccount();
      const perPool = await aLimit({ links: 5, per: 'pool_id' }, user.account);
      const perAccount = await aLimit({ amount: 100, currency: 'EUR' }, user.account);
      const perKey = await aLimit({ links: 3, per: 'key_id' }, user.account);
      await user.link();
      const read = (path: string, key = gift.admin.key) => gift.get(`/admin/limits/${path}`, key);
      for (const [limit, value] of [
        [perPool, user.pool],
        [perAccount, undefined],
        [perKey, user.keyId],
      ] as const) {
        const { body } = await read(`${limit}/usage${value === undefined ? '' : `?value=${value}`}`);
        expect(body).toEqual(await usageOf(limit, value, user.key));
        expect(JSON.stringify(body)).toMatch(/"used":(?:1|25)\b/);
      }
      for (const [path, status] of [
        [`${perPool}/usage`, 400],
        ['unknown/usage', 404],
      ] as const)
        expect((await read(path)).status).toBe(status);
      expect((await read(`${perAccount}/usage`, user.key)).status).toBe(403);
      for (const id of [perPool, perAccount, perKey]) await drop(id);
    });

    it('show no usage without a valid value', async () => {
      const perReference = await aLimit({ links: 1, per: 'reference' });
      const perPool = await aLimit({ links: 1, per: 'pool_id' });
      const read = (id: string, query: string) => gift.get<unknown>(`/limits/${id}/usage${query}`);
      for (const [id, query] of [
        [perReference, ''],
        [perReference, '?value='],
        [perReference, '?value=%00'],
        [perReference, `?value=${'x'.repeat(256)}`],
        [perPool, '?value=no-uuid'],
      ] as const)
        expect(await read(id, query)).toMatchObject({
          status: 400,
          body: 'VALIDATION_FAILED',
          headers: { 'content-type': expect.stringContaining('text/plain') },
        });
      for (const [id, value] of [
        [perReference, 'x'.repeat(255)],
        [perPool, randomUUID()],
      ] as const)
        expect((await read(id, `?value=${value}`)).body).toMatchObject({
          value,
          links: { limit: 1, used: 0 },
        });
      for (const id of [perReference, perPool]) await drop(id);
    });

    it.each([
      ['links', { period: 'day' }],
      ['links', { period: 'day', links: 0 }],
      ['links', { period: 'day', links: 1.5 }],
      ['amount', { period: 'day', amount: 0, currency: 'EUR' }],
      ['amount', { period: 'day', amount: 1.234, currency: 'EUR' }],
      ['amount', { period: 'day', amount: '1', currency: 'EUR' }],
      ['amount', { period: 'day', links: 1, currency: 'EUR' }],
      ['currency', { period: 'day', amount: 1 }],
      ['currency', { period: 'day', amount: 1, currency: 'eur' }],
      ['period', { links: 1, period: 'hour' }],
      ['period', { links: 1 }],
      ['timezone', { links: 1, period: 'day', timezone: 'Mars/Base' }],
      ['timezone', { links: 1, period: 'day', timezone: '+02:00' }],
      ['per', { links: 1, period: 'day', per: 'country' }],
      ['only.pool_id', { links: 1, period: 'day', only: { pool_id: 'x' } }],
      ['only.other', { links: 1, period: 'day', only: { other: 'x' } }],
      ['extra', { links: 1, period: 'day', extra: 1 }],
      ['owner', { links: 1, period: 'day', owner: 'nobody-known' }],
    ])('reject a wrong %s: %j', async (field, body) => {
      const { body: problem } = await put('wrong', body).expect(400);
      expect(problem).toMatchObject({ code: 'VALIDATION_FAILED', errors: [{ field }] });
    });
  });

  describe('when a link is requested', () => {
    it('reject it beyond their number, are named in the response, and leave key and stock unchanged', async () => {
      const { account, key, pool, link } = await anAccount();
      const id = await aLimit({ links: 2 }, account);
      const first = randomUUID();
      const body = aBody();
      const made = await gift.aLink(pool, { apiKey: key, key: first, body });
      await link();
      const replay = await gift.generate<Link>(pool, { apiKey: key, key: first, body });
      expect(replay.body).toEqual(made);
      const refused = randomUUID();
      const reply = await link({}, refused);
      expect(reply).toMatchObject({
        status: 409,
        body: 'LIMIT_REACHED',
        headers: { 'perkway-limit': id, 'content-type': expect.stringContaining('text/plain') },
      });
      expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0);
      expect(Number(reply.headers['retry-after'])).toBeLessThanOrEqual(86_400);
      expect(
        (await gift.get<{ inventories: object[] }>(`/pool/${pool}`, key)).body.inventories,
      ).toMatchObject([{ available: 38, reserved: 2 }]);
      expect(await usageOf(id, undefined, key)).toMatchObject({
        value: account,
        links: { limit: 2, used: 2 },
      });
      await cancel(made, key);
      expect(await usageOf(id, undefined, key)).toMatchObject({ links: { used: 1 } });
      expect((await link({}, refused)).status).toBe(201);
      expect((await gift.generate(randomUUID(), { apiKey: key })).body).toBe('POOL_NOT_FOUND');
      expect((await link({ denomination: 3 })).body).toBe('LIMIT_REACHED');
    });

    it('send no Retry-After if they never reset', async () => {
      const { account, link, key } = await anAccount();
      const id = await aLimit({ links: 1, period: 'total' }, account);
      await link();
      const reply = await link();
      expect(reply).toMatchObject({ status: 409, headers: { 'perkway-limit': id } });
      expect(reply.headers['retry-after']).toBeUndefined();
      expect(await usageOf(id, undefined, key)).toMatchObject({ resets_at: null });
    });

    it('send Retry-After only if the period ends within a day', async () => {
      for (const period of ['day', 'week', 'year']) {
        const { account, link, key } = await anAccount();
        const id = await aLimit({ links: 1, period }, account);
        await link();
        const { headers, body } = await link();
        expect(body).toBe('LIMIT_REACHED');
        const left = (Date.parse((await usageOf(id, undefined, key)).resets_at!) - Date.now()) / 1_000;
        if (left > 86_400) expect(headers['retry-after']).toBeUndefined();
        else expect(Math.abs(Number(headers['retry-after']) - left)).toBeLessThan(30);
      }
    });

    it('count only links created in the current period, also when earlier links are cancelled', async () => {
      const { account, key, link } = await anAccount();
      const earlier = [(await link()).body, (await link()).body];
      await gift.database.query(
        `update reward_links set created_at = created_at - interval '25 hours' where account = $1`,
        [account],
      );
      const id = await aLimit({ links: 1 }, account);
      expect(await usageOf(id, undefined, key)).toMatchObject({ links: { used: 0 } });
      expect((await link()).status).toBe(201);
      for (const made of earlier) await cancel(made, key);
      expect(await usageOf(id, undefined, key)).toMatchObject({ links: { used: 1 } });
      expect((await link()).body).toBe('LIMIT_REACHED');
    });

    it('count links of every currency, or only those of one pool and campaign', async () => {
      const { account, key, pool, link } = await anAccount();
      await gift.addCards(pool, 5, { denomination: 50, currency: 'USD', country: 'US' });
      const only = { pool_id: pool.toUpperCase(), campaign_id: 'spring' };
      const both = await aLimit({ links: 1, only }, account);
      const all = await aLimit({ links: 4 }, account);
      expect((await link({ campaign_id: 'spring' })).status).toBe(201);
      expect((await link({ campaign_id: 'spring' })).headers['perkway-limit']).toBe(both);
      const dollars = { denomination: 50, currency: 'USD' };
      expect((await link({ ...dollars, campaign_id: 'spring' })).headers['perkway-limit']).toBe(both);
      for (const given of [{}, dollars, { campaign_id: 'autumn' }])
        expect((await link(given)).status).toBe(201);
      expect((await link(dollars)).headers['perkway-limit']).toBe(all);
      expect(await usageOf(all, undefined, key)).toMatchObject({ links: { used: 4 } });
    });

    it('add up amounts exactly, and only in their own currency', async () => {
      const { account, key, pool, link } = await anAccount(0);
      await gift.addCards(pool, 9, { denomination: 0.1, currency: 'EUR', country: 'FR' });
      await gift.addCards(pool, 2, { denomination: 50, currency: 'USD', country: 'US' });
      const id = await aLimit({ amount: 0.3, currency: 'EUR' }, account);
      for (let made = 0; made < 3; made += 1) expect((await link({ denomination: 0.1 })).status).toBe(201);
      expect((await link({ denomination: 0.1 })).body).toBe('LIMIT_REACHED');
      expect((await link({ denomination: 50, currency: 'USD' })).status).toBe(201);
      expect((await usageOf(id, undefined, key)).amount).toEqual({ limit: 0.3, used: 0.3, currency: 'EUR' });
    });

    it('count each value separately, and count nothing if any of them rejects the link', async () => {
      const { account, key, pool, link } = await anAccount();
      const perCampaign = await aLimit({ links: 1, per: 'campaign_id' }, account);
      const perPool = await aLimit({ links: 3, per: 'pool_id', only: { pool_id: pool } }, account);
      const elsewhere = await aLimit({ links: 1, only: { campaign_id: 'other' } }, account);
      expect((await link({ campaign_id: 'a' })).status).toBe(201);
      expect((await link({ campaign_id: 'a' })).headers['perkway-limit']).toBe(perCampaign);
      expect((await link({ campaign_id: 'b' })).status).toBe(201);
      expect((await link()).status).toBe(201);
      expect((await link()).headers['perkway-limit']).toBe(perPool);
      // Refused by the pool's limit, so it takes nothing from the campaign's.
      expect((await link({ campaign_id: 'c' })).headers['perkway-limit']).toBe(perPool);
      expect(await usageOf(perCampaign, 'c', key)).toMatchObject({ value: 'c', links: { used: 0 } });
      expect(await usageOf(perPool, pool.toUpperCase(), key)).toMatchObject({
        value: pool,
        links: { used: 3 },
      });
      expect(await usageOf(elsewhere, undefined, key)).toMatchObject({ links: { used: 0 } });
    });

    it.each(['journey_id', 'reference', 'created_by', 'key_id'] as const)('apply per %s', async (per) => {
      const { account, key, link } = await anAccount();
      const id = await aLimit({ links: 1, per }, account);
      const made = await link({ journey_id: 'j-1', reference: 'r-1' });
      expect(made.status).toBe(201);
      expect((await link({ journey_id: 'j-1', reference: 'r-1' })).body).toBe('LIMIT_REACHED');
      const [row] = await gift.database.query<Record<string, string>>(
        'select journey_id, reference, created_by, key_id from reward_links where id = $1',
        [made.body.id],
      );
      expect(await usageOf(id, row![per], key)).toMatchObject({ links: { limit: 1, used: 1 } });
      await cancel(made.body, key);
      expect((await link({ journey_id: 'j-1', reference: 'r-1' })).status).toBe(201);
    });

    it('count the links of a rotated key together if they apply per key_id', async () => {
      const { account, key, keyId, pool } = await anAccount();
      const link = (apiKey: string) => gift.generate<Link>(pool, { apiKey, body: aBody() });
      const id = await aLimit({ links: 2, per: 'key_id' }, account);
      expect((await link(key)).status).toBe(201);
      const next = { ...aKey(account), countedAs: keyId };
      gift.accounts.add(next);
      expect((await link(next.key)).status).toBe(201);
      for (const either of [key, next.key]) expect((await link(either)).body).toBe('LIMIT_REACHED');
      const usage = { links: { limit: 2, used: 2 } };
      expect(await usageOf(id, keyId, key)).toMatchObject({ value: keyId, ...usage });
      expect(await usageOf(id, next.keyId, next.key)).toMatchObject({ value: next.keyId, ...usage });
      // An ADMIN names the first key.
      const stored = (value: string) => gift.get(`/admin/limits/${id}/usage?value=${value}`, gift.admin.key);
      expect((await stored(keyId)).body).toMatchObject({ value: keyId, ...usage });
      expect((await stored(next.keyId)).body).toMatchObject({ links: { used: 0 } });
    });

    it('count links that were created before the limit', async () => {
      const { account, key, pool, link } = await anAccount();
      const made = (await link()).body;
      await link();
      const id = await aLimit({ links: 2, amount: 1000, currency: 'EUR' }, account);
      expect(await usageOf(id, undefined, key)).toMatchObject({ links: { used: 2 }, amount: { used: 50 } });
      expect((await link()).body).toBe('LIMIT_REACHED');
      await put(id, { links: 2, period: 'day', per: 'pool_id' }, account).expect(200);
      expect(await usageOf(id, pool, key)).toMatchObject({ links: { used: 2 } });
      await gift.expire(made.token);
      expect(await usageOf(id, pool, key)).toMatchObject({ links: { used: 1 } });
      expect((await link()).status).toBe(201);
    });

    it('stop counting a link that expires, but not one that was revealed', async () => {
      const { account, key, link } = await anAccount();
      const id = await aLimit({ links: 2 }, account);
      const [kept, ended] = [(await link()).body, (await link()).body];
      await gift.reveal(kept.token);
      await gift.expire(kept.token);
      expect((await link()).body).toBe('LIMIT_REACHED');
      await gift.expire(ended.token);
      expect(await usageOf(id, undefined, key)).toMatchObject({ links: { used: 1 } });
      expect((await link()).status).toBe(201);
      expect((await link()).body).toBe('LIMIT_REACHED');
      expect(await usageOf(id, undefined, key)).toMatchObject({ links: { used: 2 } });
    });

    /** Connects with a slot that the app does not use: transactions of one slot wait for each other before any other lock. */
    const sessionWithOwnSlot = async (): Promise<pg.Client> => {
      for (;;) {
        const session = new pg.Client(gift.database.url);
        await session.connect();
        const { rows } = await session.query(
          `select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
             and pid % 16 = pg_backend_pid() % 16`,
        );
        if (rows.length === 0) return session;
        await session.end();
      }
    };

    it('wait for a reveal that was in time but is not committed yet', async () => {
      const { account, link } = await anAccount();
      await aLimit({ links: 1 }, account);
      const made = (await link()).body;
      const session = await sessionWithOwnSlot();
      // Doubles the time if a busy machine needs longer.
      const revealIn = async (ms: number): Promise<string> => {
        await session.query('begin');
        await gift.database.query(
          `update reward_links set expires_at = clock_timestamp() + make_interval(secs => $2) where id = $1`,
          [made.id, ms / 1000],
        );
        const { rows } = await session.query('select reveal_link($1) as event', [made.id]);
        if (rows[0].event !== null) return rows[0].event;
        await session.query('rollback');
        return revealIn(2 * ms);
      };
      try {
        // On a busy machine the request may reach the lock only after the idle timeout of the role.
        await session.query('set idle_in_transaction_session_timeout = 0');
        expect(JSON.parse(await revealIn(1_000))).toMatchObject({ state: 'revealed' });
        const exists = async (sql: string, ...values: string[]) =>
          (await gift.database.query(sql, values)).length > 0;
        await waitFor(
          () => exists('select from reward_links where id = $1 and expires_at <= now()', made.id),
          'its expiry',
        );
        const requested = link();
        await Promise.race([
          waitFor(
            () =>
              exists(`select from pg_stat_activity where wait_event = 'advisory' and query like '%settle_limits%'
                and datname = current_database() and pid <> pg_backend_pid()`),
            'the settling to wait',
          ),
          requested.then(({ status, body }) => {
            throw new Error(`responded before the reveal was committed: ${status} ${body}`);
          }),
        ]);
        await session.query('commit');
        expect((await requested).body).toBe('LIMIT_REACHED');
      } finally {
        await session.end();
      }
    });
  });

  it('still apply if the clock is set back to before the last settlement', async () => {
    const { account, key, link } = await anAccount();
    const id = await aLimit({ links: 2 }, account);
    const [revealed] = [(await link()).body, (await link()).body];
    // Simulates that both links expired and were settled, and that the clock was then set back by two days.
    const setBack = async () => {
      await gift.database.query(
        `update limit_counts set links = 0, amount = 0, settled_until = now() + interval '2 days' where limit_id = $1`,
        [id],
      );
      await gift.database.query(`update limits set settled_until = now() + interval '2 days' where id = $1`, [
        id,
      ]);
    };
    await setBack();
    expect(await usageOf(id, undefined, key)).toMatchObject({ links: { used: 2 } });
    expect((await link()).body).toBe('LIMIT_REACHED');
    await expectAudit();
    await setBack();
    await gift.reveal(revealed.token);
    await expectAudit();
    expect((await link()).body).toBe('LIMIT_REACHED');
  });

  it('publish one event for each limit, value and period', async () => {
    const { account, key, link } = await anAccount();
    const id = await aLimit({ links: 1 }, account);
    const made = (await link()).body;
    await link();
    await link();
    await cancel(made, key);
    await link();
    await link();
    const { period_start, resets_at } = await usageOf(id, undefined, key);
    const published = async () =>
      (await trackedEvents(gift.nats.url)).filter(
        (event) => event.type === 'limit_reached' && event.limit === id,
      );
    await waitFor(async () => (await published()).length > 0, 'the event');
    await waitFor(
      async () => (await gift.database.query('select from tracking_outbox')).length === 0,
      'an empty outbox',
    );
    expect(await published()).toEqual([
      {
        v: 1,
        type: 'limit_reached',
        account,
        limit: id,
        value: account,
        id: expect.stringMatching(/^[0-9a-f]{32}:limit_reached$/),
        at: expect.any(Number),
        periodStart: Date.parse(period_start),
        resetsAt: Date.parse(resets_at!),
      },
    ]);
  });

  it('publish no value that names a person', async () => {
    const { account, link } = await anAccount();
    const id = await aLimit({ links: 1, per: 'reference' }, account);
    await link({ reference: 'a-person' });
    const find = async () =>
      (await trackedEvents(gift.nats.url)).find(
        (event) => event.type === 'limit_reached' && event.limit === id,
      );
    await waitFor(async () => (await find()) !== undefined, 'the event');
    expect(JSON.stringify(await find())).not.toContain('a-person');
  });

  it('are not counted for a request that gets no card', async () => {
    const { account, pool, key } = await anAccount(3);
    await aLimit({ links: 3 }, account);
    const none = aBody({ denomination: 99 });
    const replies = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        gift.generate(pool, { apiKey: key, ...(index % 2 ? { body: none } : {}) }),
      ),
    );
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(3);
  });

  it('never scan the full table of links, whether links are counted, rejected, settled or shown', async () => {
    const { account, pool, key, link } = await anAccount();
    const stored = 20_000;
    // Links of other accounts, and statistics that say that the table is large.
    await gift.database.query(`
      insert into reward_links (id, inventory_id, card_id, account, idempotency_key, body_digest, token_key, created_by, expires_at)
      select gen_random_uuid(), -1, -n, 'another', gen_random_uuid(), 'x', 'k1', 'c', now() + n * interval '1 minute'
      from generate_series(1, ${stored}) n;
      analyze reward_links`);
    const values = { pool_id: pool, campaign_id: 'spring', created_by: 'crm', reference: 'customer-1' };
    const ids = [await aLimit({ links: 3 }, account)];
    for (const per of Object.keys(values))
      ids.push(await aLimit({ links: 30, amount: 1_000, currency: 'EUR', per }, account));
    const body = { campaign_id: values.campaign_id, reference: values.reference };
    const rowsRead = async () => {
      // Postgres reports a session's statistics with a delay of up to a second.
      await sleep(1_300);
      const [row] = await gift.database.query<{ n: string }>(
        `select seq_tup_read as n from pg_stat_user_tables where relname = 'reward_links' and schemaname = current_schema`,
      );
      return Number(row!.n);
    };
    const before = await rowsRead();
    const made = [];
    for (let nth = 0; nth < 3; nth += 1) made.push((await link(body)).body);
    expect((await link(body)).body).toBe('LIMIT_REACHED');
    await expire(made[0]!);
    expect((await link(body)).status).toBe(201);
    for (const [index, value] of [undefined, ...Object.values(values)].entries())
      await usageOf(ids[index]!, value, key);
    expect((await rowsRead()) - before).toBeLessThan(stored);
    await gift.database.query(`delete from reward_links where account = 'another'`);
  });

  it('are compared with a recount by the audit', async () => {
    const { account, link } = await anAccount();
    const id = await aLimit({ links: 5 }, account);
    await link();
    await gift.database.query('update limit_counts set links = links + 1 where limit_id = $1', [id]);
    const report = await audit({ databaseUrl: gift.database.urls.admin });
    expect(report.output).toContain(`a wrong count of a limit: 1, ${id}`);
    expect(report.passed).toBe(false);
    await gift.database.query('update limit_counts set links = links - 1 where limit_id = $1', [id]);
    await expectAudit();
  });

  it.each([
    ['day', 'UTC', '2026-11-23T12:00:00Z', '2026-11-23T00:00:00.000Z', '2026-11-24T00:00:00.000Z'],
    ['week', 'UTC', '2026-11-22T23:59:59Z', '2026-11-16T00:00:00.000Z', '2026-11-23T00:00:00.000Z'],
    // 25 and 23 hours.
    ['day', 'Europe/Paris', '2026-10-25T12:00:00Z', '2026-10-24T22:00:00.000Z', '2026-10-25T23:00:00.000Z'],
    ['day', 'Europe/Paris', '2026-03-29T12:00:00Z', '2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z'],
    [
      'month',
      'America/New_York',
      '2026-03-01T04:00:00Z',
      '2026-02-01T05:00:00.000Z',
      '2026-03-01T05:00:00.000Z',
    ],
    [
      'year',
      'Pacific/Auckland',
      '2026-12-31T11:00:00Z',
      '2026-12-31T11:00:00.000Z',
      '2027-12-31T11:00:00.000Z',
    ],
    // Midnight occurs twice, then not at all.
    ['day', 'America/Havana', '2025-11-02T04:30:00Z', '2025-11-02T04:00:00.000Z', '2025-11-03T05:00:00.000Z'],
    ['day', 'America/Havana', '2025-03-09T12:00:00Z', '2025-03-09T05:00:00.000Z', '2025-03-10T04:00:00.000Z'],
    ['total', 'UTC', '2026-11-23T12:00:00Z', '1970-01-01T00:00:00.000Z', null],
  ])('have periods by local midnight: a %s in %s at %s', async (period, timezone, at, start, end) => {
    const [row] = await gift.database.query<{ period_start: Date; resets_at: Date | null }>(
      'select * from limit_period($1, $2, $3)',
      [at, period, timezone],
    );
    expect(row!.period_start.toISOString()).toBe(start);
    expect(row!.resets_at && row!.resets_at.toISOString()).toBe(end);
  });
});
