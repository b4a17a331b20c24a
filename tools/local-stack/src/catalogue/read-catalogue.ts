import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';

import {
  completePerks,
  entriesOf,
  entryOf,
  parseYaml,
  perksFromCsv,
  perksOf,
  problemLine,
  type Account,
  type Campaign,
  type Catalogue,
  type Category,
  type Collection,
  type InFile,
  type Pool,
  type Problem,
} from '@perkway/catalogue';

import { CatalogueError } from './catalogue-error.js';

const PICTURES: Record<string, string> = {
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
};

/**
 * Reads a directory (see examples/demo/README.md for its layout) without checking references. Missing files and folders
 * of the layout count as empty, but pictures and card files that an entry names must exist.
 * @throws CatalogueError if a file cannot be read or parsed, or the directory has nothing to apply
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
  const problems: Problem[] = [];
  const yaml = (file: string): unknown => parseYaml(file, text(file), problems);
  const list = <T extends object>(file: string): InFile<T>[] =>
    existsSync(join(directory, file)) ? entriesOf(file, yaml(file), problems) : [];
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
      ...files('perks', '.yaml').flatMap((file) => perksOf(file, yaml(file), problems)),
      ...files('perks', '.csv').flatMap((file) => perksFromCsv(file, text(file), problems)),
    ],
    codes: new Map(
      files('coupon-codes', '.txt').map((file) => [
        basename(file, '.txt'),
        { file, codes: text(file).split(/\r?\n/).filter(Boolean) },
      ]),
    ),
    collections: files('collections', '.yaml').flatMap((file) =>
      entryOf<Collection>(file, yaml(file), problems),
    ),
    campaigns: list<Campaign>('campaigns.yaml'),
    pools: list<Pool>('pools.yaml').map(({ product, ...pool }) => ({
      ...pool,
      ...(product && { product: withPicture(product) }),
      ...(pool.cards && { text: text(`cards/${pool.cards}`) }),
    })),
  };
  completePerks(catalogue.perks, { categories: catalogue.categories, partners: [] });
  const [first, ...others] = problems.map(problemLine);
  if (first !== undefined) throw new CatalogueError([first, ...others]);
  const { codes, ...lists } = catalogue;
  if (codes.size === 0 && Object.values(lists).every((entries) => entries.length === 0))
    throw new CatalogueError([`${directory} has nothing to apply`]);
  return catalogue;
}
