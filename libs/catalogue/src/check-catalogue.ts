import { isApiKey, isCallerId, isUuid } from '@perkway/domain/ids';
import { redirectTarget } from '@perkway/domain/redirect-target';

import type { Problem } from './problem.js';
import { readCards } from './read-cards.js';
import { PERK_TEXTS, type Card, type Catalogue, type InFile } from './resources.js';
import { misfits, SHAPES, type Shape } from './shapes.js';

/** A resource that the files refer to but do not define, so it must exist on its host. */
export interface OutsideReference {
  kind: 'account' | 'category' | 'perk';
  id: string;
  /** The problem to report if it does not exist. */
  problem: Problem;
}

const isMissing = (value: unknown): value is undefined | null => value === undefined || value === null;

interface Source {
  file: string;
  row?: number;
}

/** Finds problems in the files without asking the hosts. */
export function checkCatalogue(files: Catalogue): { problems: Problem[]; outside: OutsideReference[] } {
  const problems: Problem[] = [];
  const outside: OutsideReference[] = [];
  const problem = (entry: Source, column: string | undefined, message: string): Problem => ({
    file: entry.file,
    row: entry.row,
    column,
    entry,
    message,
  });
  const complain = (entry: Source, column: string | undefined, message: string): number =>
    problems.push(problem(entry, column, message));
  const unique = <T extends Source>(
    entries: T[],
    column: string,
    what: string,
    value: (entry: T) => unknown,
    shown = value,
  ): void => {
    const seen = new Map<unknown, Source>();
    for (const entry of entries) {
      const own = value(entry);
      // A missing value has its own problem.
      if (isMissing(own)) continue;
      const { file, row } = seen.get(own) ?? {};
      if (file === undefined) seen.set(own, entry);
      else
        complain(
          entry,
          column,
          `${what} "${shown(entry)}" is already used in ${file}${row === undefined ? '' : `, row ${row}`}`,
        );
    }
  };
  const legal = (entry: Source & { id: string }, what: string): void => {
    if (isMissing(entry.id)) complain(entry, 'id', `this ${what} has no id`);
    else if (!isCallerId(entry.id)) complain(entry, 'id', `${what} "${entry.id}" is not a valid id`);
  };

  // An entry that has another type where a list or map belongs cannot be checked further.
  const unreadable = new Set<object>();
  for (const [kind, shape] of Object.entries(SHAPES) as [keyof typeof SHAPES, Shape][])
    for (const entry of files[kind] as InFile<{ id: unknown }>[])
      for (const { at, expected } of misfits(entry, shape)) {
        if (expected) unreadable.add(entry);
        const what = isMissing(entry.id) ? `an entry of ${kind}` : `"${entry.id}" of ${kind}`;
        complain(
          entry,
          at,
          expected ? `${at} of ${what} must be ${expected}` : `${what} has the unknown member ${at}`,
        );
      }
  const readable = <T extends object>(entries: T[]): T[] => entries.filter((entry) => !unreadable.has(entry));
  const data: Catalogue = {
    accounts: readable(files.accounts),
    categories: readable(files.categories),
    perks: readable(files.perks),
    codes: files.codes,
    collections: readable(files.collections),
    campaigns: readable(files.campaigns),
    pools: readable(files.pools),
  };

  const accounts = new Set(files.accounts.map((account) => account.id));
  const categories = new Set(files.categories.map((category) => category.id));
  const perks = new Map(files.perks.map((perk) => [perk.id, perk]));
  const needs = (
    entry: Source,
    column: string,
    kind: OutsideReference['kind'],
    id: string | number,
    message: string,
    subject?: string,
  ): void => {
    if (isMissing(id))
      complain(entry, column, message.replace(/the unknown (\w+) "?(undefined|null)"?/, 'no $1'));
    else outside.push({ kind, id: String(id), problem: { ...problem(entry, column, message), subject } });
  };
  const knownOwner = (entry: Source & { owner: string }, what: string): void => {
    if (!accounts.has(entry.owner))
      needs(
        entry,
        'owner',
        'account',
        entry.owner,
        `${what} belongs to the unknown account "${entry.owner}"`,
      );
  };

  unique(data.accounts, 'id', 'account', (account) => account.id);
  const imported = data.accounts.filter(({ user_key }) => user_key !== undefined);
  const foldedKey = ({ user_key }: { user_key?: string }): string => String(user_key).toLowerCase();
  unique(imported, 'user_key', 'the user key of account', foldedKey, ({ id }) => id);
  unique(data.categories, 'id', 'category', (category) => category.id);
  unique(data.categories, 'slug', 'category slug', (category) => category.slug);
  unique(data.perks, 'id', 'perk', (perk) => perk.id);
  unique(data.collections, 'id', 'collection', (collection) => collection.id);
  unique(data.campaigns, 'id', 'campaign', (campaign) => campaign.id);
  unique(data.pools, 'id', 'pool', (pool) => pool.id);

  for (const account of data.accounts) {
    legal(account, 'account');
    if (account.user_key !== undefined && !isApiKey(account.user_key))
      complain(account, 'user_key', `the user key of account "${account.id}" has an invalid format`);
  }
  for (const category of data.categories) {
    if (!Number.isSafeInteger(category.id))
      complain(category, 'id', `category id "${category.id}" is not an integer`);
    for (const field of ['slug', 'name'] as const)
      if (typeof category[field] !== 'string' || category[field] === '')
        complain(category, field, `category "${category.id}" has no ${field}`);
  }

  for (const perk of data.perks) {
    const name = isMissing(perk.id) && !perk.title ? 'this perk' : `perk "${perk.id ?? perk.title}"`;
    const complain = (column: string, message: string): number =>
      problems.push({ ...problem(perk, column, message), subject: name });
    // In a CSV, missing ids are derived from the title and the partner's name, so only a missing title or name is reported.
    const [lacksTitle, lacksPartner] = [!perk.title, !perk.partner?.name].map(
      (lacks) => lacks && perk.row !== undefined,
    );
    if (!isMissing(perk.id)) legal(perk, 'perk');
    else if (!lacksTitle && !lacksPartner) complain('id', `${name} has no id`);
    for (const field of [...PERK_TEXTS, 'offer_slug', 'offer_url'] as const)
      if (typeof perk[field] !== 'string' && !(field === 'offer_slug' && lacksTitle))
        complain(field, `${name} has no ${field}`);
    if (perk.title === '') complain('title', `${name} has no title`);
    if (typeof perk.offer_url === 'string' && redirectTarget(perk.offer_url) === undefined)
      complain('offer_url', `${name} needs an absolute http(s) URL without user or password as offer_url`);
    for (const field of ['id', 'name'] as const)
      if (!perk.partner?.[field] && !(field === 'id' && lacksPartner))
        complain(`partner.${field}`, `${name} has no partner.${field}`);
    if (perk.is_coupon_perk != null && typeof perk.is_coupon_perk !== 'boolean')
      complain('is_coupon_perk', `is_coupon_perk of ${name} must be true or false`);
    if (perk.coupon && perk.is_coupon_perk)
      complain('coupon', `${name} has a coupon and is_coupon_perk; only one of them may be given`);
    if (perk.codes_per_account != null && !perk.is_coupon_perk)
      complain('codes_per_account', `${name} has codes_per_account but no single-use codes (is_coupon_perk)`);
    if (perk.codes_per_account != null && !Number.isSafeInteger(perk.codes_per_account))
      complain('codes_per_account', `codes_per_account of ${name} is not an integer`);
    for (const id of perk.categories ?? [])
      if (!categories.has(id))
        needs(perk, 'categories', 'category', id, `${name} names the unknown category ${id}`, name);
    if (!perk.categories) complain('categories', `${name} has no list of categories`);
    for (const location of perk.locations)
      if (!location.country) complain('locations', `${name} has a location without country`);
  }
  for (const [id, entry] of data.codes) {
    const perk = perks.get(id);
    if (!perk) needs(entry, 'perk', 'perk', id, `the perk "${id}" of these codes does not exist`);
    else if (!perk.is_coupon_perk)
      complain(entry, undefined, `perk "${id}" does not use single-use codes (is_coupon_perk)`);
    if (new Set(entry.codes).size < entry.codes.length) complain(entry, undefined, 'a code occurs twice');
  }

  for (const collection of data.collections) {
    legal(collection, 'collection');
    knownOwner(collection, `collection "${collection.id}"`);
    if (!collection.groups)
      complain(collection, 'groups', `collection "${collection.id}" has no list of groups`);
    for (const [index, group] of (collection.groups ?? []).entries()) {
      const at = `groups.${index}`;
      if (group.id !== undefined && !isUuid(group.id))
        complain(collection, `${at}.id`, `group id "${group.id}" is not a UUID`);
      if (!Number.isSafeInteger(group.rank))
        complain(collection, `${at}.rank`, `group "${group.name}" has no integer rank`);
      const listed = new Set<string>();
      if (!group.perks) complain(collection, `${at}.perks`, `group "${group.name}" has no list of perks`);
      for (const { id, rank } of group.perks ?? []) {
        if (!perks.has(id))
          needs(
            collection,
            `${at}.perks`,
            'perk',
            id,
            `group "${group.name}" lists the unknown perk "${id}"`,
          );
        if (listed.has(id))
          complain(collection, `${at}.perks`, `group "${group.name}" lists perk "${id}" twice`);
        if (!Number.isSafeInteger(rank))
          complain(collection, `${at}.perks`, `perk "${id}" has no integer rank in "${group.name}"`);
        listed.add(id);
      }
    }
  }
  for (const campaign of data.campaigns) {
    legal(campaign, 'campaign');
    const name = `campaign "${campaign.id}"`;
    knownOwner(campaign, name);
    if (!campaign.incentives) complain(campaign, 'incentives', `${name} has no list of incentives`);
    for (const id of campaign.incentives ?? [])
      if (!perks.has(id))
        needs(campaign, 'incentives', 'perk', id, `${name} offers the unknown perk "${id}"`);
  }

  const seen = new Map<string, string>();
  for (const pool of data.pools) {
    if (!isUuid(pool.id)) complain(pool, 'id', `pool id "${pool.id}" is not a UUID`);
    knownOwner(pool, `pool "${pool.id}"`);
    const file = `cards/${pool.cards}`;
    let cards: Card[] = [];
    try {
      cards = readCards(pool);
    } catch (error) {
      problems.push({ file, message: `cannot be read (${(error as Error).message})` });
    }
    for (const [index, card] of cards.entries()) {
      // Numbered as gift-cards numbers rejected rows.
      const row = { file, row: index + 1 };
      if (!card.code) complain(row, 'code', 'no code');
      if (seen.has(card.code)) complain(row, 'code', `repeats a code of ${seen.get(card.code)}`);
      if (!(card.denomination > 0)) complain(row, 'denomination', 'no denomination above 0');
      if (!/^[A-Z]{3}$/.test(card.currency)) complain(row, 'currency', 'no ISO 4217 currency');
      if (!/^[A-Z]{2}$/.test(card.country)) complain(row, 'country', 'no ISO 3166 country');
      seen.set(card.code, file);
    }
  }
  return { problems, outside };
}
