import { aGroup, PerksFixture } from './perks-fixture.js';

describe('content for a customer', () => {
  let perks: PerksFixture;
  let collection: string;
  let bilingual: string;
  let plain: string;
  beforeAll(async () => {
    perks = await PerksFixture.start();
    await perks.putCategory(1, { name: 'Food', translations: { fr: { name: 'Cuisine' } } });
    await perks.putCategory(2, { name: 'Travel', translations: { 'es-MX': { name: 'Viajes' } } });
    bilingual = await perks.putPerk({
      categories: [1],
      translations: { FR: { title: 'Deux pour un', details: 'Jusqu’à la fin' }, de: { callout: '2 für 1' } },
      locations: [{ country: 'FR', region: 'Île-de-France', city: 'Paris' }, { country: 'DE' }],
    });
    plain = await perks.putPerk({ categories: [2] });
    collection = await perks.putCollection([
      { ...aGroup('All', 1, [bilingual, 1], [plain, 2]), translations: { fr: { name: 'Tout' } } },
    ]);
  });
  afterAll(() => perks?.close());

  const read = (query: Record<string, string | string[]> = {}, path = '', acceptLanguage?: string) => {
    const reading = perks.get(`/perk-collections/${collection}${path}`).query(query);
    return acceptLanguage === undefined ? reading : reading.set('Accept-Language', acceptLanguage);
  };
  const idsOf = async (query: Record<string, string | string[]>) => {
    const { body } = await read(query).expect(200);
    expect(body.groups).toHaveLength(1);
    const ids = (list: { id: string }[]) => list.map(({ id }) => id);
    expect(ids(body.groups[0].perks)).toEqual(ids(body.perks));
    return ids(body.perks);
  };

  describe('by language', () => {
    it('falls back field by field, for perks, categories and groups', async () => {
      const { body, headers } = await read({}, '', 'fr-CA, en;q=0.5').expect(200);
      expect(headers).toMatchObject({ 'content-language': 'fr', vary: 'Accept-Language' });
      expect(body.groups[0].name).toBe('Tout');
      expect(body.perks[0]).toMatchObject({
        title: 'Deux pour un',
        details: 'Jusqu’à la fin',
        callout: '2 for 1',
        relations: { categories: [{ id: 1, slug: 'category-1', name: 'Cuisine' }] },
      });
      expect(body.perks[1]).toMatchObject({
        title: 'Two for one',
        relations: { categories: [{ name: 'Travel' }] },
      });
    });

    it('prefers lang to the header, and the last lang to the first', async () => {
      const { body, headers } = await read({ lang: 'DE' }, '', 'fr').expect(200);
      expect(headers['content-language']).toBe('de');
      expect(body.perks[0]).toMatchObject({ title: 'Two for one', callout: '2 für 1' });
      expect((await read({ lang: ['de', 'fr'] }).expect(200)).headers['content-language']).toBe('fr');
    });

    it.each(['', 'xx', 'fr_FR', '\0', 'é'.repeat(100), 'fr-'.repeat(3_000)])(
      'returns the default language for lang=%j',
      async (lang) => {
        const { body, headers } = await read({ lang }, '', 'fr').expect(200);
        expect(headers).toMatchObject({ 'content-language': 'en', vary: 'Accept-Language' });
        expect(body.perks[0].title).toBe('Two for one');
      },
    );

    it('states the language of the response, for one perk and for the categories', async () => {
      const language = async (path: string, lang: string) =>
        (await read({ lang }, path).expect(200)).headers['content-language'];
      expect(await language(`/perk/${bilingual}`, 'de')).toBe('de');
      expect(await language(`/perk/${plain}`, 'de')).toBe('en');
      expect(await language(`/perk/${plain}`, 'es-mx')).toBe('es-MX');
      expect(await language('/categories', 'de')).toBe('en');
      expect(await language('/categories', 'fr')).toBe('fr');
      const { body } = await read({ lang: 'fr' }, '/categories').expect(200);
      expect(body).toEqual([
        { id: 1, name: 'Cuisine', slug: 'category-1' },
        { id: 2, name: 'Travel', slug: 'category-2' },
      ]);
      expect((await read({ lang: 'fr' }, `/perk/${bilingual}`).expect(200)).body.title).toBe('Deux pour un');
    });
  });

  describe('by place or category', () => {
    it.each<[Record<string, string | string[]>, 'both' | 'plain' | 'bilingual' | 'none']>([
      [{}, 'both'],
      [{ location_country: 'fr' }, 'both'],
      [{ location_country: 'FR', location_city: 'paris' }, 'both'],
      [{ location_country: 'FR', location_region: 'île-de-france', location_city: 'PARIS' }, 'both'],
      [{ location_country: 'FR', location_city: 'Lyon' }, 'plain'],
      // Inside a location that only gives its country.
      [{ location_country: 'DE', location_region: 'Bayern', location_city: 'München' }, 'both'],
      // No single location matches both.
      [{ location_country: 'GB', location_city: 'Paris' }, 'plain'],
      [{ categories: '1' }, 'bilingual'],
      [{ categories: ['1', '2'] }, 'both'],
      [{ categories: ['2', '99'] }, 'plain'],
      [{ categories: '99' }, 'none'],
      [{ categories: '1', location_country: 'GB' }, 'none'],
      [{ categories: '1', unknown: 'x' }, 'bilingual'],
    ])('%j leaves %s', async (query, left) => {
      const expected = { both: [bilingual, plain], plain: [plain], bilingual: [bilingual], none: [] };
      expect(await idsOf(query)).toEqual(expected[left]);
    });
  });

  describe('with invalid parameters', () => {
    it.each<[Record<string, string | string[]>, string]>([
      [{ categories: 'x' }, 'categories'],
      [{ categories: ['1', ''] }, 'categories'],
      [{ categories: '99999999999' }, 'categories'],
      [{ location_country: '' }, 'location_country'],
      [{ location_region: 'x'.repeat(10_240) }, 'location_region'],
      [{ location_city: 'a\0b' }, 'location_city'],
      [{ show_coupon_perks: 'perhaps' }, 'show_coupon_perks'],
    ])('rejects %j with a 400 that names the field', async (query, field) => {
      const { body, headers } = await read(query).expect(400);
      expect(headers['content-type']).toMatch(/^application\/problem\+json/);
      expect(body).toMatchObject({ code: 'VALIDATION_FAILED', status: 400, errors: [{ field }] });
      expect(body.detail).toContain(field);
    });

    it('never fails with a 5xx on odd bytes and paths', async () => {
      const statuses = new Set<number>();
      for (const path of [
        `/perk-collections/${'x'.repeat(10_240)}`,
        '/perk-collections/%00',
        '/perk-collections/%ff%fe',
        '/perk-collections/%',
        '/perk-collections/..%2f..',
        '/perk-collections/a b',
        `/perk-collections/${collection}/perk/${'x'.repeat(10_240)}`,
        `/perk-collections/${collection}/perk/%00`,
        `/perk-collections/${collection}/perk/%E2%82`,
        `/perk-collections/${collection}/perk/`,
        `/perk-collections/__proto__`,
        `/perk-collections/${collection}/perk/constructor`,
        `/perk-collections/${collection}?location_city=%ff%fe`,
        `/perk-collections/${collection}?location_city=%00`,
        `/perk-collections/${collection}?lang=%ff`,
        `/perk-collections/${collection}?categories[]=1&categories[x]=2`,
        `/perk-collections/${collection}?${'a=1&'.repeat(2_000)}`,
        `/perk-collections/${collection}?__proto__=x&constructor=y&toString=z`,
        `/perk-collections/${collection}?lang=__proto__&lang=constructor`,
      ]) {
        const { status } = await perks.get(path);
        statuses.add(status);
        expect([200, 400, 404, 414]).toContain(status);
      }
      expect(statuses).toContain(400);
      const odd = { 'accept-language': 'x'.repeat(8_000), 'if-none-match': '"'.repeat(4_000) };
      await perks.get(`/perk-collections/${collection}`).set(odd).expect(200);
    });
  });
});
