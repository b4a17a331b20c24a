import { saveFile } from './http';

export type Cell = string | number | null;

/** Quotes a cell. One that a spreadsheet would take for a formula gets a leading apostrophe. */
function quote(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell);
  const text = /^[=+\-@\t\r\n＝＋－＠]/.test(cell) && Number.isNaN(Number(cell)) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Saves a table as CSV, with a header for readers. */
export function saveCsv(name: string, head: string[], rows: Cell[][]): void {
  const lines = [head, ...rows].map((row) => `${row.map(quote).join(',')}\r\n`);
  saveFile(name, new Blob(lines, { type: 'text/csv;charset=utf-8' }));
}
