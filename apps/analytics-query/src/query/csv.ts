import type { DescribedQuery, RowWriter } from './answer.js';
import type { QueryType } from './normalize.js';
import { queryError } from './query-error.js';

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
/** What a spreadsheet runs as a formula when a cell begins with it. */
const FORMULA = /^[=+\-@\t\r]/;

/** One field of RFC 4180. A text that a spreadsheet would run gets an apostrophe, which makes it a text there too. */
export function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const given =
    typeof value === 'object' ? JSON.stringify(value) : String(value as string | number | boolean);
  const text = FORMULA.test(given) && !NUMBER.test(given) ? `'${given}` : given;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const line = (values: unknown[]): string => `${values.map(csvCell).join(',')}\r\n`;

/** One table for all rows: several queries have one only where they are one query over compared date ranges. */
export function checkCsv(queryType: QueryType): void {
  if (queryType === 'blendingQuery') throw queryError('A CSV has one table: ask for one query');
}

/** The header: members in the order of the query. */
export const csvHead = ({ compiled }: DescribedQuery, queryType: QueryType): string =>
  line([
    ...compiled.columns.map(({ key }) => key),
    ...(queryType === 'compareDateRangeQuery' ? ['compareDateRange'] : []),
  ]);

/** Rows as lines of a CSV, those of compared date ranges with their range at the end. */
export function csvWriter({ query }: DescribedQuery, queryType: QueryType): RowWriter {
  const range = query.timeDimensions.find(({ dateRange }) => dateRange)?.dateRange;
  const compared = queryType === 'compareDateRangeQuery' && range ? [range.join(' - ')] : [];
  return { row: (values) => line([...values, ...compared]), end: () => '' };
}
