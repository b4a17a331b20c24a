import { rowsOf } from '@perkway/catalogue/perks-from-csv';

/**
 * Reads the column with this header. In a file of one column without it, every line is a value.
 * @throws Error if there are several columns and none has that header
 */
export function columnFromCsv(text: string, header: string): string[] {
  const rows = rowsOf(text);
  const column = rows[0]?.cells.findIndex((name) => name.trim().toLowerCase() === header) ?? -1;
  if (column < 0 && rows.some(({ cells }) => cells.length > 1))
    throw new Error(`The file has several columns, but none with the header "${header}".`);
  return (column < 0 ? rows : rows.slice(1))
    .map(({ cells }) => cells[Math.max(column, 0)] ?? '')
    .filter(Boolean);
}
