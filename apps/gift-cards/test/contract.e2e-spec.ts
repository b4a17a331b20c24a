import { randomUUID } from 'node:crypto';
import { closeAll, http, sendAsIs, testEnvironment } from '@perkway/testing';
import type { Pool } from '../src/pools/pool.dto.js';
import { aBody, EUR_25, GiftCards, inSeconds, linkIdOf, type GenerateOptions } from './support.js';

const UNKNOWN_POOL = 'aaaaaaaa-0000-4000-8000-000000000000';

describe('gift cards', () => {
  let gift: GiftCards;
  let pool: string;
  beforeAll(async () => {
    gift = await GiftCards.start();
    pool = await gift.aPool(50);
  });
  afterAll(() => gift?.close());

  const refusal = async (options: GenerateOptions, to = pool) => {
    const response = await gift.generate<string>(to, options);
    expect(response.headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(response.headers['perkway-detail']).toMatch(/\w \w/);
    return `${response.status} ${response.body}`;
  };

  it('responds 503 with Retry-After while a started app has not reached its database yet', async () => {
    const app = await gift.launch(testEnvironment('gift-cards', { nats: gift.nats }));
    try {
      // One alone, and several that share a transaction.
      const replies = [
        await gift.generate(pool, { url: app.url }),
        ...(await Promise.all([1, 2, 3].map(() => gift.generate(pool, { url: app.url })))),
      ];
      expect(replies.map(({ status, body, headers }) => [status, body, headers['retry-after']])).toEqual(
        Array.from({ length: 4 }, () => [503, 'DEPENDENCY_UNAVAILABLE', '2']),
      );
    } finally {
      await closeAll(app);
    }
  });

  it('reserves, shows and reveals a card', async () => {
    const own = await gift.aPool(3);
    const body = aBody();
    const made = await gift.generate(own, { body });
    expect(made.status).toBe(201);
    expect(made.headers).not.toHaveProperty('idempotent-replayed');
    expect(made.headers['cache-control']).toBe('no-store');
    const id = linkIdOf(made.body.token).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
    expect(made.body).toEqual({
      id,
      reward_link: `https://rewards.perkway.test/#${made.body.token}`,
      token: expect.stringMatching(/^[\w-]{51}$/),
    });
    const link = { denomination: 25, currency: 'EUR', country: 'FR', expires_at: body.expires_at };
    const none = { brand: null, product: null, language: null };
    const reserved = { link: { state: 'RESERVED', ...link }, ...none };
    expect(await gift.open(made.body.token)).toEqual(reserved);
    expect(await gift.open(made.body.token)).toEqual(reserved);
    expect(await gift.numbers(own)).toMatchObject([{ ...EUR_25, available: 2, reserved: 1, redeemed: 0 }]);

    const revealed = await gift.reveal(made.body.token);
    expect(revealed).toEqual({
      link: { id, state: 'REVEALED', ...link, card: { code: expect.stringMatching(/^CODE-/), pin: '4071' } },
      ...none,
    });
    const revealedAt = expect.closeTo(Date.now() / 1000, -2);
    expect(await gift.reveal(made.body.token)).toEqual({ ...revealed, revealedAt });
    expect(await gift.open(made.body.token)).toEqual({ ...revealed, revealedAt });
    expect(await gift.numbers(own)).toMatchObject([{ ...EUR_25, available: 2, reserved: 0, redeemed: 1 }]);
  });

  describe('pools', () => {
    it("show the account's own, with an entry per denomination, currency and country", async () => {
      const key = gift.newKey();
      const one = await gift.aPool(2, EUR_25, key.account);
      await gift.addCards(one, 1, { denomination: 12.5, currency: 'EUR', country: 'DE' });
      await gift.addCards(one, 3, { ...EUR_25, country: 'DE' });
      const two = await gift.aPool(0, EUR_25, key.account);
      const entry = { reserved: 0, redeemed: 0, withdrawn: 0, lapsed: 0, currency: 'EUR' };
      const full: Pool = {
        id: one,
        owner: key.account,
        product: null,
        inventories: [
          { ...entry, denomination: 12.5, country: 'DE', available: 1 },
          { ...entry, denomination: 25, country: 'DE', available: 3 },
          { ...entry, denomination: 25, country: 'FR', available: 2 },
        ],
      };
      const empty: Pool = { id: two, owner: key.account, product: null, inventories: [] };
      const list = await gift.get<Pool[]>('/pools', key.key);
      expect(list.status).toBe(200);
      expect(list.body).toEqual([full, empty].sort((a, b) => (a.id < b.id ? -1 : 1)));
      expect((await gift.get(`/pool/${one}`, key.key)).body).toEqual(full);
      expect((await gift.get(`/pool/${one.toUpperCase()}`, key.key)).body).toEqual(full);
      expect((await gift.get(`/pool/${two}`, key.key)).body).toEqual(empty);
    });

    it('of other accounts are not found, not even by an administrator', async () => {
      const stranger = gift.newKey();
      for (const id of [pool, UNKNOWN_POOL, 'x']) {
        expect(await gift.get(`/pool/${id}`, stranger.key)).toMatchObject({
          status: 404,
          body: 'POOL_NOT_FOUND',
        });
        expect(await gift.get(`/pool/${id}`, gift.admin.key)).toMatchObject({
          status: 404,
          body: 'POOL_NOT_FOUND',
        });
      }
      expect((await gift.get('/pools', stranger.key)).body).toEqual([]);
    });

    it('can be put repeatedly, by administrators only', async () => {
      const id = randomUUID();
      const { account } = gift.newKey();
      for (let round = 0; round < 2; round += 1)
        expect(await gift.putPool(id, account)).toMatchObject({
          status: 200,
          body: { id, owner: account, inventories: [] },
        });
      for (const owner of ['nobody', '', 'a b', 7 as unknown as string])
        expect(await gift.putPool(randomUUID(), owner)).toMatchObject({
          status: 400,
          body: { code: 'VALIDATION_FAILED', errors: [{ field: 'owner' }] },
        });
      expect(await gift.putPool('7', account)).toMatchObject({
        status: 400,
        body: { code: 'VALIDATION_FAILED' },
      });
      expect(await gift.putPool(id, account, gift.user.key)).toMatchObject({
        status: 403,
        body: { code: 'FORBIDDEN' },
      });
      expect(await gift.putPool(id, account, 'unknown-key-0000')).toMatchObject({
        status: 401,
        body: { code: 'API_KEY_INVALID' },
      });
    });

    it('move to another owner with their cards, while links stay with the account that created them', async () => {
      const [seller, buyer] = [gift.newKey(), gift.newKey()];
      const id = await gift.aPool(2, EUR_25, seller.account);
      const key = randomUUID();
      const options = { apiKey: seller.key, key, body: aBody() };
      const link = await gift.aLink(id, options);
      await gift.putPool(id, buyer.account);
      expect((await gift.get(`/pool/${id}`, seller.key)).status).toBe(404);
      expect((await gift.get<Pool>(`/pool/${id}`, buyer.key)).body.inventories).toMatchObject([
        { available: 1, reserved: 1 },
      ]);
      expect(await refusal({ apiKey: seller.key }, id)).toBe('404 POOL_NOT_FOUND');
      expect((await gift.generate(id, options)).body).toEqual(link);
      expect((await gift.generate(id, { ...options, apiKey: buyer.key })).body).not.toEqual(link);
      expect((await gift.reveal(link.token)).link?.state).toBe('REVEALED');
    });
  });

  describe('errors', () => {
    it('report invalid credentials first', async () => {
      const bad = { key: 'x', createdBy: null, raw: '{' };
      for (const apiKey of ['', 'short', 'unknown-key-0000', 'x'.repeat(200), 'with space 00000000'])
        expect(await refusal({ ...bad, apiKey }, 'x')).toBe('401 API_KEY_INVALID');
      const inQuery = await http(gift.app).get(`/pools?api_key=${gift.user.key}`);
      expect(inQuery).toMatchObject({ status: 401, text: 'API_KEY_INVALID' });
    });

    it('accept an API key in any case', async () => {
      expect((await gift.get('/pools', gift.user.key.toUpperCase())).status).toBe(200);
    });

    it('report an invalid idempotency key or header next, whatever the body', async () => {
      for (const raw of ['{', '', '[]', JSON.stringify(aBody())]) {
        for (const key of [null, '', 'x', `${randomUUID()}0`, randomUUID().replaceAll('-', '')])
          expect(await refusal({ key, createdBy: null, raw })).toBe('400 IDEMPOTENCY_KEY_INVALID');
        expect(await refusal({ createdBy: null, raw })).toBe('400 CREATED_BY_MISSING');
        expect(await refusal({ createdBy: '  ', raw })).toBe('400 CREATED_BY_MISSING');
        expect(await refusal({ createdBy: 'x'.repeat(256), raw })).toBe('400 CREATED_BY_INVALID');
      }
      expect(await refusal({ key: 'x', contentType: 'text/csv' })).toBe('400 IDEMPOTENCY_KEY_INVALID');
      expect(await refusal({ key: 'x', contentType: 'text/plain' })).toBe('400 IDEMPOTENCY_KEY_INVALID');
    });

    it('report an unreadable body next', async () => {
      for (const raw of [
        '{',
        '[]',
        'null',
        '"x"',
        '7',
        `${JSON.stringify(aBody())} x`,
        `{"a":${'['.repeat(100)}${']'.repeat(100)}}`,
      ])
        expect(await refusal({ raw })).toBe('400 VALIDATION_FAILED');
      expect(await refusal({ raw: '' })).toBe('400 VALIDATION_FAILED');
      for (const contentType of ['text/plain', 'application/x-ndjson', 'text/csv'])
        expect(await refusal({ contentType })).toBe('415 UNSUPPORTED_MEDIA_TYPE');
      expect(await refusal({ raw: `"${'x'.repeat(1024 * 1024)}"` })).toBe('413 PAYLOAD_TOO_LARGE');
    });

    it.each<[string, object[]]>([
      ['DENOMINATION_INVALID', [{ denomination: undefined }, { denomination: '25' }, { denomination: 0 }]],
      ['CURRENCY_INVALID', [{ currency: undefined }, { currency: 'eur' }, { currency: 'ABC' }]],
      [
        'EXPIRING_DATE_INVALID',
        [
          undefined,
          null,
          '2000000000',
          inSeconds(60) + 0.5,
          inSeconds(0),
          inSeconds(-60),
          0,
          -1,
          1e11,
          Date.now(),
        ].map((expires_at) => ({ expires_at })),
      ],
      ['COUNTRY_INVALID', [{ country: 'fr' }, { country: 'UK' }, { country: null }]],
    ])('report an invalid field next: %s, before the pool', async (code, fields) => {
      for (const field of fields) {
        expect(await refusal({ body: aBody(field) })).toBe(`400 ${code}`);
        expect(await refusal({ body: aBody(field) }, UNKNOWN_POOL)).toBe(`400 ${code}`);
      }
    });

    it('report an unknown pool next', async () => {
      const stranger = gift.newKey();
      expect(await refusal({}, UNKNOWN_POOL)).toBe('404 POOL_NOT_FOUND');
      expect(await refusal({}, 'no-uuid')).toBe('404 POOL_NOT_FOUND');
      expect(await refusal({ apiKey: stranger.key })).toBe('404 POOL_NOT_FOUND');
      expect(await refusal({ apiKey: gift.admin.key })).toBe('404 POOL_NOT_FOUND');
    });

    it('report missing cards last', async () => {
      for (const field of [
        { denomination: 26 },
        { denomination: 1e300 },
        { currency: 'USD' },
        { country: 'DE' },
      ])
        expect(await refusal({ body: aBody(field) })).toBe('409 NO_AVAILABLE_CARDS');
      expect(await refusal({}, await gift.aPool(0))).toBe('409 NO_AVAILABLE_CARDS');
    });

    it('say in a header how to write an expiry, also one that has passed or is too far', async () => {
      for (const expires_at of [Date.now(), inSeconds(-60), inSeconds(367 * 86_400)]) {
        const { headers } = await gift.generate(pool, { body: aBody({ expires_at }) });
        expect(headers['perkway-detail']).toMatch(/Unix seconds, in the future and within 366 days/);
      }
    });

    it("list the pool's entries in a header if the pool lacks the requested one", async () => {
      const detailOf = async (field: object, of = pool) =>
        (await gift.generate(of, { body: aBody(field) })).headers['perkway-detail'];
      const own = await gift.aPool(1, { denomination: 12.5, currency: 'EUR', country: 'DE' });
      await gift.addCards(own, 1);
      for (const field of [{ denomination: 26 }, { currency: 'USD' }, { country: 'IT' }])
        expect(await detailOf(field, own)).toBe(
          'The pool has no such inventory entry. It has 12.5 EUR DE, 25 EUR FR',
        );
      expect(await detailOf({}, await gift.aPool(0))).toBe('The pool has no cards');
      await gift.aLink(own);
      expect(await detailOf({}, own)).toBe('No 25 EUR card is available');
    });

    it('explain API key, content type and method problems in headers', async () => {
      const detailOf = async (headers: Record<string, string>) =>
        (await http(gift.app, headers).get('/pools')).headers['perkway-detail'];
      expect(await detailOf({})).toBe('No API key was sent. Send it in the header X-API-Key.');
      expect(await detailOf({ authorization: 'Bearer x' })).toMatch(/^A Bearer token was sent/);
      expect(await detailOf({ 'x-api-key': 'unknown' })).toBe('The API key is not known.');
      const { headers } = await gift.generate(pool, { contentType: 'text/plain' });
      expect(headers['perkway-detail']).toBe('Use the content type application/json');
      for (const contentType of ['application/json', 'text/plain']) {
        const load = await gift.load<{ detail: string }>(pool, '{}', { contentType });
        expect([load.status, load.body.detail]).toEqual([
          415,
          'Use the content type application/x-ndjson or text/csv',
        ]);
      }
      const { status, text, ...wrong } = await http(gift.app).post('/pools');
      expect([status, text]).toEqual([405, 'METHOD_NOT_ALLOWED']);
      expect(wrong.headers['allow']).toBe('GET, HEAD');
    });

    it('are plain text for unknown routes, too', async () => {
      expect(await gift.get('/nothing/here')).toMatchObject({ status: 404, body: 'NOT_FOUND' });
      // The router takes no line break for a month, although the path looks like one that allows GET.
      expect(await gift.get('/statements/%0D%0A1.jws')).toMatchObject({ status: 404, body: 'NOT_FOUND' });
      expect(await gift.get('/pool/%')).toMatchObject({
        status: 400,
        body: 'VALIDATION_FAILED',
      });
    });
  });

  it('stores X-Created-By as sent', async () => {
    const long = 'x'.repeat(255);
    const utf8 = Buffer.from('Zoë Müller 日本').toString('latin1');
    // The last byte of `à` alone would be a space.
    const accent = Buffer.from(' Città ').toString('latin1');
    const unusual = ['100% Łukasz', '%C5%81ukasz', 'a\uFFFDb'];
    const sent = unusual.map((name) => Buffer.from(name).toString('latin1'));
    for (const createdBy of ['crm', long, utf8, accent, 'Zo\xeb', ...sent]) {
      // Node would encode the headers as UTF-8 too if the body were a string, as supertest sends it.
      const { status } = await sendAsIs(gift.app, {
        path: `/pool/${pool}/reward-links?idempotencyKey=${randomUUID()}`,
        method: 'POST',
        headers: {
          'x-api-key': gift.user.key,
          'x-created-by': createdBy,
          'content-type': 'application/json',
        },
        body: Buffer.from(JSON.stringify(aBody())),
      });
      expect(status).toBe(201);
    }
    const rows = await gift.database.query<{ created_by: string }>(
      `select created_by from reward_links where created_by not in ('tests', 'crm')`,
    );
    expect(rows.map(({ created_by }) => created_by).sort()).toEqual(
      ['Città', 'Zoë', 'Zoë Müller 日本', long, ...unusual].sort(),
    );
  });

  describe('the country', () => {
    const entry = (country: string) => ({ denomination: 40, currency: 'EUR', country });
    const body = (given: object = {}) => aBody({ denomination: 40, ...given });
    const countryOf = async (token: string) => (await gift.open(token)).link?.country;

    it('is the requested one, else the first that has a card; free cards go before those of expired links', async () => {
      const own = await gift.aPool(0);
      for (const country of ['FR', 'AT', 'DE']) await gift.addCards(own, 2, entry(country));
      expect(await countryOf((await gift.aLink(own, { body: body({ country: 'FR' }) })).token)).toBe('FR');
      const first = await gift.aLink(own, { body: body() });
      const second = await gift.aLink(own, { body: body() });
      expect([await countryOf(first.token), await countryOf(second.token)]).toEqual(['AT', 'AT']);
      const third = await gift.aLink(own, { body: body() });
      expect(await countryOf(third.token)).toBe('DE');
      // Austria sorts first, and the card of its expired link is available again.
      await gift.expire(first.token);
      const fourth = await gift.aLink(own, { body: body() });
      expect(await countryOf(fourth.token)).toBe('AT');
      // Within an entry, free cards go first.
      await gift.expire(third.token);
      const fifth = await gift.aLink(own, { body: body({ country: 'DE' }) });
      const cards = await gift.database.query<{ released: boolean }>(
        `select released from reward_links where inventory_id = (select id from inventories where pool_id = $1 and country = 'DE')
         order by created_at`,
        [own],
      );
      expect(cards).toEqual([{ released: false }, { released: false }]);
      expect((await gift.reveal(fifth.token)).link?.state).toBe('REVEALED');
      expect(await refusal({ body: body({ country: 'IT' }) }, own)).toBe('409 NO_AVAILABLE_CARDS');
    });
  });
});
