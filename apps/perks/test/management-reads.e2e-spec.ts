import { behavesLikeAResource } from '@perkway/testing';
import { aGroup, aPerk, PerksFixture } from './perks-fixture.js';

const UUID = '5a0c7f5e-3d1b-4b55-9a57-0c2f4f0a1b01';

describe('managed resources', () => {
  let perks: PerksFixture;
  let nextCategory = 1_000;
  beforeAll(async () => {
    perks = await PerksFixture.start();
    await perks.putCategory(1);
    await perks.putPerk({}, 'one');
    await perks.putPerk({}, 'two');
  });
  afterAll(() => perks?.close());

  const read = async (path: string, status = 200) =>
    (await perks.get(path, { key: perks.admin }).expect(status)).body;
  const remove = (path: string, status: number) => perks.delete(path).expect(status);
  const idsOf = (page: { data: { id: number | string }[] }) => page.data.map(({ id }) => id);
  const find = async (list: string, query: string) => idsOf(await read(`/admin/${list}?${query}`));

  describe('a category', () => {
    behavesLikeAResource(() => ({
      app: perks.app,
      admin: perks.admin,
      user: perks.user,
      path: '/admin/categories',
      notFound: 'CATEGORY_NOT_FOUND',
      newId: () => String((nextCategory += 1)),
      body: (number) => ({
        slug: `slug-${nextCategory}`,
        name: `Category ${number}`,
        translations: { de: { name: `Sparte ${number}` }, 'fr-CA': { name: 'Catégorie' } },
      }),
      unknownMembers: {
        other: (body) => ({ ...body, other: null }),
        'translations.de.title': (body) => ({ ...body, translations: { de: { title: 'x' } } }),
      },
    }));

    it('is found by a literal, case-insensitive part of its id or name', async () => {
      await perks.putCategory(77_501, { slug: 'hidden-in-slug', name: 'Émile & 100 %_ \\ discounts' });
      const found = (q: string) => find('categories', `q=${encodeURIComponent(q)}`);
      for (const q of ['éMILE', '100 %', '%_ \\', '77501', '7750']) expect(await found(q)).toEqual([77_501]);
      for (const q of ['hidden', '1%d', "'", '501 É']) expect(await found(q)).toEqual([]);
    });

    it('is listed by id, and a search continues across pages', async () => {
      for (const id of [88_100, 9, 88_020]) await perks.putCategory(id, { name: 'Sorted' });
      const first = await read('/admin/categories?q=sorted&limit=2');
      expect(idsOf(first)).toEqual([9, 88_020]);
      const second = await read(`/admin/categories?q=sorted&limit=2&cursor=${first.next_cursor}`);
      expect(idsOf(second)).toEqual([88_100]);
      expect(second.next_cursor).toBeNull();
      // A cursor issued by another list is rejected.
      await read(`/admin/perks?cursor=${first.next_cursor}`, 400);
    });

    it('cannot be deleted while a perk uses it', async () => {
      await perks.putCategory(60);
      await perks.putPerk({ categories: [60] }, 'with-category');
      const { body } = await remove('/admin/categories/60', 409);
      expect(body).toMatchObject({ code: 'IN_USE', detail: 'It is used by the perks with-category' });
      await perks.putPerk({ categories: [] }, 'with-category');
      await remove('/admin/categories/60', 204);
    });

    it('must have a numeric id', async () => {
      expect((await read('/admin/categories/1e1', 400)).errors[0].field).toBe('id');
      await remove('/admin/categories/0', 400);
    });
  });

  describe('a perk', () => {
    behavesLikeAResource(() => ({
      app: perks.app,
      admin: perks.admin,
      user: perks.user,
      path: '/admin/perks',
      notFound: 'PERK_NOT_FOUND',
      newId: () => perks.newId('perk'),
      body: (number) => ({
        ...aPerk({ title: `Perk ${number}`, categories: [1] }),
        coupon: 'SHARED',
        is_coupon_perk: false,
        metadata: 'words',
        media: { banner: null, logo: 'https://media.example/logo.svg' },
        locations: [{ country: 'FR' }, { country: 'DE', region: 'Berlin', city: 'Berlin' }],
        translations: { fr: { title: `Avantage ${number}`, details: 'Détails' } },
      }),
      unknownMembers: {
        price: (body) => ({ ...body, price: 7 }),
        'partner.url': (body) => ({ ...body, partner: { id: 'shop', name: 'Shop', url: 'x' } }),
        'media.video': (body) => ({ ...body, media: { video: 'https://x.example' } }),
        'locations.1.zip': (body) => ({
          ...body,
          locations: [{ country: 'FR' }, { country: 'FR', zip: '1' }],
        }),
        'translations.fr.name': (body) => ({ ...body, translations: { fr: { name: 'x' } } }),
        constructor: (body: Record<string, unknown>) => ({ ...body, constructor: { prototype: { x: 1 } } }),
        toString: (body: Record<string, unknown>) => ({ ...body, toString: 1 }),
        'partner.constructor': (body) => ({ ...body, partner: { id: 'shop', name: 'Shop', constructor: 1 } }),
        ['__proto__']: (body) => ({ ...body, ...(JSON.parse('{"__proto__": {"x": 1}}') as object) }),
      },
    }));

    it('is found by a part of its id or title', async () => {
      await perks.putPerk({ title: 'A very Rare thing', description: 'common' }, 'Findable-1');
      for (const q of ['very rare', 'findable', 'RARE'])
        expect(await find('perks', `q=${encodeURIComponent(q)}`)).toEqual(['Findable-1']);
      expect(await find('perks', 'q=common')).toEqual([]);
    });

    it('is found by its id, beside others', async () => {
      for (const id of ['Wanted-b', 'Wanted-a', 'Wanted-c']) await perks.putPerk({ title: id }, id);
      expect(await find('perks', 'ids=Wanted-c,none,Wanted-a,Wanted-a')).toEqual(['Wanted-a', 'Wanted-c']);
      expect(await find('perks', 'ids=Wanted-c,Wanted-a&q=d-a')).toEqual(['Wanted-a']);
      const first = await read('/admin/perks?ids=Wanted-a,Wanted-b,Wanted-c&limit=2');
      expect(idsOf(first)).toEqual(['Wanted-a', 'Wanted-b']);
      expect(
        await find('perks', `ids=Wanted-a,Wanted-b,Wanted-c&limit=2&cursor=${first.next_cursor}`),
      ).toEqual(['Wanted-c']);
      const many = Array.from({ length: 100 }, (_, nth) => 'x'.repeat(97) + String(100 + nth));
      expect(await find('perks', `ids=${many.join()}`)).toEqual([]);
      for (const ids of ['', 'a,', 'a b', [...many, 'a'].join(), 'x'.repeat(101)])
        expect((await read(`/admin/perks?ids=${encodeURIComponent(ids)}`, 400)).errors[0].field).toBe('ids');
    });

    it('is found by its category', async () => {
      for (const id of [70, 71]) await perks.putCategory(id);
      await perks.putPerk({ categories: [70, 71] }, 'Both');
      await perks.putPerk({ categories: [71] }, 'Later');
      expect(await find('perks', 'category_id=70')).toEqual(['Both']);
      expect(await find('perks', 'category_id=71')).toEqual(['Both', 'Later']);
      expect(await find('perks', 'category_id=71&q=later')).toEqual(['Later']);
      expect(await find('perks', 'category_id=72')).toEqual([]);
      for (const id of ['0', 'x', ''])
        expect((await read(`/admin/perks?category_id=${id}`, 400)).errors[0].field).toBe('category_id');
    });

    it('names the collections that contain it', async () => {
      const perk = await perks.putPerk();
      const [one, other] = [
        await perks.putCollection([aGroup('A', 1, [perk, 1]), aGroup('B', 2, [perk, 1])]),
        await perks.putCollection([aGroup('A', 1, [perk, 1])]),
      ];
      expect(await find('perk-collections', `perk_id=${perk}`)).toEqual([one, other].sort());
      expect(await find('perk-collections', `perk_id=${perk}&owner=nobody`)).toEqual([]);
      const first = await read(`/admin/perk-collections?perk_id=${perk}&limit=1`);
      expect(first.next_cursor).not.toBeNull();
      expect(await find('perk-collections', 'perk_id=none')).toEqual([]);
      expect((await read('/admin/perk-collections?perk_id=a%20b', 400)).errors[0].field).toBe('perk_id');
    });

    it('cannot be deleted while a collection contains it, and then disappears everywhere', async () => {
      const perk = await perks.putPerk();
      const collection = await perks.putCollection([aGroup('A', 1, [perk, 1])]);
      await perks.get(`/perk-collections/${collection}/perk/${perk}`).expect(200);
      const { body } = await remove(`/admin/perks/${perk}`, 409);
      expect(body).toMatchObject({ code: 'IN_USE', detail: `It is used by the collections ${collection}` });
      await perks.putCollection([aGroup('A', 1)], collection);
      await remove(`/admin/perks/${perk}`, 204);
      await perks.get(`/perk-collections/${collection}/perk/${perk}`).expect(404);
    });

    it('leaves customers their codes when deleted, and never reuses them', async () => {
      const perk = await perks.putPerk({ is_coupon_perk: true });
      const collection = await perks.putCollection([aGroup('A', 1, [perk, 1])]);
      const load = (codes: string[]) =>
        perks.post(`/admin/perks/${perk}/coupon-codes`, { codes }, { key: perks.admin }).expect(200);
      const take = (customer: string) =>
        perks.post(`/perk-collections/${collection}/perk/${perk}/coupon`, { customer_id: customer });
      await load(['C1', 'C2']);
      const { code } = (await take('ann').expect(201)).body;

      await perks.putCollection([aGroup('A', 1)], collection);
      await remove(`/admin/perks/${perk}`, 204);
      await perks.putPerk({ is_coupon_perk: true }, perk);
      await perks.putCollection([aGroup('A', 1, [perk, 1])], collection);
      await take('ben').expect(409);
      expect((await load(['C1', 'C2'])).body).toEqual({ imported: 1, duplicates: 1 });
      expect((await take('ben').expect(201)).body.code).not.toBe(code);
      expect((await take('ann').expect(200)).body.code).toBe(code);
    });
  });

  describe('a collection', () => {
    behavesLikeAResource(() => ({
      app: perks.app,
      admin: perks.admin,
      user: perks.user,
      path: '/admin/perk-collections',
      notFound: 'COLLECTION_NOT_FOUND',
      newId: () => perks.newId('collection'),
      body: (number) => ({
        owner: perks.account,
        groups: [
          {
            id: UUID,
            name: `Group ${number}`,
            rank: 1,
            translations: { fr: { name: 'Groupe' } },
            perks: [
              { id: 'two', rank: 1 },
              { id: 'one', rank: 2 },
            ],
          },
        ],
      }),
      unknownMembers: {
        title: (body) => ({ ...body, title: 'x' }),
        'groups.0.title': (body) => ({ ...body, groups: [{ ...aGroup('A', 1), title: 'x' }] }),
        'groups.0.perks.0.name': (body) => ({
          ...body,
          groups: [{ ...aGroup('A', 1), perks: [{ id: 'one', rank: 1, name: 'x' }] }],
        }),
        'groups.0.translations.fr.title': (body) => ({
          ...body,
          groups: [{ ...aGroup('A', 1), translations: { fr: { title: 'x' } } }],
        }),
      },
    }));

    it('is found by a part of its id, and by its owner', async () => {
      const mine = await perks.putCollection([aGroup('Wanted', 1)], 'Wanted-Collection');
      const body = { owner: perks.stranger.account, groups: [] };
      await perks.put('/admin/perk-collections/wanted-by-another', body).expect(200);
      expect(await find('perk-collections', 'q=wanted-')).toEqual([mine, 'wanted-by-another']);
      expect(await find('perk-collections', `q=wanted-&owner=${perks.account}`)).toEqual([mine]);
      expect(await find('perk-collections', 'owner=nobody')).toEqual([]);
      expect((await read('/admin/perk-collections?owner=', 400)).errors[0].field).toBe('owner');
    });

    it('disappears for its owner as soon as it is deleted', async () => {
      const id = await perks.putCollection([aGroup('A', 1, ['one', 1])]);
      await perks.get(`/perk-collections/${id}`).expect(200);
      expect(JSON.stringify((await perks.get('/perk-collections').expect(200)).body)).toContain(`"${id}"`);
      await remove(`/admin/perk-collections/${id}`, 204);
      await perks.get(`/perk-collections/${id}`).expect(404);
      expect(JSON.stringify((await perks.get('/perk-collections').expect(200)).body)).not.toContain(
        `"${id}"`,
      );
    });
  });
});
