import { http, trackedEvents, waitFor } from '@perkway/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { aGroup, aPerk, PerksFixture } from './perks-fixture.js';

const times = { created_at: expect.any(String), updated_at: expect.any(String) };
const UUID = '5a0c7f5e-3d1b-4b55-9a57-0c2f4f0a1b01';

describe('the management API', () => {
  let perks: PerksFixture;
  beforeAll(async () => {
    perks = await PerksFixture.start();
  });
  afterAll(() => perks?.close());

  const refused = async (path: string, body: object, ...fields: string[]) => {
    const { body: problem } = await perks.put(path, body).expect(400);
    expect(problem.code).toBe('VALIDATION_FAILED');
    expect(problem.errors.map(({ field }: { field: string }) => field)).toEqual(fields);
    return problem.detail as string;
  };

  it('accepts only ADMIN keys, and only in the header', async () => {
    const body = { slug: 'x', name: 'X' };
    for (const path of ['/admin/categories/1', '/admin/perks/p', '/admin/perk-collections/c']) {
      const { body: problem } = await perks.put(path, body, { key: perks.user }).expect(403);
      expect(problem.code).toBe('FORBIDDEN');
      await http(perks.app).put(path).send(body).expect(401);
      await http(perks.app).put(`${path}?api_key=${perks.admin.key}`).send(body).expect(401);
      // Credentials are checked before the body.
      await http(perks.app).put(path).set('Content-Type', 'application/json').send('{').expect(401);
    }
    await perks.get('/admin/perks/p/coupon-codes').expect(403);
    await perks.post('/admin/perks/p/coupon-codes', { codes: ['x'] }).expect(403);
  });

  it.each(['/admin/categories/1', '/admin/perks/p', '/admin/perk-collections/c'])(
    'rejects bodies for %s that are not JSON objects',
    async (path) => {
      const send = (body: string, type = 'application/json') =>
        http(perks.app).put(path).set('X-API-Key', perks.admin.key).set('Content-Type', type).send(body);
      for (const body of ['{', '', 'null', '[]', '"x"', '7']) {
        const { body: problem } = await send(body).expect(400);
        expect(problem.code).toBe('VALIDATION_FAILED');
      }
      await send('a: b', 'application/yaml').expect(415);
      await send(JSON.stringify({ name: 'x'.repeat(5 * 1024 * 1024) })).expect(413);
    },
  );

  describe('PUT of a category', () => {
    it('creates, keeps and changes it', async () => {
      const body = {
        slug: 'food-drink',
        name: 'Food',
        translations: { FR: { name: 'Cuisine' }, de: {} },
      };
      const stored = {
        id: 10,
        slug: 'food-drink',
        name: 'Food',
        translations: { fr: { name: 'Cuisine' } },
        ...times,
      };
      for (let time = 0; time < 2; time += 1)
        expect((await perks.put('/admin/categories/10', body).expect(200)).body).toEqual(stored);
      expect(
        (await perks.put('/admin/categories/10', { slug: 'food-drink', name: 'Meals' }).expect(200)).body,
      ).toEqual({
        ...stored,
        name: 'Meals',
        translations: {},
      });
    });

    it('names the fields with invalid values', async () => {
      const valid = { slug: 'travel', name: 'Travel' };
      for (const id of ['0', '-1', 'x', '1.5', '1e1', '0x1', '2147483648', '%00'])
        await refused(`/admin/categories/${id}`, valid, 'id');
      const path = '/admin/categories/11';
      await refused(path, {}, 'slug', 'name');
      await refused(path, { ...valid, slug: 'not a slug' }, 'slug');
      await refused(path, { ...valid, slug: ['travel'] }, 'slug');
      await refused(path, { ...valid, name: '' }, 'name');
      await refused(path, { ...valid, name: 'x\0' }, 'name');
      await refused(path, { ...valid, name: '\ud800' }, 'name');
      await refused(path, { ...valid, name: { toString: 'x' } }, 'name.toString');
      await refused(path, { ...valid, translations: { fr: { name: 7 } } }, 'translations');
      await refused(path, { ...valid, translations: [] }, 'translations');
    });

    it.each([
      ['"__proto__":{"x":1}', '__proto__'],
      ['"\\u005f_proto__":[]', '__proto__'],
      ['"__pr\\u006fto__":[]', '__proto__'],
      ['"__pr\\u006fto__":{"x":1}', '__proto__'],
      ['"constructor":{"prototype":{"x":1}}', 'constructor'],
      ['"translations":{"fr":{"name":"Voyage","__proto__":{}}}', 'translations.fr.__proto__'],
    ])('rejects %s like any unknown member', async (member, field) => {
      const { status, body } = await http(perks.app, perks.admin)
        .put('/admin/categories/14')
        .set('Content-Type', 'application/json')
        .send(`{"slug":"travel","name":"Travel",${member}}`);
      expect([status, body.code, body.errors]).toEqual([
        400,
        'VALIDATION_FAILED',
        [{ field, message: 'is unknown' }],
      ]);
    });

    it('rejects the slug of another category', async () => {
      await perks.putCategory(12, { slug: 'taken' });
      expect(await refused('/admin/categories/13', { slug: 'taken', name: 'X' }, 'slug')).toContain('12');
    });
  });

  describe('PUT of a perk', () => {
    it('returns the stored perk with all defaults', async () => {
      await perks.putCategory(1);
      await perks.putCategory(2);
      const { body } = await perks.put('/admin/perks/full', aPerk({ categories: [2, 1] })).expect(200);
      expect(body).toEqual({
        id: 'full',
        ...aPerk({ categories: [1, 2] }),
        is_coupon_perk: false,
        metadata: '',
        media: { banner: null, logo: null },
        locations: [],
        translations: {},
        ...times,
      });
      const given = aPerk({
        coupon: 'SAVE10',
        metadata: 'key words',
        media: { banner: 'https://media.example/b.jpg' },
        locations: [{ country: 'FR', region: null, city: 'Paris' }, { country: 'DE' }],
        translations: { 'fr-ca': { title: 'Titre' } },
      });
      const { body: changed } = await perks.put('/admin/perks/full', given).expect(200);
      expect(changed).toEqual({
        ...given,
        id: 'full',
        is_coupon_perk: false,
        media: { banner: 'https://media.example/b.jpg', logo: null },
        locations: [{ country: 'FR', city: 'Paris' }, { country: 'DE' }],
        translations: { 'fr-CA': { title: 'Titre' } },
        ...times,
      });
      expect((await perks.put('/admin/perks/full', changed).expect(200)).body).toEqual(changed);
    });

    it('names an unknown category', async () => {
      expect(await refused('/admin/perks/p', aPerk({ categories: [1, 777, 778] }), 'categories')).toContain(
        '777, 778',
      );
      await perks.get('/admin/perks/p/coupon-codes', { key: perks.admin }).expect(404);
    });

    it('rejects a coupon on a single-use perk', async () => {
      await refused('/admin/perks/p', aPerk({ coupon: 'SAVE10', is_coupon_perk: true }), 'coupon');
      await perks.put('/admin/perks/p', aPerk({ coupon: null, is_coupon_perk: true })).expect(200);
      await perks.put('/admin/perks/p', aPerk({ coupon: 'SAVE10', is_coupon_perk: false })).expect(200);
    });

    it.each<[string, unknown]>([
      ['title', undefined],
      ['title', ''],
      ['title', 'x'.repeat(301)],
      ['title', 7],
      ['description', undefined],
      ['description', '\0'],
      ['callout', null],
      ['redemption_note', undefined],
      ['details', undefined],
      ['offer_url', undefined],
      ['offer_url', '/relative'],
      ['offer_url', 'ftp://shop.example'],
      ['offer_url', 'https://user:pass@shop.example'],
      ['offer_url', 'javascript:alert(1)'],
      ['offer_slug', 'not a slug'],
      ['coupon', ''],
      ['is_coupon_perk', 'true'],
      ['metadata', {}],
      ['partner', undefined],
      ['partner', 'shop'],
      ['partner', []],
      ['categories', undefined],
      ['categories', 1],
      ['categories', ['1']],
      ['categories', [1.5]],
      ['categories', [0]],
      ['categories', [2_147_483_648]],
      ['categories', [1, 1]],
      ['media', 'https://media.example'],
      ['locations', {}],
      ['locations', ['FR']],
      ['locations', [null]],
      ['locations', [[]]],
      ['translations', { fr: { title: 7 } }],
      ['translations', { x: {} }],
    ])('rejects %s = %j', async (field, value) => {
      const { body } = await perks.put('/admin/perks/refused', aPerk({ [field]: value })).expect(400);
      expect(body.code).toBe('VALIDATION_FAILED');
      expect(body.errors[0].field).toMatch(new RegExp(`^${field}`));
    });

    it('names nested fields', async () => {
      await refused('/admin/perks/p', aPerk({ partner: { id: 'shop' } }), 'partner.name');
      await refused('/admin/perks/p', aPerk({ media: { logo: 'logo.svg' } }), 'media.logo');
      await refused(
        '/admin/perks/p',
        aPerk({ locations: [{ country: 'FR' }, { city: 'Paris' }] }),
        'locations.1.country',
      );
      for (const id of ['%00', 'a b', 'x'.repeat(101), '%ff', 'a%2fb'])
        await perks.put(`/admin/perks/${id}`, aPerk()).expect(400);
    });

    it('sends analytics the name, and again only after it changes', async () => {
      const named = async () =>
        (await trackedEvents(perks.nats.url)).filter(
          (event) => event.type === 'perk_named' && event.perk === 'named-perk',
        );
      await perks.putPerk({ title: 'First' }, 'named-perk');
      await perks.putPerk({ title: 'First' }, 'named-perk');
      await perks.putPerk({ title: 'First', callout: 'Other' }, 'named-perk');
      await perks.putPerk({ title: 'Second' }, 'named-perk');
      await perks.putPerk({ title: 'Second', partner: { id: 'other', name: 'Other' } }, 'named-perk');
      await waitFor(async () => (await named()).length >= 3, 'three names');
      expect(await named()).toMatchObject([
        { account: '', title: 'First', partner: 'shop' },
        { title: 'Second', partner: 'shop' },
        { title: 'Second', partner: 'other' },
      ]);
    });
  });

  describe('PUT of a collection', () => {
    it('returns the stored collection in display order, with an id for every group', async () => {
      const [a, b] = [await perks.putPerk(), await perks.putPerk()];
      const body = {
        owner: perks.account,
        groups: [
          aGroup('Second', 2, [a, 2], [b, 1]),
          { ...aGroup('First', 1, [a, 1]), id: UUID.toUpperCase(), translations: { fr: { name: 'Un' } } },
        ],
      };
      const { body: first } = await perks.put('/admin/perk-collections/echo', body).expect(200);
      expect(first).toEqual({
        id: 'echo',
        owner: perks.account,
        groups: [
          { ...aGroup('First', 1, [a, 1]), id: UUID, translations: { fr: { name: 'Un' } } },
          { ...aGroup('Second', 2, [b, 1], [a, 2]), id: expect.stringMatching(/^[0-9a-f-]{36}$/) },
        ],
        ...times,
      });
      const { body: second } = await perks.put('/admin/perk-collections/echo', body).expect(200);
      expect(second).toEqual(first);
      const { body: read } = await perks.get('/perk-collections/echo').expect(200);
      expect(read.groups.map(({ id }: { id: string }) => id)).toEqual([UUID, first.groups[1].id]);
    });

    it('writes nothing if nothing has changed', async () => {
      const perk = await perks.putPerk();
      const id = await perks.putCollection([aGroup('One', 1, [perk, 1])]);
      const rows = () =>
        perks.database.query(
          'select c.revision, g.xmin from collections c join perk_groups g on g.collection_id = c.id where c.id = $1',
          [id],
        );
      const before = await rows();
      await perks.putCollection([aGroup('One', 1, [perk, 1])], id);
      await perks.putPerk({}, perk);
      expect(await rows()).toEqual(before);
      await perks.putCollection([aGroup('One', 1, [perk, 2])], id);
      expect(await rows()).not.toEqual(before);
    });

    it('names an unknown account and unknown perks', async () => {
      const groups = [aGroup('One', 1, ['no-such-perk', 1], ['nor-this', 2])];
      const path = '/admin/perk-collections/unknown-things';
      expect(await refused(path, { owner: 'nobody', groups: [] }, 'owner')).toContain('nobody');
      expect(await refused(path, { owner: '__proto__', groups: [] }, 'owner')).toContain('__proto__');
      const detail = await refused(path, { owner: perks.account, groups }, 'groups');
      expect(detail).toContain('no-such-perk');
      expect(detail).toContain('nor-this');
      await perks.get('/perk-collections/unknown-things').expect(404);
    });

    it('names the position of invalid values', async () => {
      const path = '/admin/perk-collections/wrong';
      const valid = { name: 'One', rank: 1, perks: [] };
      const put = (...groups: unknown[]) => ({ owner: perks.account, groups });
      await refused(path, {}, 'owner', 'groups');
      await refused(path, { owner: 7, groups: 'x' }, 'owner', 'groups');
      await refused(path, put({ ...valid, id: 'not-a-uuid' }), 'groups.0.id');
      await refused(path, put(valid, { ...valid, name: '' }), 'groups.1.name');
      await refused(path, put({ ...valid, rank: '1' }), 'groups.0.rank');
      await refused(path, put({ ...valid, rank: 1.5 }), 'groups.0.rank');
      await refused(path, put({ ...valid, rank: 1e12 }), 'groups.0.rank');
      await refused(path, put({ ...valid, perks: [{ id: 'p' }] }), 'groups.0.perks.0.rank');
      await refused(path, put({ ...valid, perks: [{ id: 'a b', rank: 1 }] }), 'groups.0.perks.0.id');
      await refused(path, put({ ...valid, perks: undefined }), 'groups.0.perks');
      await refused(path, put({ ...valid, translations: 'fr' }), 'groups.0.translations');
      for (const odd of [null, 7, 'x', [], [[]]]) {
        const { body } = await perks.put(path, put(odd)).expect(400);
        expect(body).toMatchObject({ code: 'VALIDATION_FAILED', errors: [{ field: 'groups' }] });
        await refused(path, put({ ...valid, perks: [odd] }), 'groups.0.perks');
      }
      await perks.get('/perk-collections/wrong').expect(404);
    });

    it('moves it to another account at once', async () => {
      const id = await perks.putCollection([]);
      await perks.get(`/perk-collections/${id}`).expect(200);
      await perks
        .put(`/admin/perk-collections/${id}`, { owner: perks.stranger.account, groups: [] })
        .expect(200);
      await perks.get(`/perk-collections/${id}`).expect(404);
      await perks.get(`/perk-collections/${id}`, { key: perks.stranger }).expect(200);
      expect((await perks.get('/perk-collections').expect(200)).body).not.toContain(id);
      expect((await perks.get('/perk-collections', { key: perks.stranger }).expect(200)).body).toEqual([id]);
    });

    it('is atomic under concurrent writes', async () => {
      const ids = await Promise.all(Array.from({ length: 6 }, () => perks.putPerk()));
      const id = perks.newId('collection');
      const variant = (index: number) => ({
        owner: perks.account,
        groups: [aGroup(`Variant ${index}`, 1, ...ids.map((perk): [string, number] => [perk, index]))],
      });
      await Promise.all(
        Array.from({ length: 12 }, async (_, index) => {
          const { body } = await perks.put(`/admin/perk-collections/${id}`, variant(index)).expect(200);
          expect(body.groups[0].name).toBe(`Variant ${index}`);
          await perks.putPerk({ title: `Title ${index}` }, ids[index % ids.length]);
        }),
      );
      const { body } = await perks.get(`/perk-collections/${id}`).expect(200);
      expect(body.groups).toHaveLength(1);
      const last = Number(body.groups[0].name.split(' ')[1]);
      expect(body.groups[0].perks.map(({ rank }: { rank: number }) => rank)).toEqual(ids.map(() => last));
    });

    it('accepts 2,000 perks in 40 groups, and serves them', async () => {
      // Inserted directly, because 2,000 calls would be slow.
      await perks.database.query(`
        insert into perks (id, title, description, callout, redemption_note, details, offer_url, offer_slug, partner, media)
        select 'many-' || n, 'Title ' || n, '', '', '', '', 'https://shop.example', 'slug',
          '{"id": "shop", "name": "Shop"}', '{"banner": null, "logo": null}'
        from generate_series(0, 1999) n`);
      const groups = Array.from({ length: 40 }, (_, group) =>
        aGroup(
          `Group ${group}`,
          group,
          ...Array.from({ length: 50 }, (_, index): [string, number] => [
            `many-${group * 50 + index}`,
            index,
          ]),
        ),
      );
      const id = await perks.putCollection(groups);
      await perks.forgetEvents();
      const { body } = await perks.get(`/perk-collections/${id}`).expect(200);
      expect(body.groups).toHaveLength(40);
      expect(body.perks).toHaveLength(2_000);
      expect(new Set(body.perks.map(({ click_url }: { click_url: string }) => click_url)).size).toBe(2_000);
      const [view] = await perks.views();
      expect(view!.perks).toHaveLength(2_000);
    });
  });

  it('takes a burst of changes one after the other, and keeps serving reads', async () => {
    const id = await perks.putCollection([aGroup('One', 1, [await perks.putPerk(), 1])]);
    let isDone = false;
    const burst = Promise.all(Array.from({ length: 150 }, () => perks.putPerk())).finally(
      () => (isDone = true),
    );
    let reads = 0;
    while (!isDone) {
      await perks.get(`/perk-collections/${id}`).expect(200);
      reads += 1;
      // Leaves processor time to the changes: they and the reads share one process.
      await sleep(20);
    }
    expect(await burst).toHaveLength(150);
    expect(reads).toBeGreaterThan(1);
  });

  describe('with several replicas', () => {
    it('shows an edit at once on the replica that took it, and within seconds on the others', async () => {
      const other = await perks.launch();
      await perks.putCategory(60, { name: 'Old category' });
      const perk = await perks.putPerk({ title: 'Old title', categories: [60] });
      const id = await perks.putCollection([aGroup('Old group', 1, [perk, 1])]);
      const shown = async (app = perks.app) => {
        const { body } = await perks.get(`/perk-collections/${id}`, { app }).expect(200);
        const [{ name, perks: inGroup }] = body.groups;
        return [name, inGroup[0]?.title, inGroup[0]?.relations.categories[0].name];
      };
      const old = ['Old group', 'Old title', 'Old category'];
      expect(await shown()).toEqual(old);
      expect(await shown(other)).toEqual(old);

      const everywhere = async (expected: unknown[]) => {
        expect(await shown()).toEqual(expected);
        await waitFor(async () => expect(await shown(other)).toEqual(expected), 'the change');
      };
      await perks.putPerk({ title: 'New title', categories: [60] }, perk);
      await everywhere(['Old group', 'New title', 'Old category']);
      await perks.putCategory(60, { name: 'New category' });
      await everywhere(['Old group', 'New title', 'New category']);
      await perks.putCollection([aGroup('New group', 1, [perk, 1])], id);
      await everywhere(['New group', 'New title', 'New category']);
      const later = await perks.putCollection([]);
      await waitFor(
        async () => (await perks.get('/perk-collections', { app: other }).expect(200)).body.includes(later),
        'the new collection',
      );
    });
  });
});
