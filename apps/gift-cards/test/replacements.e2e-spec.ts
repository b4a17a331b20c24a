import { audit } from '@perkway/audit';
import { ERASE, type RewardLinkEvent } from '@perkway/domain';
import { anErasure, aKey, http, rpcCaller, trackedEvents, untilRelayed, untilServed } from '@perkway/testing';
import { randomUUID } from 'node:crypto';
import type { RewardLink } from '../src/reward-links/issued-link.dto.js';
import { aBody, EUR_25, GiftCards, inSeconds, type GenerateOptions, type Link } from './support.js';

const DAY_S = 86_400;

describe('a replacement', () => {
  let gift: GiftCards;
  beforeAll(async () => {
    gift = await GiftCards.start();
  });
  afterAll(() => gift?.close());

  interface Given {
    body?: object;
    apiKey?: string;
    createdBy?: string | null;
  }
  const replace = async (
    id: string,
    { body = {}, apiKey = gift.user.key, createdBy = 'support' }: Given = {},
  ) => {
    const request = http(gift.app, { key: apiKey }).post(`/reward-links/${id}/replace`);
    if (createdBy !== null) void request.set('x-created-by', createdBy);
    const {
      status,
      headers,
      type,
      text,
      body: json,
    } = await request.send({ reason: 'code rejected', ...body });
    return { status, headers, type, text, link: json as Link };
  };
  const refusal = async (id: string, given?: Given): Promise<string> => {
    const { status, text, type } = await replace(id, given);
    expect(type).toBe('text/plain');
    return `${status} ${text}`;
  };
  const read = async (id: string, key = gift.user.key) =>
    (await gift.get<RewardLink>(`/reward-links/${id}`, key)).body;
  const aRevealedLink = async (pool: string, options?: GenerateOptions): Promise<Link> => {
    const link = await gift.aLink(pool, options);
    await gift.reveal(link.token);
    return link;
  };

  it('reserves another card of the same kind, with the fields and attributes of the original', async () => {
    const pool = await gift.aPool(2, { denomination: 40, currency: 'EUR', country: 'DE' });
    await gift.addCards(pool, 3);
    const fields = { campaign_id: 'spring', journey_id: 'j-1', reference: 'order-1007' };
    const original = await aRevealedLink(pool, {
      body: aBody({ denomination: 40, ...fields, expires_at: inSeconds(10 * DAY_S) }),
      attributes: { utm_source: 'mail' },
    });
    const { status, headers, link } = await replace(original.id);
    expect([status, headers['cache-control'], headers['idempotent-replayed']]).toEqual([
      201,
      'no-store',
      undefined,
    ]);
    expect(link).toEqual({
      id: expect.any(String),
      reward_link: expect.any(String),
      token: expect.any(String),
    });
    expect(link.id).not.toBe(original.id);
    expect(await read(link.id)).toMatchObject({
      pool_id: pool,
      denomination: 40,
      currency: 'EUR',
      country: 'DE',
      ...fields,
      state: 'RESERVED',
      created_by: 'support',
      replaces: original.id,
      replaced_by: null,
      replacement_reason: 'code rejected',
    });
    const { expires_at } = await read(link.id);
    expect(Math.abs(expires_at - inSeconds(10 * DAY_S))).toBeLessThan(60);
    expect(await read(original.id)).toMatchObject({
      state: 'REVEALED',
      replaces: null,
      replaced_by: link.id,
    });
    const [first, second] = [await gift.reveal(original.token), await gift.reveal(link.token)];
    // The recipient sees that the first card was replaced, and the second one was not.
    for (const { link: shown } of [first, await gift.open(original.token)])
      expect(shown).toMatchObject({ state: 'REVEALED', replaced: true });
    expect(second.link).not.toHaveProperty('replaced');
    expect(second.link?.card?.code).not.toBe(first.link?.card?.code);
    await untilRelayed(gift.database);
    const events = (await trackedEvents(gift.nats.url)) as RewardLinkEvent[];
    expect(events.find(({ id }) => id === `${link.id}:generated`)).toMatchObject({
      campaign: 'spring',
      journey: 'j-1',
      reference: 'order-1007',
      utm: { utm_source: 'mail' },
      replaces: original.id,
    });
    expect(events.find(({ id }) => id === `${link.id}:revealed`)).toMatchObject({ createdBy: 'support' });
    // A replacement may be replaced, too.
    expect(await refusal(link.id)).toBe('409 NO_AVAILABLE_CARDS');
    await gift.addCards(pool, 1, { denomination: 40, currency: 'EUR', country: 'DE' });
    expect((await replace(link.id)).status).toBe(201);
    expect(await audit({ databaseUrl: gift.database.urls.admin })).toMatchObject({ passed: true });
  });

  it('is the same link when it is requested again, whatever the body', async () => {
    const pool = await gift.aPool(3);
    const original = await aRevealedLink(pool);
    const { link } = await replace(original.id, { body: { expires_at: inSeconds(60) } });
    for (const body of [{}, { reason: 'other' }, { expires_at: inSeconds(120) }]) {
      const again = await replace(original.id, { body, createdBy: 'somebody' });
      expect(again).toMatchObject({ status: 201, link });
      expect(again.headers['idempotent-replayed']).toBe('true');
    }
    await gift.expire(link.token);
    expect((await replace(original.id)).link).toEqual(link);
    expect(await read(link.id)).toMatchObject({ created_by: 'support', replacement_reason: 'code rejected' });
    expect(await gift.numbers(pool)).toMatchObject([{ available: 2, redeemed: 1 }]);
  });

  it('is one link for 200 requests at once', async () => {
    const pool = await gift.aPool(10);
    const original = await aRevealedLink(pool);
    const replies = await Promise.all(
      Array.from({ length: 200 }, () => untilServed(() => replace(original.id))),
    );
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(replies.map(({ link }) => link.id)).size).toBe(1);
    expect(replies.filter(({ headers }) => headers['idempotent-replayed'] === 'true')).toHaveLength(199);
    expect(await gift.numbers(pool)).toMatchObject([{ available: 8, reserved: 1, redeemed: 1 }]);
  });

  it('is only for revealed links of the account', async () => {
    const pool = await gift.aPool(3);
    const [open, cancelled, expired] = [
      await gift.aLink(pool),
      await gift.aLink(pool),
      await gift.aLink(pool),
    ];
    await http(gift.app, gift.user).post(`/reward-links/${cancelled.id}/cancel`).expect(200);
    await gift.expire(expired.token);
    for (const { id } of [open, cancelled, expired]) expect(await refusal(id)).toBe('409 LINK_NOT_REVEALED');
    for (const id of ['x', randomUUID()]) expect(await refusal(id)).toBe('404 LINK_NOT_FOUND');
    await gift.reveal(open.token);
    expect(await refusal(open.id, { apiKey: gift.newKey().key })).toBe('404 LINK_NOT_FOUND');
    expect(await refusal(open.id, { apiKey: 'unknown-key-0000' })).toBe('401 API_KEY_INVALID');
    const reader = { ...aKey(gift.user.account), scopes: ['links:read', 'links:cancel'] as const };
    gift.accounts.add(reader);
    expect(await refusal(open.id, { apiKey: reader.key })).toBe('403 SCOPE_MISSING');
    expect((await replace(open.id)).status).toBe(201);
  });

  describe('with cancel_unrevealed', () => {
    const lost = { cancel_unrevealed: true, expires_at: inSeconds(DAY_S) };

    it('cancels a link that was not revealed and replaces it, once for 50 requests at once', async () => {
      const pool = await gift.aPool(3);
      const original = await gift.aLink(pool, { body: aBody({ reference: 'order-9' }) });
      const replies = await Promise.all(
        Array.from({ length: 50 }, () => replace(original.id, { body: lost })),
      );
      expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([201]));
      const [{ link }, ...others] = replies as [(typeof replies)[0], ...typeof replies];
      expect(new Set(others.map((other) => other.link.id))).toEqual(new Set([link.id]));
      expect(await read(original.id)).toMatchObject({
        state: 'EXPIRED',
        cancelled_at: expect.any(String),
        replaced_by: link.id,
      });
      expect(await read(link.id)).toMatchObject({
        ...{ state: 'RESERVED', reference: 'order-9', replaces: original.id },
        expires_at: lost.expires_at,
      });
      expect(await gift.numbers(pool)).toMatchObject([{ available: 2, reserved: 1, redeemed: 0 }]);
      expect((await gift.reveal(original.token)).error).toBe('LINK_EXPIRED');
      expect((await gift.open(original.token)).link).toMatchObject({
        ...{ state: 'EXPIRED', cancelled: true, replaced: true },
      });
      expect((await gift.open(link.token)).link).not.toHaveProperty('replaced');
      expect((await gift.reveal(link.token)).link?.card).toBeDefined();
      // Also after the replacement was revealed, and without the field.
      for (const body of [lost, {}])
        expect(await replace(original.id, { body })).toMatchObject({ status: 201, link });
      await untilRelayed(gift.database);
      const events = (await trackedEvents(gift.nats.url)) as RewardLinkEvent[];
      expect(events.filter(({ id }) => id === `${original.id}:cancelled`)).toHaveLength(1);
      expect(await audit({ databaseUrl: gift.database.urls.admin })).toMatchObject({ passed: true });
    });

    it('replaces expired and cancelled links too', async () => {
      const pool = await gift.aPool(4);
      const [expired, cancelled] = [await gift.aLink(pool), await gift.aLink(pool)];
      await gift.expire(expired.token);
      await http(gift.app, gift.user).post(`/reward-links/${cancelled.id}/cancel`).expect(200);
      for (const { id } of [expired, cancelled]) expect((await replace(id, { body: lost })).status).toBe(201);
      expect(await read(expired.id)).toMatchObject({ state: 'EXPIRED', cancelled_at: null });
      const { link } = await gift.open(expired.token);
      expect(link).toMatchObject({ state: 'EXPIRED', replaced: true });
      expect(link).not.toHaveProperty('cancelled');
    });

    it('gives out no second card if the recipient has opened the link meanwhile', async () => {
      const pool = await gift.aPool(2);
      const { id } = await aRevealedLink(pool);
      expect(await refusal(id, { body: lost })).toBe('409 LINK_ALREADY_REVEALED');
      expect(await read(id)).toMatchObject({ state: 'REVEALED', replaced_by: null });
      expect(await gift.numbers(pool)).toMatchObject([{ available: 1, reserved: 0, redeemed: 1 }]);
      // Without `cancel_unrevealed`, the revealed link is replaced, for example because its card does not work.
      const { link } = await replace(id);
      expect(await replace(id, { body: lost })).toMatchObject({ status: 201, link });
    });

    it('leaves the link as it is if its pool now belongs to another account', async () => {
      const [seller, buyer] = [gift.newKey(), gift.newKey()];
      const pool = await gift.aPool(3, EUR_25, seller.account);
      const [replaced, kept] = [
        await gift.aLink(pool, { apiKey: seller.key }),
        await gift.aLink(pool, { apiKey: seller.key }),
      ];
      const { link } = await replace(replaced.id, { body: lost, apiKey: seller.key });
      expect((await gift.putPool(pool, buyer.account)).status).toBe(200);
      expect(await refusal(kept.id, { body: lost, apiKey: seller.key })).toBe('404 POOL_NOT_FOUND');
      expect(await read(kept.id, seller.key)).toMatchObject({ state: 'RESERVED', cancelled_at: null });
      expect((await gift.reveal(kept.token)).link?.state).toBe('REVEALED');
      const again = await replace(replaced.id, { body: lost, apiKey: seller.key });
      expect(again).toMatchObject({ status: 201, link });
    });

    it('leaves the link as it is if the request is invalid or may not cancel', async () => {
      const pool = await gift.aPool(2);
      const { id } = await gift.aLink(pool);
      for (const [body, expected] of [
        [{ cancel_unrevealed: true }, '400 EXPIRING_DATE_INVALID'],
        [{ ...lost, expires_at: inSeconds(-5) }, '400 EXPIRING_DATE_INVALID'],
        [{ ...lost, expires_at: inSeconds(367 * DAY_S) }, '400 EXPIRING_DATE_INVALID'],
        [{ ...lost, cancel_unrevealed: 'yes' }, '400 VALIDATION_FAILED'],
        [{ ...lost, cancel_unrevealed: false }, '409 LINK_NOT_REVEALED'],
      ] as const)
        expect([body, await refusal(id, { body })]).toEqual([body, expected]);
      const maker = { ...aKey(gift.user.account), scopes: ['links:create'] as const };
      gift.accounts.add(maker);
      expect(await refusal(id, { body: lost, apiKey: maker.key })).toBe('403 SCOPE_MISSING');
      expect(await read(id)).toMatchObject({ state: 'RESERVED', replaced_by: null });
      const support = { ...aKey(gift.user.account), scopes: ['links:create', 'links:cancel'] as const };
      gift.accounts.add(support);
      expect((await replace(id, { body: lost, apiKey: support.key })).status).toBe(201);
    });

    it('can be asked for again after a refusal', async () => {
      const pool = await gift.aPool(1);
      const { id } = await gift.aLink(pool);
      await gift.database.query(`update inventories set valid_until = current_date + 1 where pool_id = $1`, [
        pool,
      ]);
      const late = { ...lost, expires_at: inSeconds(30 * DAY_S) };
      expect(await refusal(id, { body: late })).toBe('409 NO_AVAILABLE_CARDS');
      expect(await read(id)).toMatchObject({ state: 'EXPIRED', replaced_by: null });
      await gift.addCards(pool, 1);
      expect((await replace(id, { body: late })).status).toBe(201);
    });
  });

  it.each([
    ['CREATED_BY_MISSING', { createdBy: null }],
    ['CREATED_BY_INVALID', { createdBy: 'x'.repeat(256) }],
    ['REASON_INVALID', { body: { reason: undefined } }],
    ['REASON_INVALID', { body: { reason: '' } }],
    ['REASON_INVALID', { body: { reason: 'x'.repeat(256) } }],
    ['EXPIRING_DATE_INVALID', { body: { expires_at: inSeconds(-5) } }],
    ['EXPIRING_DATE_INVALID', { body: { expires_at: 1.5 } }],
    ['EXPIRING_DATE_INVALID', { body: { expires_at: 'tomorrow' } }],
    ['EXPIRING_DATE_INVALID', { body: { expires_at: inSeconds(367 * DAY_S) } }],
    ['VALIDATION_FAILED', { body: { extra: 1 } }],
  ] as [string, Given][])('is refused: %s for %j', async (code, given) => {
    const pool = await gift.aPool(2);
    const { id } = await aRevealedLink(pool);
    expect(await refusal(id, given)).toBe(`400 ${code}`);
    expect((await replace(id)).status).toBe(201);
  });

  it('is within MAX_LINK_DAYS even if the original was valid for longer', async () => {
    const pool = await gift.aPool(2);
    const { id } = await aRevealedLink(pool);
    await gift.database.query(
      `update reward_links set created_at = now() - interval '3 years' where id = $1`,
      [id],
    );
    const { link } = await replace(id);
    expect(Math.abs((await read(link.id)).expires_at - inSeconds(366 * DAY_S))).toBeLessThan(60);
  });

  it('counts for limits, and can be requested again after a rejection', async () => {
    const user = gift.newKey();
    const pool = await gift.aPool(1, EUR_25, user.account);
    const put = (links: number) =>
      http(gift.app, gift.admin)
        .put('/admin/limits/replaced')
        .send({ owner: user.account, links, period: 'day' })
        .expect(200);
    await put(1);
    const original = await aRevealedLink(pool, { apiKey: user.key });
    const refused = await replace(original.id, { apiKey: user.key });
    expect(refused).toMatchObject({ status: 409, text: 'LIMIT_REACHED' });
    expect(refused.headers['perkway-limit']).toBe('replaced');
    await put(2);
    expect(await refusal(original.id, { apiKey: user.key })).toBe('409 NO_AVAILABLE_CARDS');
    await gift.addCards(pool, 1);
    expect((await replace(original.id, { apiKey: user.key })).status).toBe(201);
    const usage = await gift.get<{ links: object }>('/limits/replaced/usage', user.key);
    expect(usage.body.links).toEqual({ limit: 2, used: 2 });
  });

  it('keeps no reason once the person is erased', async () => {
    const operator = await rpcCaller(gift.nats.url);
    try {
      const pool = await gift.aPool(4);
      for (const [kind, field] of [
        ['journey_id', 'journey_id'],
        ['customer_id', 'reference'],
      ] as const) {
        const original = await aRevealedLink(pool, { body: aBody({ [field]: 'ann' }) });
        const { link } = await replace(original.id, { body: { reason: 'Ann called' } });
        const erasure = anErasure({ account: gift.user.account, kind });
        expect(await operator.rpc.request(ERASE['gift-cards'], erasure)).toEqual({ isDone: true });
        expect(await read(link.id)).toMatchObject({
          replaces: original.id,
          reference: null,
          replacement_reason: null,
        });
        expect((await replace(original.id)).link).toEqual(link);
      }
    } finally {
      await operator.close();
    }
  });
});
