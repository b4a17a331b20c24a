import { randomUUID } from 'node:crypto';
import type { RewardLinkEvent } from '@perkway/domain';
import { trackedEvents, untilRelayed, untilServed, waitFor } from '@perkway/testing';
import {
  aBody,
  GiftCards,
  inSeconds,
  tomorrow,
  type GenerateOptions,
  type Link,
  type Reply,
} from './support.js';

describe('idempotency keys', () => {
  let gift: GiftCards;
  beforeAll(async () => {
    gift = await GiftCards.start();
  });
  afterAll(() => gift?.close());

  const expectReplay = (response: Reply<Link>, link: Link) => {
    expect(response.body).toEqual(link);
    expect(response.status).toBe(201);
    expect(response.headers['idempotent-replayed']).toBe('true');
  };
  const expectConflict = async (pool: string, options: GenerateOptions) =>
    expect(await gift.generate<string>(pool, options)).toMatchObject({
      status: 409,
      body: 'IDEMPOTENCY_KEY_CONFLICT',
    });
  const linksWith = (key: string) =>
    gift.database.query('select from reward_links where idempotency_key = $1', [key]);

  it('reserve one card for 50 concurrent requests on two replicas', async () => {
    const pool = await gift.aPool(60);
    const replica = await gift.launch();
    try {
      const options = { key: randomUUID(), body: aBody() };
      const responses = await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          untilServed(() =>
            gift.generate(pool, {
              ...options,
              key: index % 3 ? options.key : options.key.toUpperCase(),
              url: index % 2 ? replica.url : gift.app.url,
            }),
          ),
        ),
      );
      expect(new Set(responses.map(({ body }) => JSON.stringify(body))).size).toBe(1);
      expect(responses.every(({ status }) => status === 201)).toBe(true);
      expect(responses.filter(({ headers }) => headers['idempotent-replayed'] === 'true')).toHaveLength(49);
      expect(await gift.numbers(pool)).toMatchObject([{ available: 59, reserved: 1, redeemed: 0 }]);
    } finally {
      await replica.close();
    }
  });

  it('replay an equal body, however it is written', async () => {
    const pool = await gift.aPool(2);
    const key = randomUUID();
    const expires_at = tomorrow();
    const body = { denomination: 25, currency: 'EUR', expires_at, country: 'FR', note: { a: 1, b: [1, 2] } };
    const link = await gift.aLink(pool, { key, body, createdBy: 'first' });
    const raw = ` { "note" : {"b":[1.0,2e0],"a":1}, "country":"\\u0046R","expires_at": ${expires_at}.0 ,"currency":"EUR","denomination":25.00}\n`;
    expectReplay(
      await gift.generate(pool.toUpperCase(), { key: key.toUpperCase(), raw, createdBy: 'second' }),
      link,
    );
    expect(await linksWith(key)).toHaveLength(1);
  });

  it('replay after stock-out, reveal, expiry and reuse of the card', async () => {
    const pool = await gift.aPool(2);
    const [one, two] = [1, 2].map(() => ({ key: randomUUID(), body: aBody() })) as [
      GenerateOptions,
      GenerateOptions,
    ];
    const [first, second] = [await gift.aLink(pool, one), await gift.aLink(pool, two)];
    expectReplay(await gift.generate(pool, one), first);
    await gift.reveal(first.token);
    expectReplay(await gift.generate(pool, one), first);
    await gift.expire(second.token);
    expectReplay(await gift.generate(pool, two), second);
    expect(await gift.numbers(pool)).toMatchObject([{ available: 1, reserved: 0, redeemed: 1 }]);
    const third = await gift.aLink(pool);
    expectReplay(await gift.generate(pool, two), second);
    expect((await gift.open(second.token)).link?.state).toBe('EXPIRED');
    expect((await gift.open(third.token)).link?.state).toBe('RESERVED');
  });

  it('replay after the expiry in the body has passed', async () => {
    const pool = await gift.aPool(2);
    /** A busy machine may need longer than the seconds until the expiry. */
    const aLinkFor = async (seconds: number): Promise<{ options: GenerateOptions; link: Link }> => {
      const options = { key: randomUUID(), body: aBody({ expires_at: inSeconds(seconds) }) };
      const { status, body: link } = await gift.generate<Link>(pool, options);
      return status === 201 ? { options, link } : aLinkFor(2 * seconds);
    };
    const { options, link } = await aLinkFor(2);
    await waitFor(async () => (await gift.open(link.token)).link?.state === 'EXPIRED', 'its expiry');
    expectReplay(await gift.generate(pool, options), link);
    expect(await gift.reveal(link.token)).toMatchObject({ error: 'LINK_EXPIRED' });
  });

  it('conflict with another pool or body before anything else is checked', async () => {
    const [pool, other] = [await gift.aPool(2), await gift.aPool(2)];
    const key = randomUUID();
    const body = aBody();
    const link = await gift.aLink(pool, { key, body });
    await expectConflict(other, { key, body });
    await expectConflict(randomUUID(), { key, body });
    await expectConflict('no-uuid', { key, body });
    for (const given of [
      { denomination: 26 },
      { denomination: 'x' },
      { currency: 'usd' },
      { expires_at: body.expires_at + 1 },
      { expires_at: undefined },
      { expires_at: 1 },
      { country: 'FR' },
      { country: 'xx' },
      { note: 'x' },
    ])
      await expectConflict(pool, { key, body: { ...body, ...given } });
    for (const raw of ['[]', 'null', '{}']) await expectConflict(pool, { key, raw });
    expectReplay(await gift.generate(pool, { key, body }), link);
    expect(await linksWith(key)).toHaveLength(1);
  });

  it('are scoped to the account', async () => {
    const key = randomUUID();
    const other = gift.newKey();
    const [pool, foreign] = [await gift.aPool(1), await gift.aPool(1, undefined, other.account)];
    const body = aBody();
    const mine = await gift.aLink(pool, { key, body });
    const theirs = await gift.aLink(foreign, { key, body, apiKey: other.key });
    expect(theirs.token).not.toBe(mine.token);
    expectReplay(await gift.generate(foreign, { key, body, apiKey: other.key }), theirs);
  });

  it('stay unused after an error', async () => {
    const pool = await gift.aPool(0);
    const options = { key: randomUUID(), body: aBody() };
    const refused = async (code: string, given: GenerateOptions, to = pool) =>
      expect((await gift.generate<string>(to, { ...options, ...given })).body).toBe(code);
    await refused('VALIDATION_FAILED', { raw: '{' });
    await refused('CREATED_BY_MISSING', { createdBy: null });
    await refused('DENOMINATION_INVALID', { body: {} });
    await refused('EXPIRING_DATE_INVALID', { body: aBody({ expires_at: 5 }) });
    await refused('POOL_NOT_FOUND', {}, randomUUID());
    await refused('NO_AVAILABLE_CARDS', {});
    await refused('NO_AVAILABLE_CARDS', { body: aBody({ currency: 'USD' }) });
    await gift.addCards(pool, 1);
    const response = await gift.generate(pool, options);
    expect(response.status).toBe(201);
    expect(response.headers).not.toHaveProperty('idempotent-replayed');
  });

  it('produce one event, and none for a replay', async () => {
    const { account, key: apiKey } = gift.newKey();
    const pool = await gift.aPool(1, undefined, account);
    const options = { key: randomUUID(), body: aBody(), apiKey, createdBy: 'Zoë' };
    const before = Date.now();
    const { token } = await gift.aLink(pool, options);
    await gift.generate(pool, options);
    await gift.generate(pool, { ...options, key: randomUUID() });
    await Promise.all([gift.reveal(token), gift.reveal(token)]);
    await gift.generate(pool, options);
    await gift.open(token);

    const eventsOf = async () =>
      (await trackedEvents(gift.nats.url)).filter(
        (event): event is RewardLinkEvent => event.account === account,
      );
    await waitFor(async () => (await eventsOf()).length >= 2, 'both events');
    // An unexpected third event would still be in the outbox or in the stream.
    await untilRelayed(gift.database);
    const events = await eventsOf();
    const head = {
      v: 1,
      account,
      type: 'reward_link',
      pool,
      denomination: 25,
      currency: 'EUR',
      country: 'FR',
      createdBy: 'Zoë',
      createdAt: expect.any(Number),
      expiresAt: expect.any(Number),
    };
    const isoNow = expect.any(Number);
    expect(events).toEqual([
      { ...head, state: 'generated', id: expect.any(String), at: isoNow },
      { ...head, state: 'revealed', id: expect.any(String), at: isoNow },
    ]);
    for (const { at } of events) expect(Math.abs(at - before)).toBeLessThan(60_000);
    expect(JSON.stringify(events)).not.toContain(token);
  });
});
