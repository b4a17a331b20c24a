import { randomUUID } from 'node:crypto';
import { audit } from '@perkway/audit';
import { http, type TestKey } from '@perkway/testing';
import type { RewardLink } from '../src/reward-links/issued-link.dto.js';
import { aBody, EUR_25, GiftCards, inSeconds, tomorrow } from './support.js';

interface LinkPage {
  data: RewardLink[];
  next_cursor: string | null;
}
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const ids = ({ data }: LinkPage) => data.map(({ id }) => id);

describe('the links of an account', () => {
  let gift: GiftCards;
  beforeAll(async () => {
    gift = await GiftCards.start();
  });
  afterEach(async () => {
    const report = await audit({ databaseUrl: gift.database.urls.admin });
    expect(report.output).toContain('Every card is in exactly one place');
  });
  afterAll(() => gift?.close());

  const as = (key: TestKey = gift.user) => http(gift.app, key);
  const get = async (id: string) =>
    (await as().get(`/reward-links/${id}`).expect(200).expect('cache-control', 'no-store'))
      .body as RewardLink;
  const cancel = (id: string, key?: TestKey) => as(key).post(`/reward-links/${id}/cancel`);
  const list = async (query: Record<string, unknown> = {}, key?: TestKey) =>
    (await as(key).get('/reward-links').query(query).expect(200)).body as LinkPage;
  /** Reads all pages in order. */
  const walk = async (query: Record<string, unknown>, key?: TestKey, between = async () => {}) => {
    const pages = [await list(query, key)];
    for (let cursor; (cursor = pages.at(-1)!.next_cursor);) {
      await between();
      pages.push(await list({ ...query, cursor }, key));
    }
    return pages;
  };

  it('are returned with all their fields, but without token and card', async () => {
    const pool = await gift.aPool(2);
    const expires_at = tomorrow();
    const own = { campaign_id: 'Frühling 🌷', journey_id: 'j-1', reference: 'r'.repeat(255) };
    const made = await gift.aLink(pool, { body: aBody({ expires_at, ...own }), createdBy: 'crm' });
    const link = await get(made.id);
    expect(link).toEqual({
      id: made.id,
      pool_id: pool,
      state: 'RESERVED',
      ...EUR_25,
      created_by: 'crm',
      expires_at,
      ...own,
      created_at: expect.stringMatching(ISO),
      revealed_at: null,
      cancelled_at: null,
      withdrawn_at: null,
      replaces: null,
      replaced_by: null,
      replacement_reason: null,
    });
    expect(await get(made.id.toUpperCase())).toEqual(link);

    await gift.reveal(made.token);
    const revealed = await get(made.id);
    expect(revealed).toEqual({ ...link, state: 'REVEALED', revealed_at: expect.stringMatching(ISO) });
    expect(await list({ reference: own.reference })).toEqual({ data: [revealed], next_cursor: null });

    const plain = await gift.aLink(pool, { body: aBody({ reference: null, campaign_id: null }) });
    expect(await get(plain.id)).toMatchObject({ campaign_id: null, journey_id: null, reference: null });
    await gift.expire(plain.token);
    expect(await get(plain.id)).toMatchObject({ state: 'EXPIRED', cancelled_at: null, revealed_at: null });
  });

  it('cannot be read or cancelled by other accounts', async () => {
    const pool = await gift.aPool(1);
    const { id } = await gift.aLink(pool);
    for (const key of [gift.newKey(), gift.admin])
      for (const each of [id, randomUUID(), 'x', '%00', `${id}x`]) {
        const responses = [as(key).get(`/reward-links/${each}`), cancel(each, key)];
        for (const response of responses)
          expect(await response).toMatchObject({ status: 404, text: 'LINK_NOT_FOUND' });
      }
    expect((await get(id)).state).toBe('RESERVED');
    await http(gift.app).get('/reward-links').expect(401, 'API_KEY_INVALID');
    await http(gift.app).post(`/reward-links/${id}/cancel`).expect(401, 'API_KEY_INVALID');
  });

  describe('when cancelled', () => {
    it('expire at once and free their card', async () => {
      const pool = await gift.aPool(1);
      const request = { key: randomUUID(), body: aBody() };
      const made = await gift.aLink(pool, request);
      const { body: cancelled } = await cancel(made.id).expect(200).expect('cache-control', 'no-store');
      expect(cancelled).toMatchObject({ id: made.id, state: 'EXPIRED', revealed_at: null });
      expect(cancelled.cancelled_at).toMatch(ISO);
      expect(cancelled.expires_at).toBe(Math.floor(Date.parse(cancelled.cancelled_at) / 1000));
      expect(await gift.numbers(pool)).toMatchObject([{ ...EUR_25, available: 1, reserved: 0, redeemed: 0 }]);
      expect(await gift.reveal(made.token)).toMatchObject({ error: 'LINK_EXPIRED' });
      expect((await gift.open(made.token)).link).toMatchObject({
        state: 'EXPIRED',
        expires_at: cancelled.expires_at,
        cancelled: true,
      });

      const next = await gift.aLink(pool);
      expect(await gift.numbers(pool)).toMatchObject([{ ...EUR_25, available: 0, reserved: 1, redeemed: 0 }]);
      expect((await gift.reveal(next.token)).link?.state).toBe('REVEALED');
      // Cancelling again changes nothing, although the card belongs to another link now.
      await cancel(made.id).expect(200, cancelled);
      expect(await get(made.id)).toEqual(cancelled);
      expect(await gift.aLink(pool, request)).toEqual(made);
    });

    it('stay as they are if already revealed or expired', async () => {
      const pool = await gift.aPool(2);
      const [one, two] = [await gift.aLink(pool), await gift.aLink(pool)];
      await gift.reveal(one.token);
      await cancel(one.id).expect(409, 'LINK_ALREADY_REVEALED');
      expect((await gift.open(one.token)).link?.state).toBe('REVEALED');
      await gift.expire(two.token);
      const expired = await get(two.id);
      expect((await gift.open(two.token)).link).not.toHaveProperty('cancelled');
      await cancel(two.id).expect(200, expired);
      expect(await gift.numbers(pool)).toMatchObject([{ ...EUR_25, available: 1, reserved: 0, redeemed: 1 }]);
    });
  });

  describe('in a list', () => {
    let key: TestKey;
    let pools: string[];
    let links: string[];
    beforeAll(async () => {
      key = gift.newKey();
      pools = [await gift.aPool(5, EUR_25, key.account), await gift.aPool(5, EUR_25, key.account)];
      links = [];
      for (let index = 0; index < 6; index += 1) {
        const body = aBody({
          campaign_id: index % 2 ? 'odd' : 'even',
          reference: `order-${index >> 1}`,
          ...(index < 3 ? { journey_id: 'j' } : {}),
        });
        const createdBy = index < 4 ? 'ann' : 'bob';
        links.push((await gift.aLink(pools[index % 2]!, { apiKey: key.key, body, createdBy })).id);
      }
      links.reverse();
      await cancel(links[0]!, key).expect(200);
    });

    it('are sorted newest first, in pages', async () => {
      expect(ids(await list({}, key))).toEqual(links);
      for (const limit of [1, 2, 4, 6, 200]) {
        const pages = await walk({ limit }, key);
        expect(pages.flatMap(ids)).toEqual(links);
        expect(pages).toHaveLength(Math.ceil(6 / limit));
      }
      expect(await list({}, gift.newKey())).toEqual({ data: [], next_cursor: null });
    });

    it('are filtered by exact match', async () => {
      const expected: [Record<string, string>, number[]][] = [
        [{ state: 'EXPIRED' }, [0]],
        [{ state: 'RESERVED' }, [1, 2, 3, 4, 5]],
        [{ state: 'REVEALED' }, []],
        [{ pool_id: pools[0]!.toUpperCase() }, [1, 3, 5]],
        [{ pool_id: randomUUID() }, []],
        [{ short_id: links[2]!.slice(0, 8).toUpperCase() }, [2]],
        [{ short_id: links[2]!.slice(0, 7) }, []],
        [{ short_id: '\0' }, []],
        [{ created_by: 'ann' }, [2, 3, 4, 5]],
        [{ created_by: 'Ann' }, []],
        [{ reference: 'order-1' }, [2, 3]],
        [{ reference: 'order' }, []],
        [{ reference: '%' }, []],
        [{ reference: '' }, []],
        [{ reference: '\0' }, []],
        [{ campaign_id: 'odd' }, [0, 2, 4]],
        [{ journey_id: 'j' }, [3, 4, 5]],
        [
          { journey_id: 'j', campaign_id: 'even', created_by: 'ann', state: 'RESERVED', pool_id: pools[0]! },
          [3, 5],
        ],
        [{ reference: 'order-2', state: 'EXPIRED', campaign_id: 'odd' }, [0]],
      ];
      for (const [query, found] of expected) {
        const wanted = found.map((index) => links[index]);
        expect([query, ids(await list(query, key))]).toEqual([query, wanted]);
        expect([query, (await walk({ ...query, limit: 1 }, key)).flatMap(ids)]).toEqual([query, wanted]);
        expect(ids(await list(query))).not.toEqual(expect.arrayContaining([links[0]]));
      }
    });

    it.each([
      ['STATE_INVALID', { state: ['', 'reserved', 'CANCELLED'] }],
      ['POOL_ID_INVALID', { pool_id: ['', 'x', '\0'] }],
      ['LIMIT_INVALID', { limit: ['', '0', '201', '1.5', 'x'] }],
      ['CURSOR_INVALID', { cursor: ['', 'x', 'A'.repeat(60)] }],
    ])('are not returned for an invalid parameter: %s', async (code, wrong) => {
      for (const [name, values] of Object.entries(wrong))
        for (const value of values)
          await as(key)
            .get('/reward-links')
            .query({ [name]: value })
            .expect(400, code)
            .expect('perkway-detail', /\w \w/);
    });

    it('have cursors that other accounts cannot use', async () => {
      const { next_cursor: cursor } = await list({ limit: 1 }, key);
      await as().get('/reward-links').query({ cursor }).expect(400, 'CURSOR_INVALID');
    });

    it('are found by an ADMIN in all accounts, by the start of their id', async () => {
      const [id] = links;
      const find = (short_id: unknown, caller = gift.admin) =>
        as(caller).get('/admin/reward-links').query({ short_id });
      const { body } = await find(id!.slice(0, 8).toUpperCase())
        .expect(200)
        .expect('cache-control', 'no-store');
      const { body: link } = await as(key).get(`/reward-links/${id}`).expect(200);
      expect(body.data).toHaveLength(1);
      const { owner, ...found } = body.data[0];
      expect(owner).toBe(key.account);
      expect(link).toMatchObject(found);
      expect(Object.keys(found)).toEqual(expect.arrayContaining(['id', 'pool_id', 'state', 'cancelled_at']));
      expect(found).not.toHaveProperty('reference');
      expect(found).not.toHaveProperty('journey_id');
      expect((await find('00000000').expect(200)).body).toEqual({ data: [] });
      for (const wrong of [undefined, '', id!.slice(0, 7), id, "' or true"])
        expect((await find(wrong).expect(400)).body.errors).toMatchObject([{ field: 'short_id' }]);
      await find(id!.slice(0, 8), key).expect(403);
    });

    it('appear exactly once while others are created, cancelled and revealed', async () => {
      const other = gift.newKey();
      const pool = await gift.aPool(60, EUR_25, other.account);
      const make = () =>
        Promise.all(Array.from({ length: 5 }, () => gift.aLink(pool, { apiKey: other.key })));
      const first = (await Promise.all([make(), make(), make(), make()])).flat();
      let round = 0;
      const pages = await walk({ limit: 3 }, other, async () => {
        await make();
        await cancel(first[round]!.id, other).expect(200);
        await gift.reveal(first[19 - round]!.token);
        round += 1;
      });
      const seen = pages.flatMap(ids);
      expect(new Set(seen).size).toBe(seen.length);
      expect(new Set(seen)).toEqual(new Set(first.map(({ id }) => id)));
    });

    it('are found on a later page if they lie beyond what one page scans', async () => {
      const other = gift.newKey();
      const pool = await gift.aPool(2, EUR_25, other.account);
      const old = [];
      for (const expires_at of [inSeconds(60), tomorrow()])
        old.unshift(await gift.aLink(pool, { apiKey: other.key, body: aBody({ expires_at }) }));
      for (const { token } of old) await gift.expire(token);
      await gift.database.query(
        `insert into reward_links (id, inventory_id, card_id, account, idempotency_key, body_digest, token_key, created_by, expires_at)
         select gen_random_uuid(), l.inventory_id, -n, l.account, gen_random_uuid(), 'x', 'k1', 'c', now() + interval '1 day'
         from reward_links l cross join generate_series(1, 45000) n where l.id = $1`,
        [old[0]!.id],
      );
      const pages = await walk({ state: 'EXPIRED' }, other);
      expect(pages.map(ids)).toEqual([[], [], old.map(({ id }) => id)]);
      await gift.database.query('delete from reward_links where card_id < 0');
    });
  });
});
