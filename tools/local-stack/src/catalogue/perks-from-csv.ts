import { parse as parseCsv } from 'csv-parse/sync';

import { PERK_TEXTS, type Perk } from './catalogue.js';

/**
 * Reads perks from a CSV with one row each. Columns are named like the API's members; nested ones use dots:
 * `partner.id`, `media.logo`, `translations.fr.title`. `categories` is `1;2`, `locations` is `FR;DE/Berlin/Berlin`
 * (country/region/city). Empty cells are omitted.
 */
export function perksFromCsv(text: string): Perk[] {
  const rows = parseCsv(text, { columns: true, bom: true, skip_empty_lines: true }) as Record<
    string,
    string
  >[];
  return rows.map((row) => {
    const perk: Record<string, unknown> = {
      ...Object.fromEntries(PERK_TEXTS.map((name) => [name, ''])),
      categories: [],
      media: {},
      locations: [],
      translations: {},
    };
    for (const [column, cell] of Object.entries(row))
      if (cell.trim() !== '') set(perk, column.trim().split('.'), valueOf(column.trim(), cell.trim()));
    return perk as unknown as Perk;
  });
}

function valueOf(column: string, cell: string): unknown {
  if (column === 'categories') return cell.split(';').map(Number);
  if (column === 'codes_per_account') return Number(cell);
  if (column === 'is_coupon_perk') return cell.toLowerCase() === 'true';
  if (column === 'locations')
    return cell.split(';').map((place) => {
      const [country, region, city] = place.split('/').map((part) => part.trim());
      return { country, ...(region && { region }), ...(city && { city }) };
    });
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
