import { createLinkSigner, parseKeyring, verifyLink } from '@perkway/signing';
import fc from 'fast-check';
import { toCollection } from '../catalog/load-collection.js';
import type { ResponseTemplate } from './response-template.js';
import { readFilters, NO_FILTERS } from './perk-filters.js';
import { renderCategories, renderCollection, renderPerk } from './render.js';
import type { PerkCollectionResponse, PerkResponse } from './collection-reads.dto.js';

type Stored = Parameters<typeof toCollection>[0];
type StoredPerk = Stored['perks'][number];

const keyring = parseKeyring(`k1:${Buffer.alloc(32, 7).toString('base64url')}`);
const signer = createLinkSigner(keyring);
const settings = { signer, linkPrefix: 'https://links.example/c/', defaultLanguage: 'en' };

const storedPerk = (fields: Partial<StoredPerk> = {}): StoredPerk => ({
  id: 'perk',
  title: 'Title',
  description: 'Description',
  callout: 'Callout',
  redemption_note: 'Note',
  details: 'Details',
  offer_slug: 'slug',
  coupon: null,
  is_coupon_perk: false,
  metadata: '',
  partner: { id: 'partner', name: 'Partner' },
  media: { banner: null, logo: null },
  locations: [],
  translations: {},
  categories: [],
  ...fields,
});
const stored = (fields: Partial<Stored> = {}): Stored => ({
  id: 'collection',
  owner: 'account',
  revision: '1',
  groups: [],
  perks: [],
  categories: [],
  ...fields,
});
const group = (perks: [string, number][], fields: Partial<Stored['groups'][number]> = {}) => ({
  id: '5a0c7f5e-3d1b-4b55-9a57-0c2f4f0a1b01',
  name: 'Group',
  rank: 1,
  translations: {},
  perks,
  ...fields,
});

const fetched = <Body>(template: ResponseTemplate): Body => {
  const memory = Buffer.alloc(template.length, '?');
  template.fill(memory, signer.begin());
  return JSON.parse(memory.toString()) as Body;
};
const read = (collection: Stored, query: Parameters<typeof readFilters>[0] = {}, language = 'en') =>
  fetched<PerkCollectionResponse>(
    renderCollection(settings, toCollection(collection), language, readFilters(query)),
  );

describe('a rendered collection', () => {
  it('is valid JSON for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }), (title, name) => {
        const collection = stored({
          groups: [group([['perk', 1]], { name })],
          perks: [storedPerk({ title, coupon: name, partner: { id: title, name } })],
        });
        const { groups, perks } = read(collection);
        expect(groups[0]!.name).toBe(name);
        expect(perks[0]).toMatchObject({ title, coupon: name, relations: { partner: { id: title, name } } });
        expect(groups[0]!.perks).toEqual(perks);
      }),
    );
  });

  it('has one valid link per perk, the same at each appearance, fresh on each fetch', () => {
    const collection = toCollection(
      stored({
        groups: [
          group([
            ['a', 1],
            ['b', 2],
          ]),
          group(
            [
              ['b', 1],
              ['a', 7],
            ],
            { id: 'other', rank: 2 },
          ),
        ],
        perks: [storedPerk({ id: 'a' }), storedPerk({ id: 'b', title: 'Ünïcode moves the bytes' })],
      }),
    );
    const template = renderCollection(settings, collection, 'en', NO_FILTERS);
    const links = new Set<string>();
    for (let fetch = 0; fetch < 3; fetch += 1) {
      const { groups, perks } = fetched<PerkCollectionResponse>(template);
      for (const { id, click_url } of perks) {
        links.add(click_url);
        expect(verifyLink(keyring, click_url.slice(settings.linkPrefix.length))).toMatchObject({
          account: 'account',
          collection: 'collection',
          perk: id,
        });
        for (const { perks: inGroup } of groups)
          expect(inGroup.find((perk) => perk.id === id)!.click_url).toBe(click_url);
      }
    }
    expect(links.size).toBe(6);
  });

  it('has an ETag that depends on the content alone', () => {
    const etag = (fields: Partial<StoredPerk>, language = 'en') =>
      renderCollection(
        settings,
        toCollection(
          stored({
            revision: String(Math.random()),
            groups: [group([['perk', 1]])],
            perks: [storedPerk(fields)],
          }),
        ),
        language,
        NO_FILTERS,
      ).etag;
    const translations = { fr: { title: 'Titre' } };
    expect(etag({ translations })).toBe(etag({ translations }));
    expect(etag({ translations })).not.toBe(etag({ translations }, 'fr'));
    expect(etag({ title: 'Other' })).not.toBe(etag({}));
    expect(etag({})).toMatch(/^W\/"[\w-]{27}"$/);
  });

  it('is localized field by field, including categories and groups', () => {
    const collection = stored({
      groups: [group([['perk', 1]], { translations: { fr: { name: 'Groupe' } } })],
      perks: [
        storedPerk({
          translations: { fr: { title: 'Titre', details: 'Détails' }, 'fr-CA': { title: 'Le titre' } },
          categories: [3],
        }),
      ],
      categories: [{ id: 3, slug: 'food', name: 'Food', translations: { fr: { name: 'Cuisine' } } }],
    });
    const { groups, perks } = read(collection, {}, 'fr-CA');
    expect(groups[0]!.name).toBe('Groupe');
    expect(perks[0]).toMatchObject({
      title: 'Le titre',
      details: 'Détails',
      description: 'Description',
      relations: { categories: [{ id: 3, name: 'Cuisine', slug: 'food' }] },
    });
    expect(fetched(renderCategories(settings, toCollection(collection), 'fr'))).toEqual([
      { id: 3, name: 'Cuisine', slug: 'food' },
    ]);
  });

  it('lists each perk shown once', () => {
    const collection = toCollection(
      stored({
        groups: [
          group([
            ['a', 2],
            ['b', 1],
          ]),
          group([['a', 1]], { id: 'other', rank: 2 }),
        ],
        perks: [storedPerk({ id: 'a' }), storedPerk({ id: 'b', is_coupon_perk: true })],
      }),
    );
    const shown = (query: object) =>
      renderCollection(settings, collection, 'en', readFilters({ ...query })).shownPerks;
    expect(shown({})).toBe('["a"]');
    expect(shown({ show_coupon_perks: 'true' })).toBe('["a","b"]');
    expect(shown({ categories: '9' })).toBeUndefined();
    expect(renderPerk(settings, collection, collection.perksById.get('b')!, 'en').shownPerks).toBe('["b"]');
    expect(renderCategories(settings, collection, 'en').shownPerks).toBeUndefined();
  });
});

describe('filters', () => {
  const PLACES = {
    country: ['FR', 'de', 'Gb'],
    region: ['Bavaria', 'ÎLE'],
    city: ['Paris', 'münchen', 'York'],
  };
  const anyCase = (text: string) =>
    fc.constantFrom(text, text.toUpperCase(), text.toLowerCase(), text.normalize('NFD'));
  const place = (values: readonly string[]) => fc.constantFrom(...values).chain(anyCase);
  const location = fc.record(
    { country: place(PLACES.country), region: place(PLACES.region), city: place(PLACES.city) },
    { requiredKeys: ['country'] },
  );
  const perk = fc.record({
    is_coupon_perk: fc.boolean(),
    categories: fc.uniqueArray(fc.integer({ min: 1, max: 4 }), { maxLength: 3 }),
    locations: fc.array(location, { maxLength: 3 }),
  });
  const catalogue = fc.array(perk, { minLength: 1, maxLength: 8 }).chain((perks) =>
    fc.record({
      perks: fc.constant(perks.map((fields, index) => storedPerk({ id: `p${index}`, ...fields }))),
      groups: fc.array(
        fc.uniqueArray(
          fc.tuple(fc.integer({ min: 0, max: perks.length - 1 }), fc.integer({ min: -3, max: 3 })),
          {
            selector: ([index]) => index,
          },
        ),
        { minLength: 1, maxLength: 4 },
      ),
    }),
  );
  const query = fc.record(
    {
      categories: fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 3 }),
      location_country: place(PLACES.country),
      location_region: place(PLACES.region),
      location_city: place(PLACES.city),
      show_coupon_perks: fc.boolean(),
    },
    { requiredKeys: [] },
  );

  /** The filter rules of the contract, as a plain reference implementation. */
  function isShown(
    candidate: StoredPerk,
    requested: typeof query extends fc.Arbitrary<infer T> ? T : never,
  ): boolean {
    const same = (a: string, b: string) =>
      a.normalize('NFC').toLowerCase() === b.normalize('NFC').toLowerCase();
    if (candidate.is_coupon_perk && requested.show_coupon_perks !== true) return false;
    if (requested.categories && !requested.categories.some((id) => candidate.categories.includes(id)))
      return false;
    if (candidate.locations.length === 0) return true;
    for (const where of candidate.locations) {
      const country =
        requested.location_country === undefined || same(requested.location_country, where.country);
      const region =
        requested.location_region === undefined ||
        where.region === undefined ||
        same(requested.location_region, where.region);
      const city =
        requested.location_city === undefined ||
        where.city === undefined ||
        same(requested.location_city, where.city);
      if (country && region && city) return true;
    }
    return false;
  }

  it('give the same result as a plain reference, in the flat list and in the groups', () => {
    fc.assert(
      fc.property(catalogue, query, ({ perks, groups }, requested) => {
        const collection = stored({
          perks,
          // Sorted, because the database returns them in order.
          groups: groups.map((placed, index) =>
            group(
              placed.map(([at, rank]): [string, number] => [`p${at}`, rank]).sort((a, b) => a[1] - b[1]),
              { id: `g${index}`, rank: index },
            ),
          ),
          categories: [1, 2, 3, 4].map((id) => ({ id, slug: `s${id}`, name: `n${id}`, translations: {} })),
        });
        const response = read(collection, {
          ...requested,
          categories: requested.categories?.map(String),
          show_coupon_perks:
            requested.show_coupon_perks === undefined ? undefined : String(requested.show_coupon_perks),
        });

        const visible = new Set(perks.filter((each) => isShown(each, requested)).map(({ id }) => id));
        // Every group keeps its place, with its visible perks and their ranks there.
        expect(response.groups.map(({ id }) => id)).toEqual(groups.map((_, index) => `g${index}`));
        for (const [index, { perks: inGroup }] of response.groups.entries())
          expect(inGroup.map(({ id, rank }) => [id, rank]).sort()).toEqual(
            groups[index]!.map(([at, rank]) => [`p${at}`, rank])
              .filter(([id]) => visible.has(id as string))
              .sort(),
          );
        // The flat list has each perk once, with its lowest rank.
        const lowest = new Map<string, number>();
        for (const [at, rank] of groups.flat())
          if (visible.has(`p${at}`)) lowest.set(`p${at}`, Math.min(rank, lowest.get(`p${at}`) ?? Infinity));
        const flat = response.perks.map(({ id, rank }): [string, number] => [id, rank]);
        expect(new Map(flat)).toEqual(lowest);
        expect(flat.length).toBe(lowest.size);
        const ascends = (list: PerkResponse[]) =>
          expect(list.map(({ rank }) => rank)).toEqual(list.map(({ rank }) => rank).sort((a, b) => a - b));
        for (const { perks: inGroup } of response.groups) ascends(inGroup);
        ascends(response.perks);
      }),
      { numRuns: 300 },
    );
  });
});
