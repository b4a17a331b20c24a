import { rowsOf } from '@perkway/catalogue/perks-from-csv';

/** Reads the column `id`, or else the first column. */
export function idsFromCsv(text: string): string[] {
  const [header, ...rows] = rowsOf(text);
  const column = Math.max(header?.cells.indexOf('id') ?? 0, 0);
  return rows.map(({ cells }) => cells[column] ?? '').filter(Boolean);
}

/** Reads the column `code`. In a file without one, every line begins with a code. */
export function codesFromCsv(text: string): string[] {
  const rows = rowsOf(text);
  const column = rows[0]?.cells.indexOf('code') ?? -1;
  return (column < 0 ? rows : rows.slice(1))
    .map(({ cells }) => cells[Math.max(column, 0)] ?? '')
    .filter(Boolean);
}
