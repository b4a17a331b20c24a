import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';

import { isRecord } from '@perkway/domain';
import { parse as parseCsv } from 'csv-parse/sync';
import { parse as parseYaml } from 'yaml';

import type {
  Account,
  Card,
  Catalogue,
  Category,
  Campaign,
  Collection,
  InFile,
  Perk,
  Pool,
} from './catalogue.js';
import { CatalogueError } from './catalogue-error.js';
import { perksFromCsv } from './perks-from-csv.js';

const PICTURES: Record<string, string> = {
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
};

/**
 * Reads a directory (see examples/demo/README.md for its layout) without checking references. Missing files and folders
 * count as empty.
 * @throws CatalogueError if a file cannot be read, or the whole directory is empty
 */
export function readCatalogue(directory: string): Catalogue {
  const bytes = (file: string): Buffer => {
    try {
      return readFileSync(join(directory, file));
    } catch (error) {
      throw new CatalogueError([`cannot read ${file}: ${(error as Error).message}`]);
    }
  };
  const text = (file: string): string => bytes(file).toString();
  const parsed = <T>(file: string, format: string, parse: (text: string) => T): T => {
    try {
      return parse(text(file));
    } catch (error) {
      if (error instanceof CatalogueError) throw error;
      throw new CatalogueError([
        `${file} is not valid ${format}: ${(error as Error).message.split('\n')[0]}`,
      ]);
    }
  };
  const yaml = (file: string): unknown => parsed(file, 'YAML', (given) => parseYaml(given) as unknown);
  const record = <T>(file: string): T => {
    const found = yaml(file);
    if (!isRecord(found)) throw new CatalogueError([`${file} must be a map`]);
    return found as T;
  };
  const listIn = <T extends object>(file: string, found: unknown): InFile<T>[] => {
    if (!Array.isArray(found) || !found.every(isRecord))
      throw new CatalogueError([`${file} must be a list of maps`]);
    return (found as T[]).map((entry) => ({ ...entry, file }));
  };
  const list = <T extends object>(file: string): InFile<T>[] =>
    existsSync(join(directory, file)) ? listIn(file, yaml(file)) : [];
  const files = (folder: string, ...suffixes: string[]): string[] =>
    existsSync(join(directory, folder))
      ? readdirSync(join(directory, folder))
          .filter((name) => suffixes.includes(extname(name)))
          .sort()
          .map((name) => `${folder}/${name}`)
      : [];
  const picture = (given: string): string => {
    const type = PICTURES[extname(given).toLowerCase()];
    return type && !given.startsWith('data:')
      ? `data:${type};base64,${bytes(given).toString('base64')}`
      : given;
  };
  const withPicture = <T extends { logo?: string } | undefined>(given: T): T =>
    given?.logo ? { ...given, logo: picture(given.logo) } : given;

  const catalogue: Catalogue = {
    accounts: list<Account>('accounts.yaml').map(({ brand, ...account }) => ({
      ...account,
      ...(brand && { brand: withPicture(brand) }),
    })),
    categories: list<Category>('categories.yaml'),
    perks: [
      ...files('perks', '.yaml').flatMap((file) => perksOfPartner(file, record(file), listIn)),
      ...files('perks', '.csv').flatMap((file) =>
        parsed(file, 'CSV', perksFromCsv).map((perk) => ({ ...perk, file })),
      ),
    ],
    codes: new Map(
      files('coupon-codes', '.txt').map((file) => [
        basename(file, '.txt'),
        { file, codes: text(file).split(/\r?\n/).filter(Boolean) },
      ]),
    ),
    collections: files('collections', '.yaml').map((file) => ({ ...record<Collection>(file), file })),
    campaigns: list<Campaign>('campaigns.yaml'),
    pools: list<Pool>('pools.yaml').map(({ product, ...pool }) => ({
      ...pool,
      ...(product && { product: withPicture(product) }),
      ...(pool.cards && { text: text(`cards/${pool.cards}`) }),
    })),
  };
  const { codes, ...lists } = catalogue;
  if (codes.size === 0 && Object.values(lists).every((entries) => entries.length === 0))
    throw new CatalogueError([`${directory} has nothing to apply`]);
  return catalogue;
}

interface PartnerFile {
  partner?: Perk['partner'];
  logo?: string;
  perks: unknown;
}

/** Adds the members that a partner's file states once for all its perks. */
function perksOfPartner(
  file: string,
  { partner, logo, perks }: PartnerFile,
  listIn: <T extends object>(file: string, found: unknown) => InFile<T>[],
): InFile<Perk>[] {
  return listIn<Perk & { banner?: string }>(file, perks).map(({ banner, ...perk }) => ({
    ...perk,
    partner: perk.partner ?? partner,
    media: perk.media ?? { ...(banner && { banner }), ...(logo && { logo }) },
    locations: perk.locations ?? [],
    translations: perk.translations ?? {},
  }));
}

export const isCsv = (pool: Pool): boolean => pool.cards?.endsWith('.csv') ?? false;

/** Parses a pool's card file the way gift-cards does. */
export function readCards(pool: Pool & { text?: string }): Card[] {
  const { text = '' } = pool;
  try {
    return isCsv(pool)
      ? parseCsv(text, {
          columns: true,
          bom: true,
          skip_empty_lines: true,
          cast: (value, { header, column }) => (!header && column === 'denomination' ? Number(value) : value),
        })
      : text
          .split('\n')
          .filter((line) => line.trim() !== '')
          .map((line) => JSON.parse(line) as Card);
  } catch (error) {
    throw new CatalogueError([`cannot read cards/${pool.cards}: ${(error as Error).message}`]);
  }
}
