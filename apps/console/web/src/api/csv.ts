import { csvCell } from '@perkway/domain/csv-cell';
import { saveFile } from './http';

export type Cell = string | number | null;

/** Saves a table with its header as a CSV file. */
export function saveCsv(name: string, head: string[], rows: Cell[][]): void {
  const lines = [head, ...rows].map((row) => `${row.map(csvCell).join(',')}\r\n`);
  saveFile(name, new Blob(lines, { type: 'text/csv;charset=utf-8' }));
}
