import { randomUUID } from 'node:crypto';
import { aBody, GiftCards, tomorrow } from './support.js';

describe('reward links', () => {
  let gift: GiftCards;
  beforeAll(async () => {
    gift = await GiftCards.start();
  });
  afterAll(() => gift?.close());

  it('are made, seen and revealed', async () => {
    const pool = await gift.aPool(3);
    const body = aBody();
    const made = await gift.generate(pool, { body });
    expect(made.status).toBe(201);
    expect(made.headers.get('idempotent-replayed')).toBeNull();
    expect(made.body.reward_link).toBe(`https://rewards.perkway.test/#${made.body.token}`);
    const link = { denomination: 25, currency: 'EUR', country: 'FR', expires_at: body.expires_at };
    expect(await gift.open(made.body.token)).toEqual({ link: { state: 'RESERVED', ...link }, brand: null });
    expect(await gift.numbers(pool)).toEqual([
      { denomination: 25, currency: 'EUR', country: 'FR', available: 2, reserved: 1, redeemed: 0 },
    ]);
    const revealed = await gift.reveal(made.body.token);
    expect(revealed).toEqual({
      link: { state: 'REVEALED', ...link, card: { code: expect.stringMatching(/^CODE-/), pin: '4071' } },
      brand: null,
    });
    expect(await gift.reveal(made.body.token)).toEqual(revealed);
    expect(await gift.open(made.body.token)).toEqual(revealed);
    expect(await gift.numbers(pool)).toEqual([
      { denomination: 25, currency: 'EUR', country: 'FR', available: 2, reserved: 0, redeemed: 1 },
    ]);
  });

  it('expire', async () => {
    const pool = await gift.aPool(1);
    const first = await gift.aLink(pool);
    expect((await gift.generate<string>(pool)).body).toBe('NO_AVAILABLE_CARDS');
    await gift.expire(first.token);
    expect(await gift.numbers(pool)).toMatchObject([{ available: 1, reserved: 0, redeemed: 0 }]);
    expect(await gift.reveal(first.token)).toEqual({ error: 'LINK_EXPIRED', brand: null });
    const second = await gift.aLink(pool);
    expect(await gift.numbers(pool)).toMatchObject([{ available: 0, reserved: 1, redeemed: 0 }]);
    expect((await gift.open(first.token)).link?.state).toBe('EXPIRED');
    expect((await gift.reveal(second.token)).link?.state).toBe('REVEALED');
  });

  it('are replayed', async () => {
    const pool = await gift.aPool(1);
    const key = randomUUID();
    const expires_at = tomorrow();
    const first = await gift.generate(pool, { key, body: aBody({ expires_at }) });
    const again = await gift.generate(pool, {
      key: key.toUpperCase(),
      raw: `{"expires_at":${expires_at}.0,"currency":"EUR","denomination":25.0}`,
    });
    expect(again.status).toBe(201);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.body).toEqual(first.body);
  });
});
