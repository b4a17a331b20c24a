import { csvCell } from '@perkway/domain/csv-cell';
import { saveFile } from './http';

export type Cell = string | number | null;

/** Saves a table with its header as a CSV file. */
export function saveCsv<T extends Cell>(
  name: string,
  head: string[],
  rows: T[][],
  fieldOf: (cell: string | T) => string = csvCell,
): void {
  const lines = [head, ...rows].map((row) => `${row.map(fieldOf).join(',')}\r\n`);
  saveFile(name, new Blob(lines, { type: 'text/csv;charset=utf-8' }));
}
