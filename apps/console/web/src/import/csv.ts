import { parse } from 'csv-parse/browser/esm/sync';

const PERK_TEXTS = ['title', 'description', 'callout', 'redemption_note', 'details'];

type Cells = Record<string, string>;
const rowsOf = (text: string): Cells[] =>
  parse(text, { columns: true, bom: true, skip_empty_lines: true, trim: true }) as unknown as Cells[];

/** Reads the column `id`, or else the first column. */
export const idsFromCsv = (text: string): string[] =>
  rowsOf(text)
    .map((row) => row.id ?? Object.values(row)[0] ?? '')
    .filter(Boolean);

/**
 * Reads perks from a table with one row each, in the format of `npm run apply`: columns are members of a perk, nested
 * ones with dots (`partner.id`); `categories` is `1;2`, `locations` is `FR;DE/Berlin/Berlin`; empty cells are omitted.
 */
export function perksFromCsv(text: string): Record<string, unknown>[] {
  return rowsOf(text).map((row) => {
    const perk: Record<string, unknown> = {
      ...Object.fromEntries(PERK_TEXTS.map((name) => [name, ''])),
      categories: [],
    };
    for (const [column, cell] of Object.entries(row))
      if (cell) set(perk, column.split('.'), valueOf(column, cell));
    return perk;
  });
}

export const placesOf = (text: string, between: string | RegExp) =>
  text
    .split(between)
    .map((place) => place.split('/').map((part) => part.trim()))
    .filter(([country]) => country)
    .map(([country, region, city]) => ({
      country: country!,
      ...(region && { region }),
      ...(city && { city }),
    }));

function valueOf(column: string, cell: string): unknown {
  if (column === 'categories') return cell.split(';').map(Number);
  if (column === 'codes_per_account') return Number(cell);
  if (column === 'is_coupon_perk') return cell.toLowerCase() === 'true';
  if (column === 'locations') return placesOf(cell, ';');
  return cell;
}

function set(target: Record<string, unknown>, [name, ...inside]: string[], value: unknown): void {
  if (name === undefined) return;
  // Own members only, so that a column such as `constructor.prototype.x` cannot reach a prototype.
  if (inside.length === 0 || !Object.hasOwn(target, name) || typeof target[name] !== 'object')
    Object.defineProperty(target, name, {
      value: inside.length === 0 ? value : {},
      enumerable: true,
      configurable: true,
      writable: true,
    });
  if (inside.length > 0) set(target[name] as Record<string, unknown>, inside, value);
}
