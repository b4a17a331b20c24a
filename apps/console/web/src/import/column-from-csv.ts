import { rowsOf } from '@perkway/catalogue/perks-from-csv';

/** A value with the number of its row in a spreadsheet. */
export interface Cell {
  row: number;
  value: string;
}

export interface Column {
  cells: Cell[];
  hasHeader: boolean;
}

/** A file has several columns, but none with the header that was asked for. */
export class MissingColumnError extends Error {
  /** The first row. */
  readonly names: string[];

  constructor(
    header: string,
    private readonly rows: string[][],
  ) {
    super(`The file has several columns, but none with the header "${header}".`);
    this.names = rows[0] ?? [];
  }

  /** Returns the values of a column that are not empty, without its header. */
  valuesOf(column: number): string[] {
    return this.rows.slice(1).flatMap((cells) => cells[column] || []);
  }
}

/** Excel writes semicolons where the comma is the decimal separator. */
export const DELIMITERS = [',', ';', '\t'];

/** Returns the first line that is not empty, without a byte order mark. */
export const firstLineOf = (text: string): string =>
  text.replace(/^[\uFEFF\r\n]+/, '').split(/[\r\n]/, 1)[0] ?? '';

/** @throws Error if the text came from a file in another encoding */
export function requireUtf8(text: string): void {
  if (text.includes('\uFFFD')) throw new Error('The file is not in UTF-8. In Excel, save it as “CSV UTF-8”.');
}

/** Whether the delimiter makes columns: each row has the same number of cells, and more than one. */
const hasColumns = (text: string, delimiter: string) => {
  try {
    const widths = new Set(rowsOf(text, delimiter).map(({ cells }) => cells.length));
    return widths.size === 1 && !widths.has(1);
  } catch {
    // Quotes are misplaced with this delimiter, but may be right with another.
    return false;
  }
};

/**
 * Reads the column with this header. In a file of one column without it, every line is a value.
 * @throws MissingColumnError if there are several columns and none has that header
 * @throws Error if the file was not UTF-8
 */
export function cellsFromCsv(text: string, header: string): Column {
  requireUtf8(text);
  const indexIn = (names: string[]) =>
    names.findIndex((name) => name.replaceAll('"', '').trim().toLowerCase() === header);
  const first = firstLineOf(text);
  // With the header, only its delimiter separates cells, because cells may contain the others.
  const delimiter =
    DELIMITERS.find((each) => indexIn(first.split(each)) >= 0) ??
    DELIMITERS.find((each) => hasColumns(text, each));
  const rows = rowsOf(text, delimiter);
  const column = indexIn(rows[0]?.cells ?? []);
  if (column < 0 && rows.some(({ cells }) => cells.length > 1))
    throw new MissingColumnError(
      header,
      rows.map(({ cells }) => cells),
    );
  return {
    cells: rows
      .slice(column < 0 ? 0 : 1)
      .map(({ row, cells }) => ({ row, value: cells[Math.max(column, 0)] ?? '' })),
    hasHeader: column >= 0,
  };
}

/** Returns the values of the column that are not empty. @throws Error like `cellsFromCsv` */
export const columnFromCsv = (text: string, header: string): string[] =>
  cellsFromCsv(text, header).cells.flatMap(({ value }) => value || []);
