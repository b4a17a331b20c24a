import { parse as parseCsv } from 'csv-parse/sync';

import { PERK_TEXTS, type Perk } from './catalogue.js';

/**
 * Perks out of a table with one row each. Columns have the names of the API's members, those of members inside others
 * with dots: `partner.id`, `media.logo`, `translations.fr.title`. `categories` is `1;2`, `locations` is
 * `FR;DE/Berlin/Berlin` (country/region/city). An empty cell is left out.
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
  if (column === 'is_coupon_perk') return cell.toLowerCase() === 'true';
  if (column === 'locations')
    return cell.split(';').map((place) => {
      const [country, region, city] = place.split('/').map((part) => part.trim());
      return { country, ...(region && { region }), ...(city && { city }) };
    });
  return cell;
}

function set(target: Record<string, unknown>, [name, ...inside]: string[], value: unknown): void {
  if (name === undefined || name === '__proto__') return;
  if (inside.length === 0) target[name] = value;
  else set((target[name] ??= {}) as Record<string, unknown>, inside, value);
}
