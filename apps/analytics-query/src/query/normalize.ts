import { ApiError } from '@perkway/domain';
import { isAbsolute, resolveDateRange, resolveText } from './date-range.js';
import type {
  Filter,
  LocalRange,
  MemberFilter,
  NormalizedFilterTree,
  NormalizedQuery,
  Query,
  TimeDimension,
} from './query.js';
import { checkForm } from './check-form.js';
import { checkSize, DATE_RANGE_OPERATORS, FROM_END_OPERATORS, FROM_START_OPERATORS } from './check-size.js';
import { queryError } from './query-error.js';
import { canonicalTimezone } from './timezone.js';

export type QueryType = 'regularQuery' | 'compareDateRangeQuery' | 'blendingQuery';
export interface NormalizedQueries {
  queryType: QueryType;
  queries: NormalizedQuery[];
}

export const DEFAULT_LIMIT = 10_000;
export const MAX_LIMIT = 50_000;
/** Blended queries per request. `checkForm` limits compared ranges. */
const MAX_QUERIES = 50;
/** Validates a client's `query` parameter, which is one query or a list of queries, and fills in defaults. */
export function normalize(input: unknown, now: number): NormalizedQueries {
  if (Array.isArray(input)) {
    if (input.length === 0) throw queryError('Query param is required');
    if (input.length > MAX_QUERIES) throw queryError(`At most ${MAX_QUERIES} queries can be blended`);
    const blended = input.map(checkForm);
    checkSize(blended);
    const queries = blended.map((query) => normalizeOne(query, now));
    checkBlending(queries);
    return { queryType: 'blendingQuery', queries };
  }
  const query = checkForm(input);
  checkSize([query]);
  const compared = query.timeDimensions?.filter((each) => each.compareDateRange) ?? [];
  if (compared.length > 1) throw queryError('compareDateRange can only exist for one timeDimension');
  const [comparing] = compared;
  if (!comparing) return { queryType: 'regularQuery', queries: [normalizeOne(query, now)] };
  // The queries of the compared ranges differ only in their range.
  const shared = normalizeOne(query, now);
  const at = query.timeDimensions!.indexOf(comparing);
  return {
    queryType: 'compareDateRangeQuery',
    queries: comparing.compareDateRange!.map((dateRange) => ({
      ...shared,
      timeDimensions: shared.timeDimensions.with(at, {
        ...shared.timeDimensions[at]!,
        dateRange: resolveDateRange(dateRange, shared.timezone, now),
      }),
    })),
  };
}

function checkBlending(queries: NormalizedQuery[]): void {
  const granularities = queries.map(({ timeDimensions }) => timeDimensions[0]?.granularity);
  const given = new Set(granularities.filter((granularity) => granularity !== undefined));
  if (given.size > 1) throw queryError('Data blending query granularities must match');
  if (given.size === 0) throw queryError('Data blending query without granularity is not supported');
}

function normalizeOne(query: Query, now: number): NormalizedQuery {
  const timezone = canonicalTimezone(query.timezone ?? 'UTC')!;
  const { dimensions = [], timeDimensions = [] } = query;
  if (!query.measures?.length && !dimensions.length && !timeDimensions.some(({ granularity }) => granularity))
    throw queryError(
      'Query should contain either measures, dimensions or timeDimensions with granularities in order to be valid',
    );
  if (query.limit !== undefined && query.limit > MAX_LIMIT)
    // Cube's status for this error.
    throw new ApiError('INTERNAL_ERROR', 'Error: The query limit has been exceeded.');
  const limit = query.limit ?? DEFAULT_LIMIT;
  const isTimed = (path: string) => path.split('.').length === 3;
  return withoutUndefined({
    measures: query.measures,
    dimensions: dimensions.filter((path) => !isTimed(path)),
    segments: query.segments,
    timeDimensions: [
      ...timeDimensions.map((each) => normalizeTimeDimension(each, timezone, now)),
      // `cube.time.day` among the dimensions means the time dimension with that granularity.
      ...dimensions.filter(isTimed).map((path) => {
        const [cube, name, granularity] = path.split('.');
        return { dimension: `${cube}.${name}`, granularity };
      }),
    ],
    filters: normalizeFilters(query.filters ?? [], timezone, now),
    order: normalizeOrder(query.order),
    limit,
    rowLimit: limit,
    offset: query.offset,
    timezone,
    total: query.total,
    ungrouped: query.ungrouped,
    responseFormat: query.responseFormat,
  });
}

const withoutUndefined = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as T;

const normalizeTimeDimension = (
  { dimension, granularity, dateRange }: TimeDimension,
  timezone: string,
  now: number,
) =>
  withoutUndefined({
    dimension,
    granularity,
    dateRange: dateRange === undefined ? undefined : resolveDateRange(dateRange, timezone, now),
  });

const normalizeOrder = (order: Query['order']): NormalizedQuery['order'] =>
  order &&
  (Array.isArray(order) ? order : Object.entries(order)).map(([id, direction]) => ({
    id,
    desc: direction === 'desc',
  }));

const WITHOUT_VALUES = new Set<string>(['set', 'notSet', 'measureFilter']);
/** Drops empty groups, which have no effect. */
const normalizeFilters = (filters: Filter[], timezone: string, now: number): NormalizedFilterTree[] =>
  filters.flatMap((filter): NormalizedFilterTree[] => {
    if (filter.and || filter.or) {
      const inner = normalizeFilters((filter.and ?? filter.or)!, timezone, now);
      if (inner.length === 0) return [];
      return [filter.and ? { and: inner } : { or: inner }];
    }
    return 'operator' in filter ? [normalizeFilter(filter, timezone, now)] : [];
  });

function normalizeFilter(filter: MemberFilter, timezone: string, now: number): NormalizedFilterTree {
  const { operator } = filter;
  if (!filter.values?.length && !WITHOUT_VALUES.has(operator))
    throw queryError(`Values required for filter: ${JSON.stringify(filter)}`);
  const values = filter.values?.map((value) => (value === null ? null : String(value)));
  return withoutUndefined({
    operator,
    values: values && resolveDates(operator, values, timezone, now),
    member: (filter.member ?? filter.dimension)!,
  });
}

function resolveDates(operator: string, values: (string | null)[], timezone: string, now: number) {
  const texts = values.filter((value) => value !== null);
  if (DATE_RANGE_OPERATORS.has(operator)) {
    if (values.length > 1 && texts.some((value) => !isAbsolute(value)))
      throw queryError(
        `Relative-date strings are only supported when \`values\` has a single element for operator \`${operator}\`. ` +
          `Pass an absolute two-element [start, end] pair, or a single relative string like ["last 2 weeks"]. ` +
          `Got: ${JSON.stringify(values)}`,
      );
    const [only] = values;
    if (values.length === 1 && typeof only === 'string') {
      const range: LocalRange = isAbsolute(only)
        ? resolveDateRange([only], timezone, now)
        : resolveText(only, timezone, now);
      return range;
    }
    return values;
  }
  const [first] = values;
  if (values.length !== 1 || typeof first !== 'string' || isAbsolute(first)) return values;
  if (FROM_START_OPERATORS.has(operator)) return [resolveText(first, timezone, now)[0]];
  if (FROM_END_OPERATORS.has(operator)) return [resolveText(first, timezone, now)[1]];
  return values;
}
