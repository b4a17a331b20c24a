import { rowsOf } from '@perkway/catalogue/perks-from-csv';

/** A value with the number of its row in a spreadsheet. */
export interface Cell {
  row: number;
  value: string;
}

/**
 * Reads the column with this header. In a file of one column without it, every line is a value.
 * @throws Error if there are several columns and none has that header
 */
export function cellsFromCsv(text: string, header: string): Cell[] {
  const rows = rowsOf(text);
  const column = rows[0]?.cells.findIndex((name) => name.trim().toLowerCase() === header) ?? -1;
  if (column < 0 && rows.some(({ cells }) => cells.length > 1))
    throw new Error(`The file has several columns, but none with the header "${header}".`);
  return (column < 0 ? rows : rows.slice(1)).map(({ row, cells }) => ({
    row,
    value: cells[Math.max(column, 0)] ?? '',
  }));
}

/** Returns the values of the column that are not empty. @throws Error like `cellsFromCsv` */
export const columnFromCsv = (text: string, header: string): string[] =>
  cellsFromCsv(text, header).flatMap(({ value }) => value || []);
