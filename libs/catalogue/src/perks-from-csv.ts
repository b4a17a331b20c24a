import { parse } from 'csv-parse/sync';

import { placesOf } from './places.js';
import type { Problem } from './problem.js';
import { PERK_TEXTS, type InFile, type Perk } from './resources.js';
import { PERK_SHAPE, unknownMember } from './shapes.js';

/** The columns of the console's template. A file may also have translations, such as `translations.fr.title`. */
export const PERK_COLUMNS = [
  'id',
  ...PERK_TEXTS,
  'offer_url',
  'offer_slug',
  'coupon',
  'is_coupon_perk',
  'codes_per_account',
  'metadata',
  'partner.id',
  'partner.name',
  'categories',
  'media.banner',
  'media.logo',
  'locations',
];

/** The example in the console's template. A row with this title is no perk, so it may stay in the file. */
export const EXAMPLE_ROW: Readonly<Record<string, string>> = {
  title: 'Example: this row is ignored',
  offer_url: 'https://www.example.com/offer',
  is_coupon_perk: 'false',
  'partner.name': 'Example partner',
  categories: '1;2',
  locations: 'FR;DE/Berlin',
};

/** Rows of a CSV with their numbers in a spreadsheet, without empty rows. */
export function rowsOf(text: string, delimiter: string | string[] = ','): { row: number; cells: string[] }[] {
  const lines = parse(text, { bom: true, relax_column_count: true, trim: true, delimiter }) as string[][];
  return lines
    .map((cells, index) => ({ row: index + 1, cells }))
    .filter(({ cells }) => cells.some((cell) => cell !== ''));
}

/**
 * Reads perks from a CSV with one row each. Columns are named like the API's members; nested ones use dots:
 * `partner.id`, `media.logo`, `translations.fr.title`. `categories` is `1;2`, `locations` is `FR;DE/Berlin/Berlin`
 * (country/region/city). Empty cells are omitted. Adds a problem for each column or row that cannot be read. `labels` has
 * other names of columns, with their members.
 */
export function perksFromCsv(
  file: string,
  text: string,
  problems: Problem[],
  labels?: ReadonlyMap<string, string>,
): InFile<Perk>[] {
  let rows: ReturnType<typeof rowsOf>;
  try {
    rows = rowsOf(text);
  } catch (error) {
    problems.push({ file, message: `not valid CSV (${(error as Error).message})` });
    return [];
  }
  const [header, ...entries] = rows.filter(({ cells }) => !cells.includes(EXAMPLE_ROW.title!));
  if (!header) {
    problems.push({ file, message: 'has no header' });
    return [];
  }
  const columns = header.cells.map((cell) => labels?.get(cell) ?? cell);
  for (const [index, column] of columns.entries()) {
    const at = { file, row: header.row, column };
    if (unknownMember(PERK_SHAPE, column)) problems.push({ ...at, message: `unknown column "${column}"` });
    else if (columns.indexOf(column) < index)
      problems.push({ ...at, message: `the column "${column}" occurs twice` });
  }
  return entries.map(({ row, cells }) => {
    const perk: Record<string, unknown> = {
      ...Object.fromEntries(PERK_TEXTS.map((name) => [name, ''])),
      categories: [],
      media: {},
      locations: [],
      translations: {},
    };
    for (const [index, column] of columns.entries()) {
      const cell = cells[index] ?? '';
      if (cell !== '' && !unknownMember(PERK_SHAPE, column))
        set(perk, column.split('.'), valueOf(column, cell));
    }
    const entry = { ...perk, file, row } as unknown as InFile<Perk>;
    if (cells.length > columns.length)
      problems.push({
        file,
        row,
        entry,
        message: `has ${cells.length} cells, but the header has ${columns.length}; put cells with commas in quotes`,
      });
    return entry;
  });
}

/** Returns the value of a cell. An invalid number or boolean stays text, which `checkCatalogue` reports. */
function valueOf(column: string, cell: string): unknown {
  if (column === 'categories')
    return cell
      .split(';')
      .filter((id) => id.trim() !== '')
      .map(numberOr);
  if (column === 'codes_per_account') return numberOr(cell);
  if (column === 'is_coupon_perk') return { true: true, false: false }[cell.toLowerCase()] ?? cell;
  if (column === 'locations') return placesOf(cell, ';');
  return cell;
}

const numberOr = (text: string): number | string => (Number.isNaN(Number(text)) ? text.trim() : Number(text));

function set(target: Record<string, unknown>, [name, ...inside]: string[], value: unknown): void {
  if (name === undefined) return;
  // Own members only, so that a column such as `translations.__proto__.x` cannot reach a prototype.
  if (inside.length === 0 || !Object.hasOwn(target, name) || typeof target[name] !== 'object')
    Object.defineProperty(target, name, {
      value: inside.length === 0 ? value : {},
      enumerable: true,
      configurable: true,
      writable: true,
    });
  if (inside.length > 0) set(target[name] as Record<string, unknown>, inside, value);
}
