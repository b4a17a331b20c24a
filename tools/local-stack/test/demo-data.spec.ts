import { join } from 'node:path';

import { isCallerId, isUuid } from '@perkway/domain';

import {
  checkCatalogue,
  PERK_TEXTS,
  problemLine,
  readCards,
  type Catalogue,
  type Perk,
} from '@perkway/catalogue';

import { readCatalogue } from '../src/catalogue/read-catalogue.js';

const directory = join(__dirname, '../../../examples/demo');
const distinct = <T>(values: T[]): Set<T> => new Set(values);
const typeOf = (perk: Perk): string =>
  perk.is_coupon_perk ? 'single-use code' : perk.coupon ? 'static coupon' : 'automatic';

describe('the demo catalogue', () => {
  const data = readCatalogue(directory);

  it('has no problems: references resolve, ids are valid and unique, and each perk has one type', () => {
    expect(checkCatalogue(data)).toEqual({ problems: [], outside: [] });
  });

  it('is large enough to try everything', () => {
    expect(data.accounts).toHaveLength(3);
    expect(data.categories).toHaveLength(8);
    expect(data.perks.length).toBeGreaterThanOrEqual(60);
    expect(distinct(data.perks.map((perk) => perk.partner.id)).size).toBe(20);
    expect(distinct(data.perks.map((perk) => perk.partner.name)).size).toBe(20);
    expect(distinct(data.perks.flatMap((perk) => perk.categories)).size).toBe(8);
    expect(distinct(data.perks.flatMap((perk) => perk.locations.map((place) => place.country)))).toEqual(
      distinct(['GB', 'FR', 'DE', 'CH', 'US']),
    );
  });

  it('has perks of every type, with countries, regions and cities', () => {
    const types = data.perks.map(typeOf);
    for (const type of ['automatic', 'static coupon', 'single-use code'])
      expect(types.filter((each) => each === type).length).toBeGreaterThanOrEqual(10);

    const places = data.perks.flatMap((perk) => perk.locations);
    expect(places.some((place) => place.city)).toBe(true);
    expect(places.some((place) => place.region && !place.city)).toBe(true);
    expect(places.some((place) => !place.region)).toBe(true);
    expect(data.perks.some((perk) => perk.locations.length === 0)).toBe(true);
  });

  it.each(['fr', 'de'])(
    'is translated to %s nearly everywhere, with gaps that show the fallback',
    (language) => {
      const complete = data.perks.filter((perk) =>
        PERK_TEXTS.every((field) => perk.translations[language]?.[field]),
      );
      const partial = data.perks.filter(
        (perk) =>
          perk.translations[language] && PERK_TEXTS.some((field) => !perk.translations[language]?.[field]),
      );
      const absent = data.perks.filter((perk) => !perk.translations[language]);
      expect(complete.length).toBeGreaterThanOrEqual(50);
      expect(partial.length).toBeGreaterThanOrEqual(3);
      expect(absent.length).toBeGreaterThanOrEqual(1);
      for (const category of data.categories) expect(category.translations![language]?.name).toBeTruthy();
    },
  );

  it('has its own texts for every perk', () => {
    for (const field of ['title', 'callout', 'description', 'details'] as const)
      expect(distinct(data.perks.map((perk) => perk[field])).size).toBe(data.perks.length);
    for (const perk of data.perks) {
      expect(perk.description.length).toBeGreaterThan(80);
      expect(perk.details.length).toBeGreaterThan(80);
    }
  });

  it('tells customers how to redeem each type of perk', () => {
    for (const perk of data.perks) {
      const note = perk.redemption_note.toLowerCase();
      const words = { automatic: /automatic|no code|nothing to enter|include/, 'static coupon': /code/ }[
        typeOf(perk)
      ];
      expect(note).toMatch(words ?? /request your own code/);
    }
    expect(
      data.perks.filter((perk) => typeOf(perk) === 'automatic' && /\bthe code\b/i.test(perk.description)),
    ).toEqual([]);
  });

  it('tells recipients where to spend each card, its terms, and where to get help', () => {
    for (const { brand } of data.accounts) expect(brand?.support_url).toMatch(/^https:\/\/[\w.-]+\.example/);
    const url = expect.stringMatching(/^https:\/\/[\w.-]+\.example\//);
    for (const { product } of data.pools)
      expect(product).toMatchObject({
        instructions: expect.stringMatching(/./),
        redeem_url: url,
        terms_url: url,
      });
  });

  it('leads to example domains only', () => {
    const urls = data.perks.flatMap((perk) => [perk.offer_url, perk.media.banner!, perk.media.logo!]);
    for (const url of [...urls, ...data.accounts.flatMap((account) => account.allowed_origins!)]) {
      expect(new URL(url).protocol).toBe('https:');
      expect(new URL(url).hostname).toMatch(/\.example$/);
    }
  });

  it('has a large collection, a perk with two ranks and a group without id', () => {
    for (const account of data.accounts)
      expect(data.collections.filter((collection) => collection.owner === account.id)).not.toEqual([]);
    const listed = data.collections.map((collection) =>
      distinct(collection.groups.flatMap((group) => group.perks.map((perk) => perk.id))),
    );
    expect(Math.max(...listed.map((perks) => perks.size))).toBeGreaterThanOrEqual(60);

    // Even without single-use perks, which a read leaves out unless asked, one collection has 50 and more.
    const automaticOrStatic = (id: string): boolean =>
      !data.perks.find((perk) => perk.id === id)?.is_coupon_perk;
    expect(
      Math.max(...listed.map((perks) => [...perks].filter(automaticOrStatic).length)),
    ).toBeGreaterThanOrEqual(50);

    const rewards = data.collections.find((collection) => collection.id === 'ostervale-rewards')!;
    const ranks = rewards.groups.flatMap((group) =>
      group.perks.filter((perk) => perk.id === 'fernway-weekend'),
    );
    expect(ranks.map((perk) => perk.rank)).toEqual([1, 4]);
    expect(
      data.collections.some((collection) => collection.groups.some((group) => group.id === undefined)),
    ).toBe(true);
  });

  it('has campaigns of several accounts', () => {
    expect(distinct(data.campaigns.map((campaign) => campaign.owner)).size).toBeGreaterThanOrEqual(2);
    for (const campaign of data.campaigns) expect(campaign.incentives.length).toBeGreaterThanOrEqual(3);
  });

  it('has pools of obviously fictional cards in several denominations, currencies and countries', () => {
    const cards = data.pools.flatMap(readCards);
    expect(cards.length).toBeGreaterThan(1000);
    for (const { code, denomination } of cards) {
      expect(code).toMatch(/^DEMO-[A-Z0-9_-]+$/);
      expect(Number.isFinite(denomination)).toBe(true);
    }
    expect(distinct(cards.map((card) => card.code)).size).toBe(cards.length);
    expect(distinct(cards.map((card) => card.denomination)).size).toBeGreaterThanOrEqual(5);
    expect(distinct(cards.map((card) => card.currency)).size).toBeGreaterThanOrEqual(4);
    expect(distinct(cards.map((card) => card.country)).size).toBeGreaterThanOrEqual(5);
    expect(cards.some((card) => card.pin)).toBe(true);
    expect(cards.some((card) => !card.pin)).toBe(true);
    for (const pool of data.pools) expect(isUuid(pool.id)).toBe(true);
  });

  it('has enough single-use codes for many customers', () => {
    for (const perk of data.perks.filter((each) => each.is_coupon_perk))
      expect(data.codes.get(perk.id)?.codes.length).toBeGreaterThanOrEqual(60);
  });

  it('has only ids that the apps accept', () => {
    for (const { id } of [...data.accounts, ...data.perks, ...data.collections, ...data.campaigns])
      expect(isCallerId(id)).toBe(true);
  });
});

describe('checkCatalogue', () => {
  const broken = (change: (data: Catalogue) => void): string[] => {
    const data = readCatalogue(directory);
    change(data);
    const { problems, outside } = checkCatalogue(data);
    return [...problems, ...outside.map(({ problem }) => problem)].map(problemLine);
  };

  it.each<[string, (data: Catalogue) => void, string]>([
    [
      'an unknown category',
      (data) => data.perks[0]!.categories.push(99),
      'perks/carrovia.yaml: perk "carrovia-weekend" names the unknown category 99',
    ],
    [
      'a perk of two types',
      (data) => (data.perks.find((perk) => perk.coupon)!.is_coupon_perk = true),
      'perks/carrovia.yaml: perk "carrovia-electric" has a coupon and is_coupon_perk; only one of them may be given',
    ],
    [
      'an unknown perk in a group',
      (data) => data.collections[0]!.groups[0]!.perks.push({ id: 'nobody', rank: 1 }),
      'collections/ostervale-rewards.yaml: group "Picked for you" lists the unknown perk "nobody"',
    ],
    [
      'an unknown incentive',
      (data) => data.campaigns[0]!.incentives.push('nobody'),
      'campaigns.yaml: campaign "ostervale-spring-travel" offers the unknown perk "nobody"',
    ],
    [
      'an unknown owner',
      (data) => (data.collections[0]!.owner = 'nobody'),
      'collections/ostervale-rewards.yaml: collection "ostervale-rewards" belongs to the unknown account "nobody"',
    ],
    [
      'a missing owner',
      (data) => (data.collections[0]!.owner = undefined as never),
      'collections/ostervale-rewards.yaml: collection "ostervale-rewards" belongs to no account',
    ],
    [
      'an empty incentive',
      (data) => data.campaigns[0]!.incentives.push(null as never),
      'campaigns.yaml: campaign "ostervale-spring-travel" offers no perk',
    ],
    [
      'a user key used twice, without printing it',
      (data) => (data.accounts[1]!.user_key = data.accounts[0]!.user_key!.toUpperCase()),
      'accounts.yaml: the user key of account "workgrove" is already used in accounts.yaml',
    ],
    [
      'a slug used twice',
      (data) => (data.categories[1]!.slug = data.categories[0]!.slug),
      'categories.yaml: category slug "travel" is already used in categories.yaml',
    ],
    [
      'a missing text',
      (data) => (data.perks[0]!.details = undefined as never),
      'perks/carrovia.yaml: perk "carrovia-weekend" has no details',
    ],
    [
      'a card in two pools',
      (data) => (data.pools[1]!.text = data.pools[0]!.text),
      'cards/ostervale-thank-you.csv, row 1: repeats a code of cards/ostervale-welcome.csv',
    ],
  ])('finds %s', (_, change, sentence) => {
    expect(broken(change)).toContain(sentence);
  });
});
