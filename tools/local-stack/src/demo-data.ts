import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

import { isApiKey, isCallerId, isUuid } from '@perkway/domain';
import { parse as parseCsv } from 'csv-parse/sync';
import { parse as parseYaml } from 'yaml';

/** Texts of a perk that may differ by language; a missing one falls back to English, field by field. */
export const PERK_TEXTS = ['title', 'callout', 'description', 'redemption_note', 'details'] as const;
export type PerkText = (typeof PERK_TEXTS)[number];
type Named = Record<string, { name: string }>;

export interface DemoAccount {
  id: string;
  name: string;
  /** Published in the repository, so good for a demo and for nothing else. */
  user_key: string;
  allowed_origins: string[];
  /** `logo` names an SVG of the folder `logos` in the file, and is a data URL once it is read. */
  brand: { name: string; color: string; logo: string };
}
export interface DemoCategory {
  id: number;
  slug: string;
  name: string;
  translations: Named;
}
export interface DemoLocation {
  country: string;
  region?: string;
  city?: string;
}
export interface DemoPerk extends Record<PerkText, string> {
  id: string;
  offer_slug: string;
  offer_url: string;
  coupon?: string;
  is_coupon_perk?: boolean;
  metadata: string;
  partner: { id: string; name: string };
  categories: number[];
  media: { banner: string; logo: string };
  locations: DemoLocation[];
  translations: Record<string, Partial<Record<PerkText, string>>>;
}
export interface DemoGroup {
  id?: string;
  name: string;
  rank: number;
  translations?: Named;
  perks: { id: string; rank: number }[];
}
export interface DemoCollection {
  id: string;
  owner: string;
  groups: DemoGroup[];
}
export interface DemoCampaign {
  id: string;
  owner: string;
  name: string;
  incentives: string[];
}
export interface DemoCard {
  code: string;
  pin?: string;
  denomination: number;
  currency: string;
  country: string;
}
export interface DemoPool {
  id: string;
  owner: string;
  /** A file of the folder `cards`: CSV with a header, or NDJSON. */
  cards: string;
}

/** Something read from a file; `file` is relative to the directory and starts every complaint about it. */
export type InFile<T> = T & { file: string };

export interface DemoData {
  accounts: InFile<DemoAccount>[];
  categories: InFile<DemoCategory>[];
  perks: InFile<DemoPerk>[];
  /** Single-use codes by the id of their perk. */
  codes: Map<string, InFile<{ codes: string[] }>>;
  collections: InFile<DemoCollection>[];
  campaigns: InFile<DemoCampaign>[];
  pools: InFile<DemoPool & { text: string }>[];
}

/** What stops the import, in one sentence for the person who started it. Never holds a key. */
export class DemoDataError extends Error {
  override readonly name = 'DemoDataError';
}

/**
 * Reads the whole directory (its layout is in examples/demo/README.md) without checking what refers to what.
 * @throws DemoDataError for a file that is missing or is not YAML.
 */
export function readDemoData(directory: string): DemoData {
  const text = (file: string): string => {
    try {
      return readFileSync(join(directory, file), 'utf8');
    } catch (error) {
      throw new DemoDataError(`The demo data needs ${file}: ${(error as Error).message}`);
    }
  };
  const yaml = (file: string): unknown => {
    try {
      return parseYaml(text(file));
    } catch (error) {
      if (error instanceof DemoDataError) throw error;
      throw new DemoDataError(`${file} is not YAML: ${(error as Error).message.split('\n')[0]}`);
    }
  };
  const files = (folder: string, suffix: string): string[] => {
    try {
      return readdirSync(join(directory, folder))
        .filter((name) => name.endsWith(suffix))
        .sort()
        .map((name) => `${folder}/${name}`);
    } catch (error) {
      throw new DemoDataError(`The demo data needs the folder ${folder}: ${(error as Error).message}`);
    }
  };
  const list = <T extends object>(file: string): InFile<T>[] => {
    const found = yaml(file);
    if (!Array.isArray(found)) throw new DemoDataError(`${file} must be a list`);
    return found.map((entry: T) => ({ ...entry, file }));
  };

  const perks = files('perks', '.yaml').flatMap((file) => {
    const { partner, logo, perks } = yaml(file) as {
      partner: DemoPerk['partner'];
      logo: string;
      perks: (DemoPerk & { banner: string })[];
    };
    return perks.map(({ banner, ...perk }) => ({
      ...perk,
      partner,
      media: { banner, logo },
      locations: perk.locations ?? [],
      translations: perk.translations ?? {},
      file,
    }));
  });
  const codes = new Map(
    files('coupon-codes', '.txt').map((file) => [
      basename(file, '.txt'),
      { file, codes: text(file).split('\n').filter(Boolean) },
    ]),
  );

  return {
    accounts: list<DemoAccount>('accounts.yaml').map((account) => ({
      ...account,
      brand: account.brand && { ...account.brand, logo: svgUrl(text(account.brand.logo)) },
    })),
    categories: list('categories.yaml'),
    perks,
    codes,
    collections: files('collections', '.yaml').map((file) => ({ ...(yaml(file) as DemoCollection), file })),
    campaigns: list('campaigns.yaml'),
    pools: list<DemoPool>('pools.yaml').map((pool) => ({ ...pool, text: text(`cards/${pool.cards}`) })),
  };
}

const svgUrl = (svg: string): string => `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`;

/** The cards of a pool's file, values as the gift-card host would read them. */
export const readCards = (pool: DemoPool & { text: string }): DemoCard[] =>
  isCsv(pool)
    ? parseCsv(pool.text, {
        columns: true,
        cast: (value, { header, column }) => (!header && column === 'denomination' ? Number(value) : value),
      })
    : pool.text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as DemoCard);

export const isCsv = (pool: DemoPool): boolean => pool.cards.endsWith('.csv');

/** Everything wrong with the data, each in one sentence that begins with the file. Empty when it can be applied. */
export function findProblems(data: DemoData): string[] {
  const problems: string[] = [];
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
      if (seen.has(own)) complain(entry, `${what} "${own}" is taken already in ${seen.get(own)}`);
      else seen.set(own, entry.file);
    }
  };
  const legal = (entry: { file: string; id: string }, what: string): void => {
    if (!isCallerId(entry.id)) complain(entry, `${what} "${entry.id}" is no legal id`);
  };

  const accounts = new Set(data.accounts.map((account) => account.id));
  const categories = new Set(data.categories.map((category) => category.id));
  const perks = new Map(data.perks.map((perk) => [perk.id, perk]));
  const knownOwner = (entry: { file: string; owner: string }, what: string): void => {
    if (!accounts.has(entry.owner))
      complain(entry, `${what} belongs to the unknown account "${entry.owner}"`);
  };

  unique(data.accounts, 'account', (account) => account.id);
  unique(data.accounts, 'the user key of account', (account) => account.user_key?.toLowerCase());
  unique(data.categories, 'category', (category) => category.id);
  unique(data.categories, 'category slug', (category) => category.slug);
  unique(data.perks, 'perk', (perk) => perk.id);
  unique(data.perks, 'offer_slug', (perk) => perk.offer_slug);
  unique(data.collections, 'collection', (collection) => collection.id);
  unique(data.campaigns, 'campaign', (campaign) => campaign.id);
  unique(data.pools, 'pool', (pool) => pool.id);

  for (const account of data.accounts) {
    legal(account, 'account');
    if (!isApiKey(account.user_key))
      complain(account, `the user key of account "${account.id}" has no legal form`);
  }
  for (const category of data.categories)
    if (!Number.isSafeInteger(category.id)) complain(category, `category id "${category.id}" is no integer`);

  for (const perk of data.perks) {
    legal(perk, 'perk');
    for (const field of [...PERK_TEXTS, 'offer_slug', 'offer_url', 'metadata'] as const)
      if (typeof perk[field] !== 'string' || perk[field] === '')
        complain(perk, `perk "${perk.id}" has no ${field}`);
    if (!URL.canParse(perk.offer_url)) complain(perk, `the offer_url of perk "${perk.id}" is no URL`);
    if (!perk.partner?.id || !perk.partner.name)
      complain(perk, `perk "${perk.id}" has no partner with id and name`);
    if (perk.coupon && perk.is_coupon_perk)
      complain(perk, `perk "${perk.id}" has a coupon and is_coupon_perk; only one of them may be given`);
    if (perk.is_coupon_perk && !data.codes.has(perk.id))
      complain(perk, `perk "${perk.id}" needs its codes in coupon-codes/${perk.id}.txt`);
    for (const id of perk.categories ?? [])
      if (!categories.has(id))
        complain(perk, `perk "${perk.id}" names category ${id}, which categories.yaml does not have`);
    for (const location of perk.locations)
      if (!location.country || (location.city && !location.region))
        complain(perk, `perk "${perk.id}" has a location without country, or a city without region`);
    for (const [language, texts] of Object.entries(perk.translations))
      for (const field of Object.keys(texts))
        if (!PERK_TEXTS.includes(field as PerkText))
          complain(
            perk,
            `perk "${perk.id}" translates ${field} to ${language}, which is no translatable field`,
          );
  }
  for (const [id, entry] of data.codes) {
    if (!perks.get(id)?.is_coupon_perk)
      complain(entry, `there is no single-use perk "${id}" for these codes`);
    if (new Set(entry.codes).size < entry.codes.length) complain(entry, 'a code occurs twice');
  }

  for (const collection of data.collections) {
    legal(collection, 'collection');
    knownOwner(collection, `collection "${collection.id}"`);
    for (const group of collection.groups) {
      if (group.id !== undefined && !isUuid(group.id))
        complain(collection, `group id "${group.id}" is no UUID`);
      if (!Number.isSafeInteger(group.rank))
        complain(collection, `group "${group.name}" has no integer rank`);
      const listed = new Set<string>();
      for (const { id, rank } of group.perks) {
        if (!perks.has(id)) complain(collection, `group "${group.name}" lists the unknown perk "${id}"`);
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
    for (const id of campaign.incentives)
      if (!perks.has(id)) complain(campaign, `campaign "${campaign.id}" offers the unknown perk "${id}"`);
  }

  const cards = new Map<string, string>();
  for (const pool of data.pools) {
    if (!isUuid(pool.id)) complain(pool, `pool id "${pool.id}" is no UUID`);
    knownOwner(pool, `pool "${pool.id}"`);
    for (const [index, card] of readCards(pool).entries()) {
      const row = { file: `cards/${pool.cards}` };
      if (!card.code) complain(row, `row ${index + 1} has no code`);
      if (cards.has(card.code))
        complain(row, `row ${index + 1} has a code that ${cards.get(card.code)} has too`);
      if (!(card.denomination > 0)) complain(row, `row ${index + 1} has no denomination above 0`);
      if (!/^[A-Z]{3}$/.test(card.currency)) complain(row, `row ${index + 1} has no ISO 4217 currency`);
      if (!/^[A-Z]{2}$/.test(card.country)) complain(row, `row ${index + 1} has no ISO 3166 country`);
      cards.set(card.code, row.file);
    }
  }
  return problems;
}
