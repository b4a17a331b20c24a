import { isTimeMember } from '../model/model.js';
import type { Filter, Query } from './query.js';
import { queryError } from './query-error.js';

/** Limits on all queries of one request in total, because parsing and compiling them blocks the event loop. */
const MAX_MEMBERS = 2_000;
const MAX_VALUES = 20_000;
const MAX_CHARACTERS = 500_000;
/** Parsing one date takes up to 0.4 ms. */
const MAX_DATES = 200;

/** Operators that use the whole range of a relative date such as "last week". */
export const DATE_RANGE_OPERATORS: ReadonlySet<string> = new Set([
  'inDateRange',
  'notInDateRange',
  'onTheDate',
]);
/** Operators that use the start of a relative date. */
export const FROM_START_OPERATORS: ReadonlySet<string> = new Set(['beforeDate', 'afterOrOnDate']);
/** Operators that use the end of a relative date. */
export const FROM_END_OPERATORS: ReadonlySet<string> = new Set(['beforeOrOnDate', 'afterDate']);
const readsDates = (operator: string): boolean =>
  DATE_RANGE_OPERATORS.has(operator) ||
  FROM_START_OPERATORS.has(operator) ||
  FROM_END_OPERATORS.has(operator);

interface Size {
  members: number;
  values: number;
  characters: number;
  dates: number;
}

/**
 * Rejects a request whose queries exceed the limits in total, before they are processed.
 * @param queries checked by `checkForm`; a query with `compareDateRange` counts once per range
 */
export function checkSize(queries: readonly Query[]): void {
  const size: Size = { members: 0, values: 0, characters: 0, dates: 0 };
  for (const query of queries) addQuery(size, query);
  if (size.members > MAX_MEMBERS)
    throw queryError(`The queries of one request may reference at most ${MAX_MEMBERS} members in total`);
  if (size.values > MAX_VALUES)
    throw queryError(`The filters of one request may have at most ${MAX_VALUES} values in total`);
  if (size.characters > MAX_CHARACTERS)
    throw queryError(
      `The filter values of one request may have at most ${MAX_CHARACTERS} characters in total`,
    );
  if (size.dates > MAX_DATES)
    throw queryError(`The queries of one request may have at most ${MAX_DATES} dates in total`);
}

function addQuery(total: Size, query: Query): void {
  const { measures, dimensions, segments, timeDimensions = [], order = [], filters = [] } = query;
  const size: Size = { members: 0, values: 0, characters: 0, dates: 0 };
  for (const list of [measures, dimensions, segments, timeDimensions, Object.keys(order)])
    size.members += list?.length ?? 0;
  addFilters(size, filters);
  let copies = 1;
  for (const { dateRange, compareDateRange } of timeDimensions) {
    if (dateRange !== undefined) size.dates += datesIn(dateRange);
    if (compareDateRange) {
      copies = compareDateRange.length;
      total.dates += compareDateRange.reduce((sum, range) => sum + datesIn(range), 0);
    }
  }
  for (const name of Object.keys(size) as (keyof Size)[]) total[name] += copies * size[name];
}

const datesIn = (range: string | string[]): number => (typeof range === 'string' ? 1 : range.length);

/** Groups count as members too, because each level of nesting is walked through. */
function addFilters(size: Size, filters: readonly Filter[]): void {
  for (const filter of filters) {
    size.members += 1;
    if (filter.and || filter.or) addFilters(size, (filter.and ?? filter.or)!);
    else if ('operator' in filter) {
      const { operator, values = [] } = filter;
      size.values += values.length;
      for (const value of values) size.characters += typeof value === 'string' ? value.length : 8;
      if (readsDates(operator) || isTimeMember((filter.member ?? filter.dimension)!))
        size.dates += values.length;
    }
  }
}
