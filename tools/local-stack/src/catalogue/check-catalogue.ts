import { isApiKey, isCallerId, isRecord, isUuid, redirectTarget } from '@perkway/domain';

import { PERK_TEXTS, type Catalogue, type InFile } from './catalogue.js';
import { readCards } from './read-catalogue.js';

/** The members that a resource may have: `true` for any value, an array for lists, `*` for any name. */
type Shape = true | readonly [Shape] | { readonly [member: string]: Shape };

const texts = (...names: string[]): Shape => ({ '*': Object.fromEntries(names.map((name) => [name, true])) });
const SHAPES = {
  accounts: {
    file: true,
    id: true,
    name: true,
    user_key: true,
    allowed_origins: true,
    brand: { name: true, color: true, logo: true, support_url: true },
    people: [{ email: true, role: true }],
  },
  categories: { file: true, id: true, slug: true, name: true, translations: texts('name') },
  perks: {
    file: true,
    id: true,
    ...Object.fromEntries(PERK_TEXTS.map((name) => [name, true as const])),
    offer_url: true,
    offer_slug: true,
    coupon: true,
    is_coupon_perk: true,
    codes_per_account: true,
    metadata: true,
    partner: { id: true, name: true },
    categories: true,
    media: { banner: true, logo: true },
    locations: [{ country: true, region: true, city: true }],
    translations: texts(...PERK_TEXTS),
  },
  collections: {
    file: true,
    id: true,
    owner: true,
    groups: [
      {
        id: true,
        name: true,
        rank: true,
        translations: texts('name'),
        perks: [{ id: true, rank: true }],
      },
    ],
  },
  campaigns: { file: true, id: true, owner: true, name: true, incentives: true },
  pools: {
    file: true,
    id: true,
    owner: true,
    cards: true,
    text: true,
    product: {
      name: true,
      instructions: true,
      redeem_url: true,
      terms_url: true,
      logo: true,
      color: true,
      code_format: true,
      translations: texts('name', 'instructions'),
    },
  },
} as const satisfies Partial<Record<keyof Catalogue, Shape>>;

/** Returns the paths of members that the shape does not allow. */
function unknownMembers(value: unknown, shape: Shape, path = ''): string[] {
  if (shape === true) return [];
  if (Array.isArray(shape))
    return Array.isArray(value)
      ? value.flatMap((item, index) => unknownMembers(item, shape[0] as Shape, `${path}.${index}`))
      : [];
  if (!isRecord(value)) return [];
  const members = shape as { readonly [member: string]: Shape };
  return Object.entries(value).flatMap(([name, inside]) => {
    const known = Object.hasOwn(members, name) ? members[name] : members['*'];
    const at = path ? `${path}.${name}` : name;
    return known === undefined ? [at] : unknownMembers(inside, known, at);
  });
}

/** A resource that the files refer to but do not define, so it must exist on its host. */
export interface OutsideReference {
  kind: 'account' | 'category' | 'perk';
  id: string;
  /** The problem to report if it does not exist. */
  problem: string;
}

/** Finds problems in the files without asking the hosts, one sentence each, beginning with the file. */
export function checkCatalogue(data: Catalogue): { problems: string[]; outside: OutsideReference[] } {
  const problems: string[] = [];
  const outside: OutsideReference[] = [];
  const complain = (entry: { file: string }, sentence: string): number =>
    problems.push(`${entry.file}: ${sentence}`);
  const unique = <T extends { file: string }>(
    entries: T[],
    what: string,
    value: (entry: T) => unknown,
  ): void => {
    const seen = new Map<unknown, string>();
    for (const entry of entries) {
      const own = value(entry);
      if (seen.has(own)) complain(entry, `${what} "${own}" is already used in ${seen.get(own)}`);
      else seen.set(own, entry.file);
    }
  };
  const legal = (entry: { file: string; id: string }, what: string): void => {
    if (!isCallerId(entry.id)) complain(entry, `${what} "${entry.id}" is not a valid id`);
  };

  const accounts = new Set(data.accounts.map((account) => account.id));
  const categories = new Set(data.categories.map((category) => category.id));
  const perks = new Map(data.perks.map((perk) => [perk.id, perk]));
  const needs = (
    entry: { file: string },
    kind: OutsideReference['kind'],
    id: string | number,
    sentence: string,
  ): void => {
    if (id === undefined || id === null)
      complain(entry, sentence.replace(/ "?(undefined|null)"?/, ' nothing'));
    else outside.push({ kind, id: String(id), problem: `${entry.file}: ${sentence}` });
  };
  const knownOwner = (entry: { file: string; owner: string }, what: string): void => {
    if (!accounts.has(entry.owner))
      needs(entry, 'account', entry.owner, `${what} belongs to the unknown account "${entry.owner}"`);
  };

  for (const [kind, entries] of Object.entries(SHAPES) as [keyof typeof SHAPES, Shape][])
    for (const entry of data[kind] as InFile<{ id: unknown }>[])
      for (const member of unknownMembers(entry, entries))
        complain(entry, `"${entry.id}" of ${kind} has the unknown member ${member}`);

  unique(data.accounts, 'account', (account) => account.id);
  const imported = data.accounts.filter(({ user_key }) => user_key !== undefined);
  unique(imported, 'the user key of account', (account) => String(account.user_key).toLowerCase());
  unique(data.categories, 'category', (category) => category.id);
  unique(data.categories, 'category slug', (category) => category.slug);
  unique(data.perks, 'perk', (perk) => perk.id);
  unique(data.collections, 'collection', (collection) => collection.id);
  unique(data.campaigns, 'campaign', (campaign) => campaign.id);
  unique(data.pools, 'pool', (pool) => pool.id);

  for (const account of data.accounts) {
    legal(account, 'account');
    if (account.user_key !== undefined && !isApiKey(account.user_key))
      complain(account, `the user key of account "${account.id}" has an invalid format`);
  }
  for (const category of data.categories)
    if (!Number.isSafeInteger(category.id))
      complain(category, `category id "${category.id}" is not an integer`);

  for (const perk of data.perks) {
    legal(perk, 'perk');
    for (const field of [...PERK_TEXTS, 'offer_slug', 'offer_url'] as const)
      if (typeof perk[field] !== 'string') complain(perk, `perk "${perk.id}" has no ${field}`);
    if (perk.title === '') complain(perk, `perk "${perk.id}" has no title`);
    if (typeof perk.offer_url === 'string' && redirectTarget(perk.offer_url) === undefined)
      complain(perk, `perk "${perk.id}" needs an absolute http(s) URL without user or password as offer_url`);
    if (!perk.partner?.id || !perk.partner.name)
      complain(perk, `perk "${perk.id}" has no partner with id and name`);
    if (perk.coupon && perk.is_coupon_perk)
      complain(perk, `perk "${perk.id}" has a coupon and is_coupon_perk; only one of them may be given`);
    if (perk.codes_per_account != null && !perk.is_coupon_perk)
      complain(perk, `perk "${perk.id}" has codes_per_account but no single-use codes (is_coupon_perk)`);
    if (!Array.isArray(perk.categories)) complain(perk, `perk "${perk.id}" has no list of categories`);
    else
      for (const id of perk.categories)
        if (!categories.has(id))
          needs(perk, 'category', id, `perk "${perk.id}" names the unknown category ${id}`);
    for (const location of perk.locations)
      if (!location.country) complain(perk, `perk "${perk.id}" has a location without country`);
  }
  for (const [id, entry] of data.codes) {
    const perk = perks.get(id);
    if (!perk) needs(entry, 'perk', id, `the perk "${id}" of these codes does not exist`);
    else if (!perk.is_coupon_perk)
      complain(entry, `perk "${id}" does not use single-use codes (is_coupon_perk)`);
    if (new Set(entry.codes).size < entry.codes.length) complain(entry, 'a code occurs twice');
  }

  for (const collection of data.collections) {
    legal(collection, 'collection');
    knownOwner(collection, `collection "${collection.id}"`);
    if (!Array.isArray(collection.groups))
      complain(collection, `collection "${collection.id}" has no list of groups`);
    for (const group of collection.groups ?? []) {
      if (group.id !== undefined && !isUuid(group.id))
        complain(collection, `group id "${group.id}" is not a UUID`);
      if (!Number.isSafeInteger(group.rank))
        complain(collection, `group "${group.name}" has no integer rank`);
      const listed = new Set<string>();
      if (!Array.isArray(group.perks)) complain(collection, `group "${group.name}" has no list of perks`);
      for (const { id, rank } of group.perks ?? []) {
        if (!perks.has(id))
          needs(collection, 'perk', id, `group "${group.name}" lists the unknown perk "${id}"`);
        if (listed.has(id)) complain(collection, `group "${group.name}" lists perk "${id}" twice`);
        if (!Number.isSafeInteger(rank))
          complain(collection, `perk "${id}" has no integer rank in "${group.name}"`);
        listed.add(id);
      }
    }
  }
  for (const campaign of data.campaigns) {
    legal(campaign, 'campaign');
    knownOwner(campaign, `campaign "${campaign.id}"`);
    if (!Array.isArray(campaign.incentives))
      complain(campaign, `campaign "${campaign.id}" has no list of incentives`);
    for (const id of campaign.incentives ?? [])
      if (!perks.has(id))
        needs(campaign, 'perk', id, `campaign "${campaign.id}" offers the unknown perk "${id}"`);
  }

  const cards = new Map<string, string>();
  for (const pool of data.pools) {
    if (!isUuid(pool.id)) complain(pool, `pool id "${pool.id}" is not a UUID`);
    knownOwner(pool, `pool "${pool.id}"`);
    for (const [index, card] of readCards(pool).entries()) {
      const row = { file: `cards/${pool.cards}` };
      if (!card.code) complain(row, `row ${index + 1} has no code`);
      if (cards.has(card.code)) complain(row, `row ${index + 1} repeats a code of ${cards.get(card.code)}`);
      if (!(card.denomination > 0)) complain(row, `row ${index + 1} has no denomination above 0`);
      if (!/^[A-Z]{3}$/.test(card.currency)) complain(row, `row ${index + 1} has no ISO 4217 currency`);
      if (!/^[A-Z]{2}$/.test(card.country)) complain(row, `row ${index + 1} has no ISO 3166 country`);
      cards.set(card.code, row.file);
    }
  }
  return { problems, outside };
}
