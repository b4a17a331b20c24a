import { csvCell } from '@perkway/domain';
import type { DescribedQuery, RowWriter } from './response.js';
import type { QueryType } from './normalize.js';
import { queryError } from './query-error.js';

const line = (values: unknown[]): string => `${values.map(csvCell).join(',')}\r\n`;

/** Rejects blended queries, because their results do not fit into one table; compared date ranges do. */
export function checkCsv(queryType: QueryType): void {
  if (queryType === 'blendingQuery') throw queryError('A CSV has one table: send one query');
}

/** Returns the header line: the members in the order of the query. */
export const csvHead = ({ compiled }: DescribedQuery, queryType: QueryType): string =>
  line([
    ...compiled.columns.map(({ key }) => key),
    ...(queryType === 'compareDateRangeQuery' ? ['compareDateRange'] : []),
  ]);

/** Writes rows as CSV lines; rows of compared date ranges end with their range. */
export function csvWriter({ query }: DescribedQuery, queryType: QueryType): RowWriter {
  const range = query.timeDimensions.find(({ dateRange }) => dateRange)?.dateRange;
  const compared = queryType === 'compareDateRangeQuery' && range ? [range.join(' - ')] : [];
  return { row: (values) => line([...values, ...compared]), end: () => [] };
}
