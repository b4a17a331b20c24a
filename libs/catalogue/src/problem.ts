/** Something wrong in a file. */
export interface Problem {
  file: string;
  /**
   * Row of a CSV as a spreadsheet numbers it (the header is row 1), number of a card in its file (the first is 1), or
   * line of a YAML file that cannot be parsed.
   */
  row?: number;
  /** Column of a CSV, or path of the member in a YAML file. */
  column?: string;
  /** The resource that has the problem. If missing, the whole file cannot be used. */
  entry?: object;
  /** How `message` names the resource, such as `perk "x"`. Problems that differ only in it have one cause. */
  subject?: string;
  message: string;
}

/** Returns the problem as one line: `perks/list.csv, row 3: perk "x" has no title`. */
export const problemLine = ({ file, row, message }: Problem): string =>
  `${file}${row === undefined ? '' : `, row ${row}`}: ${message}`;
