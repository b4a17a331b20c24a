import { rowsOf } from '@perkway/catalogue/perks-from-csv';

/** Reads the column `id`, or else the first column. */
export function idsFromCsv(text: string): string[] {
  const [header, ...rows] = rowsOf(text);
  const column = Math.max(header?.cells.indexOf('id') ?? 0, 0);
  return rows.map(({ cells }) => cells[column] ?? '').filter(Boolean);
}
