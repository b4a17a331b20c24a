import { audit } from '@perkway/audit';
import type { CardsWithdrawnEvent, TrackingEvent } from '@perkway/domain';
import { http, trackedEvents, untilRelayed, waitFor } from '@perkway/testing';
import { randomUUID } from 'node:crypto';
import type { LimitUsage } from '../src/limits/limit.dto.js';
import type { Pool } from '../src/pools/pool.dto.js';
import type { Statement } from '../src/statements/statement.dto.js';
import type { Withdrawal } from '../src/withdrawals/withdrawal.dto.js';
import { aBody, EUR_25, GiftCards, inSeconds, someCodes, type Link } from './support.js';

const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const DAY_MS = 86_400_000;
const dayIn = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);

describe('a withdrawal', () => {
  let gift: GiftCards;
  beforeAll(async () => {
    gift = await GiftCards.start();
    // The background job might write the expired events before a withdrawal does.
    gift.disableSettling();
  });
  afterAll(() => gift?.close());

  const post = (pool: string, body: object, key: string | null = randomUUID()) => {
    const request = http(gift.app, gift.admin).post(`/admin/pools/${pool}/withdrawals`);
    if (key !== null) void request.set('idempotency-key', key);
    return request.send({ reason: 'recalled', reserved: 'keep', ...body });
  };
  const read = async (pool: string, id: string) =>
    (await gift.get<Withdrawal>(`/admin/pools/${pool}/withdrawals/${id}`, gift.admin.key)).body;
  /** Returns the codes. */
  const load = async (pool: string, count: number, more: object): Promise<string[]> => {
    const codes = someCodes(count);
    const reply = await gift.load(
      pool,
      codes.map((code) => JSON.stringify({ code, ...EUR_25, ...more })).join('\n'),
    );
    expect(reply.body.imported).toBe(count);
    return codes;
  };
  const numbers = async (pool: string) => {
    const [entry] = await gift.numbers(pool);
    const { available, reserved, redeemed, withdrawn, lapsed } = entry!;
    return { available, reserved, redeemed, withdrawn, lapsed };
  };
  const cancel = ({ id }: Link) => http(gift.app, gift.user).post(`/reward-links/${id}/cancel`).expect(200);
  const expectAudit = async () => {
    expect(await audit({ databaseUrl: gift.database.urls.admin })).toMatchObject({ passed: true });
  };
  const eventsOf = async <Event extends TrackingEvent>(isOne: (event: TrackingEvent) => boolean) => {
    await untilRelayed(gift.database);
    return (await trackedEvents(gift.nats.url)).filter(isOne) as Event[];
  };

  describe('is refused', () => {
    it.each([
      ['Idempotency-Key', {}, null],
      ['Idempotency-Key', {}, 'no-uuid'],
      ['reason', { reason: undefined }, undefined],
      ['reason', { reason: '' }, undefined],
      ['reason', { reason: 'x'.repeat(256) }, undefined],
      ['reserved', { reserved: undefined }, undefined],
      ['reserved', { reserved: 'stop' }, undefined],
      ['batch', { batch: 7 }, undefined],
      ['batch', { batch: ' ' }, undefined],
      ['load_id', { batch: undefined, load_id: 'x' }, undefined],
      ['codes', { batch: undefined, codes: [] }, undefined],
      ['codes', { batch: undefined, codes: [7] }, undefined],
      ['codes', { batch: undefined, codes: 'A' }, undefined],
      ['codes', { batch: undefined, codes: Array.from({ length: 1_001 }, String) }, undefined],
      ['valid_until_before', { batch: undefined, valid_until_before: '2026-02-30' }, undefined],
      ['batch, load_id, codes, valid_until_before', { batch: undefined }, undefined],
      ['batch, load_id, codes, valid_until_before', { load_id: UNKNOWN }, undefined],
      ['extra', { extra: 1 }, undefined],
    ])('with a wrong %s: %j', async (field, body, key) => {
      const pool = await gift.aPool(0);
      const { body: problem, type } = await post(pool, { batch: 'B', ...body }, key).expect(400);
      expect(type).toBe('application/problem+json');
      expect(problem).toMatchObject({ code: 'VALIDATION_FAILED', errors: [{ field }] });
    });

    it('in an unknown pool and by clients; an unknown one is not found', async () => {
      expect((await post(UNKNOWN, { batch: 'B' }).expect(404)).body.code).toBe('POOL_NOT_FOUND');
      const pool = await gift.aPool(0);
      const { body } = await http(gift.app, gift.user)
        .post(`/admin/pools/${pool}/withdrawals`)
        .set('idempotency-key', randomUUID())
        .send({ reason: 'x', batch: 'B', reserved: 'keep' })
        .expect(403);
      expect(body.code).toBe('FORBIDDEN');
      const [own, other] = [await gift.withdraw(pool, { batch: 'B' }), await gift.aPool(0)];
      for (const path of [
        `${pool}/withdrawals/${UNKNOWN}`,
        `${pool}/withdrawals/x`,
        `${other}/withdrawals/${own.id}`,
      ])
        expect(await gift.get(`/admin/pools/${path}`, gift.admin.key)).toMatchObject({
          status: 404,
          body: { code: 'WITHDRAWAL_NOT_FOUND' },
        });
      expect((await gift.get(`/admin/pools/${UNKNOWN}/withdrawals/${own.id}`, gift.admin.key)).status).toBe(
        404,
      );
    });
  });

  it('returns the same one for the same key and request, and refuses another request', async () => {
    const [pool, other] = [await gift.aPool(0), await gift.aPool(0)];
    const [first, second] = await load(pool, 2, {});
    const key = randomUUID();
    const body = { codes: [first, second] };
    const replies = await Promise.all([post(pool, body, key), post(pool, body, key.toUpperCase())]);
    expect(replies.map(({ status }) => status)).toEqual([202, 202]);
    expect(replies[0]!.body.id).toBe(replies[1]!.body.id);
    expect(await gift.untilWithdrawn(pool, replies[0]!.body.id)).toMatchObject({ withdrawn: 2 });
    const repeated = await post(pool, { codes: [` ${second}`, first] }, key).expect(202);
    expect(repeated.body).toMatchObject({ id: replies[0]!.body.id, state: 'done', withdrawn: 2 });
    for (const [into, wrong] of [
      [pool, { codes: [first] }],
      [pool, { ...body, reason: 'other' }],
      [pool, { ...body, reserved: 'cancel' }],
      [other, body],
    ] as const)
      expect((await post(into, wrong, key).expect(409)).body.code).toBe('IDEMPOTENCY_KEY_CONFLICT');
  });

  it('can be checked first, which counts by each selector what it would find, and stores nothing', async () => {
    const [pool, other] = [await gift.aPool(0), await gift.aPool(0)];
    const codes = await load(pool, 5, { batch: 'C', valid_until: dayIn(30) });
    const [loaded] = (await gift.get<{ id: string }[]>(`/admin/pools/${pool}/loads`, gift.admin.key)).body;
    const links = await Promise.all([1, 2].map(() => gift.generate(pool, { body: aBody() })));
    await gift.reveal(links[0]!.body.token);
    await load(pool, 2, {});
    await load(other, 1, { batch: 'C', valid_until: dayIn(30) });
    const check = (body: object, id = pool, by = gift.admin) =>
      http(gift.app, by)
        .post(`/admin/pools/${id}/withdrawals/check`)
        .send({ reason: 'recalled', reserved: 'keep', ...body });
    const value = { denomination: 25, currency: 'EUR' };
    const counts = { free: 3, reserved: 1, redeemed: 1 };
    for (const selector of [
      { batch: ' C' },
      { load_id: loaded!.id },
      { codes: codes.map((code) => ` ${code}`) },
      { valid_until_before: dayIn(31) },
    ])
      expect([selector, (await check(selector).expect(200)).body]).toEqual([
        selector,
        { ...counts, values: [{ ...value, ...counts }] },
      ]);
    const none = { free: 0, reserved: 0, redeemed: 0 };
    expect((await check({ batch: 'D' }).expect(200)).body).toEqual({ ...none, values: [] });
    await load(pool, 1, { batch: 'C', denomination: 10 });
    expect((await check({ batch: 'C' }).expect(200)).body).toEqual({
      ...counts,
      free: 4,
      values: [
        { ...value, ...none, denomination: 10, free: 1 },
        { ...value, ...counts },
      ],
    });
    expect((await check({}).expect(400)).body.code).toBe('VALIDATION_FAILED');
    expect((await check({ batch: 'C' }, UNKNOWN).expect(404)).body.code).toBe('POOL_NOT_FOUND');
    await check({ batch: 'C' }, pool, gift.user).expect(403);
    expect((await gift.get(`/admin/pools/${pool}/withdrawals`, gift.admin.key)).body).toEqual([]);

    const done = await gift.withdraw(pool, { batch: 'C', reserved: 'cancel' });
    expect(done).toMatchObject({ withdrawn: 5, cancelled: 1, redeemed: 1 });
    expect((await check({ batch: 'C' })).body).toEqual({
      ...none,
      redeemed: 1,
      values: [{ ...value, ...none, redeemed: 1 }],
    });
  });

  it('takes the cards of a batch, and nothing else', async () => {
    const [pool, other] = [await gift.aPool(2), await gift.aPool(0)];
    const codes = await load(pool, 3, { batch: 'B-1' });
    await load(pool, 1, { batch: 'B-10' });
    await load(other, 1, { batch: 'B-1' });
    const { body: begun } = await post(pool, { batch: 'B-1' }).expect(202);
    expect(begun).toMatchObject({ state: expect.stringMatching('running|done'), redeemed_links: [] });
    expect(await gift.untilWithdrawn(pool, begun.id)).toEqual({
      id: begun.id,
      state: 'done',
      reason: 'recalled',
      reserved: 'keep',
      batch: 'B-1',
      load_id: null,
      valid_until_before: null,
      withdrawn: 3,
      kept: 0,
      cancelled: 0,
      cancelled_links: [],
      redeemed: 0,
      redeemed_links: [],
      created_at: expect.any(String),
      finished_at: expect.any(String),
    });
    expect(await numbers(pool)).toEqual({ available: 3, reserved: 0, redeemed: 0, withdrawn: 3, lapsed: 0 });
    expect(await numbers(other)).toMatchObject({ available: 1, withdrawn: 0 });
    const again = await gift.load(pool, codes.map((code) => JSON.stringify({ code, ...EUR_25 })).join('\n'));
    expect(again.body).toMatchObject({ imported: 0, duplicates: 3 });
    const list = await gift.get<Withdrawal[]>(`/admin/pools/${pool}/withdrawals`, gift.admin.key);
    expect(list.body).toEqual([await read(pool, begun.id)]);
    await expectAudit();
  });

  it('takes the cards of a load, of codes, or that lapse before a day', async () => {
    const pool = await gift.aPool(0);
    const rows = (count: number, more: object = {}) =>
      someCodes(count)
        .map((code) => JSON.stringify({ code, ...EUR_25, ...more }))
        .join('\n');
    const loaded = await gift.load<{ load_id: string }>(pool, rows(4));
    expect(await gift.withdraw(pool, { load_id: loaded.body.load_id.toUpperCase() })).toMatchObject({
      withdrawn: 4,
    });
    const codes = await load(pool, 3, {});
    const elsewhere = await gift.addCards(await gift.aPool(0), 1);
    expect(
      await gift.withdraw(pool, { codes: [codes[1]!, codes[1]!, 'unknown', ...elsewhere] }),
    ).toMatchObject({
      withdrawn: 1,
    });
    for (const days of [3, 4, 5]) await load(pool, 1, { valid_until: dayIn(days) });
    expect(await gift.withdraw(pool, { valid_until_before: dayIn(5) })).toMatchObject({
      withdrawn: 2,
      valid_until_before: dayIn(5),
    });
    expect(await numbers(pool)).toMatchObject({ available: 3, withdrawn: 7 });
    // The same cards again: nothing is left to withdraw.
    expect(await gift.withdraw(pool, { load_id: loaded.body.load_id })).toMatchObject({ withdrawn: 0 });
    await expectAudit();
  });

  it('lets a withdrawn card neither be given out nor counted as lapsed', async () => {
    const pool = await gift.aPool(0);
    await load(pool, 2, { batch: 'B', valid_until: dayIn(2) });
    await gift.withdraw(pool, { batch: 'B' });
    expect(await gift.generate(pool)).toMatchObject({ status: 409, body: 'NO_AVAILABLE_CARDS' });
    await gift.database.query('update inventories set valid_until = $2 where pool_id = $1', [
      pool,
      dayIn(-1),
    ]);
    expect(await numbers(pool)).toMatchObject({ available: 0, withdrawn: 2, lapsed: 0 });
  });

  describe('of cards on links', () => {
    const links = async (pool: string, count: number, body: object = {}) =>
      Promise.all(Array.from({ length: count }, () => gift.aLink(pool, { body: aBody(body) })));

    it('with "keep" leaves them to their recipients, and withdraws them when their link ends', async () => {
      const pool = await gift.aPool(0);
      await load(pool, 5, { batch: 'B' });
      const [open, cancelled, expired, revealed] = await links(pool, 4);
      await gift.reveal(revealed!.token);
      const { id } = await gift.withdraw(pool, { batch: 'B' });
      const event = { withdrawn: 1, cancelled: 0, redeemed: 1 };
      expect(await read(pool, id)).toMatchObject({ ...event, kept: 3, redeemed_links: [revealed!.id] });
      expect(await numbers(pool)).toMatchObject({ available: 0, reserved: 3, redeemed: 1, withdrawn: 1 });
      await cancel(cancelled!);
      expect(await numbers(pool)).toMatchObject({ available: 0, reserved: 2, redeemed: 1, withdrawn: 2 });
      await gift.expire(expired!.token);
      expect(await numbers(pool)).toMatchObject({ available: 0, reserved: 1, redeemed: 1, withdrawn: 3 });
      expect(await read(pool, id)).toMatchObject({ withdrawn: 3, kept: 1 });
      expect(await gift.generate(pool)).toMatchObject({ status: 409, body: 'NO_AVAILABLE_CARDS' });
      for (const { token } of [cancelled!, expired!])
        expect((await gift.reveal(token)).error).toBe('LINK_EXPIRED');
      expect((await gift.reveal(open!.token)).link?.state).toBe('REVEALED');
      await waitFor(
        async () =>
          (await gift.database.query('select from withdrawn_cards where withdrawal_id = $1', [id])).length ===
          3,
        'the cards of ended links',
      );
      expect(await numbers(pool)).toEqual({
        available: 0,
        reserved: 0,
        redeemed: 2,
        withdrawn: 3,
        lapsed: 0,
      });
      expect(await read(pool, id)).toMatchObject({
        withdrawn: 3,
        kept: 0,
        cancelled_links: [],
        redeemed: 1,
      });
      const told = await eventsOf<CardsWithdrawnEvent>(
        ({ type, id: of }) => type === 'cards_withdrawn' && of.startsWith(id),
      );
      expect(told).toEqual([
        {
          v: 1,
          type: 'cards_withdrawn',
          id: `${id}:withdrawn`,
          account: gift.user.account,
          at: expect.any(Number),
          withdrawal: id,
          pool,
          ...event,
        },
      ]);
      const states = await eventsOf(
        (each) => each.id === `${expired!.id}:expired` || each.id === `${cancelled!.id}:cancelled`,
      );
      expect(states).toHaveLength(2);
      expect(await eventsOf((each) => each.id === `${cancelled!.id}:expired`)).toEqual([]);
      await expectAudit();
    });

    it('with "cancel" ends the links now, and gives them back to their limits', async () => {
      const user = gift.newKey();
      const pool = await gift.aPool(0, EUR_25, user.account);
      await http(gift.app, gift.admin)
        .put('/admin/limits/withdrawn')
        .send({ owner: user.account, links: 3, period: 'day' })
        .expect(200);
      await load(pool, 4, { batch: 'B' });
      const make = () => gift.aLink(pool, { apiKey: user.key });
      // Cancelled by its sender, not by the withdrawal.
      const former = await make();
      await http(gift.app, user).post(`/reward-links/${former.id}/cancel`).expect(200);
      const [open, revealed, expired] = [await make(), await make(), await make()];
      await gift.reveal(revealed.token);
      await gift.expire(expired.token);
      expect(await gift.withdraw(pool, { batch: 'B', reserved: 'cancel' })).toMatchObject({
        withdrawn: 3,
        cancelled: 1,
        cancelled_links: [open.id],
        kept: 0,
        redeemed: 1,
        redeemed_links: [revealed.id],
      });
      const [entry] = (await gift.get<Pool>(`/pool/${pool}`, user.key)).body.inventories;
      expect(entry).toMatchObject({ available: 0, reserved: 0, redeemed: 1, withdrawn: 3 });
      expect((await gift.reveal(open.token)).error).toBe('LINK_EXPIRED');
      expect((await gift.open(open.token)).link).toMatchObject({ cancelled: true, withdrawn: true });
      for (const { token } of [revealed, expired])
        expect((await gift.open(token)).link).not.toHaveProperty('withdrawn');
      expect((await gift.get(`/reward-links/${open.id}`, user.key)).body).toMatchObject({
        state: 'EXPIRED',
        cancelled_at: expect.any(String),
        withdrawn_at: expect.any(String),
      });
      expect((await gift.get(`/reward-links/${revealed.id}`, user.key)).body).toMatchObject({
        withdrawn_at: null,
      });
      expect((await gift.reveal(revealed.token)).link?.state).toBe('REVEALED');
      const usage = await gift.get<LimitUsage>('/limits/withdrawn/usage', user.key);
      expect(usage.body.links).toEqual({ limit: 3, used: 1 });
      const told = (await eventsOf((each) => each.type === 'reward_link' && each.account === user.account))
        .map(({ id }) => id)
        .filter((id) => !id.endsWith(':generated'));
      expect(told.sort()).toEqual(
        [
          `${former.id}:cancelled`,
          `${open.id}:cancelled`,
          `${revealed.id}:revealed`,
          `${expired.id}:expired`,
        ].sort(),
      );
      const month = new Date().toISOString().slice(0, 7);
      const { rows } = (await gift.get<Statement>(`/statements?month=${month}`, user.key)).body;
      expect(rows).toMatchObject([
        {
          loaded: { cards: 4 },
          revealed: { cards: 1 },
          withdrawn: { cards: 3, amount: 75 },
          closing: { cards: 0 },
          cancelled: { cards: 2 },
          expired: { cards: 1 },
        },
      ]);
      await expectAudit();
    });

    it('that an earlier one keeps: "cancel" ends them, "keep" leaves them to the earlier one', async () => {
      const pool = await gift.aPool(0);
      await load(pool, 2, { batch: 'B' });
      const [first] = await links(pool, 2);
      const earlier = await gift.withdraw(pool, { batch: 'B' });
      expect(await gift.withdraw(pool, { batch: 'B' })).toMatchObject({ withdrawn: 0, kept: 0 });
      await cancel(first!);
      const later = await gift.withdraw(pool, { batch: 'B', reserved: 'cancel' });
      expect(later).toMatchObject({ withdrawn: 1, cancelled: 1 });
      expect(await read(pool, earlier.id)).toMatchObject({ withdrawn: 1, kept: 0 });
      expect(await numbers(pool)).toMatchObject({ available: 0, reserved: 0, withdrawn: 2 });
      await expectAudit();
    });

    it('goes on in another process, and looks at cards in small steps', async () => {
      const pool = await gift.aPool(0);
      await load(pool, 7, { batch: 'B' });
      await links(pool, 3);
      const { body: begun } = await post(pool, { batch: 'none' }).expect(202);
      await gift.untilWithdrawn(pool, begun.id);
      const id = randomUUID();
      await gift.database.query(
        `insert into withdrawals (id, pool_id, account, body_digest, reason, batch, reserved)
         values ($1, $2, 'operator', '', 'recalled', 'B', 'cancel')`,
        [id, pool],
      );
      for (let step = 0, more = true; more; step += 1) {
        expect(step).toBeLessThan(1_000);
        [{ more }] = (await gift.database.query<{ more: boolean }>('select withdraw_cards(2) as more')) as [
          { more: boolean },
        ];
        const { available, reserved, redeemed, withdrawn, lapsed } = await numbers(pool);
        expect(available + reserved + redeemed + withdrawn + lapsed).toBe(7);
      }
      expect(await gift.untilWithdrawn(pool, id)).toMatchObject({ withdrawn: 7, cancelled: 3 });
      await expectAudit();
    });
  });

  it('does not stop links and reveals, and no withdrawn card is revealed afterwards', async () => {
    const pool = await gift.aPool(300);
    const recalled = new Set(await load(pool, 300, { batch: 'B' }));
    let isDone = false;
    const revealed: { code: string; after: boolean }[] = [];
    const client = async () => {
      for (let round = 0; !isDone || round < 12; round += 1) {
        const { body, status } = await gift.generate(pool, { body: aBody({ expires_at: inSeconds(60) }) });
        if (String(body) === 'NO_AVAILABLE_CARDS') break;
        if (status !== 201) continue;
        const after = isDone;
        const reply = await gift.reveal(body.token);
        if (reply.link?.card) revealed.push({ code: reply.link.card.code, after });
      }
    };
    const look = async () => {
      while (!isDone) {
        const { available, reserved, redeemed, withdrawn, lapsed } = await numbers(pool);
        expect(available + reserved + redeemed + withdrawn + lapsed).toBe(600);
      }
    };
    const work = Promise.all([look(), ...Array.from({ length: 6 }, client)]);
    const done = await gift.withdraw(pool, { batch: 'B', reserved: 'cancel' });
    isDone = true;
    await work;
    expect(done.withdrawn + done.redeemed).toBe(300);
    expect(revealed.filter(({ code }) => recalled.has(code))).toHaveLength(done.redeemed);
    expect(revealed.filter(({ code, after }) => after && recalled.has(code))).toEqual([]);
    expect(revealed.some(({ after }) => after)).toBe(true);
    expect(await numbers(pool)).toMatchObject({ withdrawn: done.withdrawn });
    await expectAudit();
  });

  it('does not prevent the deletion of a pool that has never had cards', async () => {
    const pool = await gift.aPool(0);
    await gift.withdraw(pool, { batch: 'B' });
    await http(gift.app, gift.admin).delete(`/admin/pools/${pool}`).expect(204);
  });
});
