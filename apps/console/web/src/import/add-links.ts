import { rowsOf } from '@perkway/catalogue/perks-from-csv';
import { withoutFormula } from '@perkway/domain/csv-cell';
import { DELIMITERS, firstLineOf, requireUtf8 } from './column-from-csv';

/** States of links that show a card. */
const WORKING = ['waiting', 'opened'];

/**
 * Adds the column `link` to a CSV file. The links are those of a job that still work, and the column with the most of
 * the job's references says which row gets which link.
 * @param ofJob the CSV file of the job's links
 * @throws Error if the file is not in UTF-8, has no header, has a column `link` already, or none of the references
 */
export function addLinks(file: string, ofJob: string) {
  const linkOf = new Map(
    rowsOf(ofJob)
      .map(({ cells: [reference = '', link = '', , state = ''] }) => ({ reference, link, state }))
      .filter(({ reference, state }) => reference !== '' && WORKING.includes(state))
      .map(({ reference, link }) => [reference, link]),
  );
  requireUtf8(file);
  const first = firstLineOf(file).replaceAll(/"[^"]*"/g, '');
  const parts = (delimiter: string) => first.split(delimiter).length;
  const delimiter = DELIMITERS.toSorted((one, other) => parts(other) - parts(one))[0];
  const [head = [], ...rows] = rowsOf(file, delimiter).map(({ cells }) => cells);
  if (head.some((name) => name.toLowerCase() === 'link'))
    throw new Error('The file already has a column “link”. Rename or remove it first.');
  const width = rows.reduce((most, { length }) => Math.max(most, length), head.length);
  // The references in the job's file have an apostrophe where a spreadsheet would evaluate them.
  const linkAt = (row: string[], column: number) => linkOf.get(withoutFormula(row[column] ?? ''));
  const matches = Array.from(
    { length: width },
    (_, column) => rows.filter((row) => linkAt(row, column)).length,
  );
  const matched = Math.max(0, ...matches);
  if (matched === 0)
    throw new Error('No column of the file has references of this job whose links still work.');
  const column = matches.indexOf(matched);
  if (linkAt(head, column))
    throw new Error('The file has no header. Add a row with the names of the columns.');
  const padded = (row: string[], link: string) => [
    ...row,
    ...Array<string>(width - row.length).fill(''),
    link,
  ];
  return {
    head: padded(head, 'link'),
    rows: rows.map((row) => padded(row, linkAt(row, column) ?? '')),
    matched,
    column: head[column] ?? '',
  };
}
