import { randomUUID } from 'node:crypto';
import { daysLeft, LIST_STOCK, type StockQuery } from '@perkway/domain';
import { http, behavesLikeAResource, rpcCaller } from '@perkway/testing';
import { aBody, EUR_25, GiftCards, linkIdOf, type Link } from './support.js';

describe('pools in the management API', () => {
  let gift: GiftCards;
  beforeAll(async () => {
    gift = await GiftCards.start();
  });
  afterAll(() => gift?.close());

  const admin = () => http(gift.app, gift.admin);

  describe('as a managed resource', () => {
    behavesLikeAResource(() => ({
      app: gift.app,
      admin: gift.admin,
      user: gift.user,
      path: '/admin/pools',
      notFound: 'POOL_NOT_FOUND',
      newId: randomUUID,
      body: (number) => ({
        owner: gift.user.account,
        product: {
          name: `Books ${number}`,
          instructions: 'Enter the code.',
          redeem_url: 'https://books.example/redeem',
          code_format: 'qr',
          translations: { fr: { name: 'Livres' } },
        },
      }),
      unknownMembers: {
        name: (body) => ({ ...body, name: 'x' }),
        'product.title': (body) => ({ ...body, product: { name: 'x', title: 'x' } }),
        'product.translations.fr.title': (body) => ({
          ...body,
          product: { name: 'x', translations: { fr: { title: 'x' } } },
        }),
      },
    }));
  });

  it('include their numbers, which do not affect the ETag', async () => {
    const pool = await gift.aPool(2);
    const path = `/admin/pools/${pool}`;
    const before = await admin().get(path).expect(200);
    expect(before.body).toMatchObject({
      id: pool,
      owner: gift.user.account,
      inventories: [{ ...EUR_25, available: 2, reserved: 0, redeemed: 0 }],
    });
    await gift.aLink(pool);
    const after = await admin().get(path).expect(200);
    expect(after.body.inventories[0]).toMatchObject({ available: 1, reserved: 1 });
    expect(after.headers['etag']).toBe(before.headers['etag']);
    const put = await admin()
      .put(path)
      .set('If-Match', before.headers['etag']!)
      .send(before.body)
      .expect(200);
    expect(put.body).toEqual(after.body);
    const list = await admin()
      .get(`/admin/pools?q=${pool.slice(4, 20).toUpperCase()}`)
      .expect(200);
    expect(list.body).toEqual({ data: [after.body], next_cursor: null });
  });

  it('are found by the name of their product', async () => {
    const [pool, mark] = [await gift.aPool(0), randomUUID()];
    const { body: stored } = await admin().get(`/admin/pools/${pool}`).expect(200);
    await admin()
      .put(`/admin/pools/${pool}`)
      .send({ owner: stored.owner, product: { name: `Harbour ${mark}` } })
      .expect(200);
    const { body } = await admin()
      .get('/admin/pools')
      .query({ q: `HARBOUR ${mark}` })
      .expect(200);
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual([pool]);
  });

  it('can be filtered by owner', async () => {
    const { account } = gift.newKey();
    const pool = await gift.aPool(0, EUR_25, account);
    const { body } = await admin().get(`/admin/pools?owner=${account}`).expect(200);
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual([pool]);
  });

  const stocksOf = async (pools: string[], query: StockQuery) => {
    const { rpc, close } = await rpcCaller(gift.nats.url);
    try {
      const { stocks } = await rpc.request(LIST_STOCK, query);
      return {
        all: stocks,
        own: stocks
          .filter(({ pool }) => pools.includes(pool))
          .map(({ days, ...stock }) => ({ ...stock, days: Math.floor(days) })),
      };
    } finally {
      await close();
    }
  };
  /** Makes the pool and its values older. */
  const age = async (pool: string, days: number) => {
    for (const [table, id] of [
      ['pools', 'id'],
      ['inventories', 'pool_id'],
    ])
      await gift.database.query(
        `update ${table} set created_at = now() - $2 * interval '1 day' where ${id} = $1`,
        [pool, days],
      );
  };

  it('are listed while a value is low, with the links of the last 30 days that kept their card', async () => {
    const { account } = gift.user;
    const pool = await gift.aPool(6);
    await gift.addCards(pool, 49, { ...EUR_25, country: 'DE' });
    await gift.addCards(pool, 50, { ...EUR_25, denomination: 50 });
    const empty = await gift.aPool(0);
    const links = [];
    for (let nth = 0; nth < 5; nth += 1)
      links.push(await gift.aLink(pool, { body: aBody({ country: 'FR' }) }));
    const [old, cancelled, revealed] = links as [Link, Link, Link];
    await gift.database.query(
      `update reward_links set created_at = now() - interval '31 days' where id = $1`,
      [linkIdOf(old.token)],
    );
    await http(gift.app, { key: gift.user.key }).post(`/reward-links/${cancelled.id}/cancel`).expect(200);
    await gift.reveal(revealed.token);
    await age(pool, 40);
    const { all, own } = await stocksOf([pool, empty], { low: true });
    const value = { pool, account, product: null, denomination: 25, currency: 'EUR', days: 30 };
    expect(own).toEqual([
      { ...value, country: 'FR', available: 2, used: 3 },
      { ...value, country: 'DE', available: 49, used: 0 },
    ]);
    // The first to run out comes first, whatever it has left, and values that nobody used come last.
    const ends = all.map(({ available, used, days: of }) =>
      available === 0 ? 0 : used > 0 ? (available * of) / used : Infinity,
    );
    expect(ends).toEqual(ends.toSorted((one, other) => one - other));
  });

  it('are low while many cards last fewer than 14 days, at the rate of the days since the value was loaded', async () => {
    const pool = await gift.aPool(65);
    await gift.addCards(pool, 60, { ...EUR_25, country: 'DE' });
    for (let nth = 0; nth < 5; nth += 1) await gift.aLink(pool, { body: aBody({ country: 'FR' }) });
    const own = async (query: StockQuery) => (await stocksOf([pool], query)).own;
    // One day is too short for a forecast. Each country has its own rate.
    const young = await own({ low: true });
    expect(young).toMatchObject([{ country: 'FR', available: 60, used: 5, days: 1 }]);
    expect(daysLeft(young[0]!)).toBeNull();
    // A newer value in an older pool has its own age.
    await gift.database.query(`update pools set created_at = now() - interval '1 year' where id = $1`, [
      pool,
    ]);
    expect(await own({ low: true })).toEqual(young);
    await age(pool, 3);
    expect(await own({ low: true })).toEqual([]);
    const [fr] = await own({ pool });
    expect([fr, daysLeft(fr!)]).toMatchObject([{ country: 'FR', days: 3 }, 36]);
    // Inventories of earlier releases are as old as their pool.
    await gift.database.query(`update inventories set created_at = '-infinity' where pool_id = $1`, [pool]);
    expect(await own({ pool })).toMatchObject([{ days: 3 }, { days: 3 }]);
  });

  it('are not listed as low once their cards were withdrawn and nobody uses them', async () => {
    const pool = await gift.aPool(0);
    const codes = await gift.addCards(pool, 3);
    const { token } = await gift.aLink(pool);
    await gift.reveal(token);
    await gift.withdraw(pool, { codes, reserved: 'keep' });
    const low = async () => (await stocksOf([pool], { low: true })).own;
    expect(await low()).toMatchObject([{ available: 0, used: 1 }]);
    await gift.database.query(
      `update reward_links set created_at = now() - interval '31 days' where id = $1`,
      [linkIdOf(token)],
    );
    expect(await low()).toEqual([]);
    expect((await stocksOf([pool], { pool })).own).toMatchObject([{ available: 0, used: 0 }]);
  });

  it('are left out of the stock of another account', async () => {
    const { account } = gift.newKey();
    const [pool, other] = [await gift.aPool(1), await gift.aPool(1, EUR_25, account)];
    const { own } = await stocksOf([pool, other], { account });
    expect(own).toMatchObject([{ pool: other, account, available: 1 }]);
    expect((await stocksOf([pool], { account, pool })).own).toEqual([]);
    expect((await stocksOf([pool], { pool: 'x' })).all).toEqual([]);
  });

  it('cannot be deleted once they have had cards; ids match in any case', async () => {
    const used = await gift.aPool(1);
    const link = await gift.aLink(used);
    await gift.reveal(link.token);
    const { body } = await admin().delete(`/admin/pools/${used}`).expect(409);
    expect(body).toMatchObject({ code: 'IN_USE', detail: 'The pool has had cards' });

    const empty = await gift.aPool(0);
    // A load without a valid row.
    await gift.load(empty, 'nonsense\n');
    await admin().get(`/admin/pools/${empty.toUpperCase()}`).expect(200);
    await admin().delete(`/admin/pools/${empty.toUpperCase()}`).expect(204);
    for (const id of [empty, 'x', '%00'])
      for (const call of [admin().get(`/admin/pools/${id}`), admin().delete(`/admin/pools/${id}`)])
        expect((await call.expect(404)).body.code).toBe('POOL_NOT_FOUND');
  });

  it('get problem details for errors under /admin, and plain codes elsewhere', async () => {
    for (const path of ['/admin/pools', '/admin/nothing', '/admin'])
      await http(gift.app)
        .get(path)
        .expect('content-type', /^application\/problem\+json/);
    for (const path of ['/pools', '/administrators', `/pool/${randomUUID()}`])
      await http(gift.app)
        .get(path)
        .expect('content-type', /^text\/plain/);
  });
});
