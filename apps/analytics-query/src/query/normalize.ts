import { DomainError } from '@perkway/domain';
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
import { queryError } from './query-error.js';
import { canonicalTimezone } from './timezone.js';

export type QueryType = 'regularQuery' | 'compareDateRangeQuery' | 'blendingQuery';
export interface NormalizedQueries {
  queryType: QueryType;
  queries: NormalizedQuery[];
}

export const DEFAULT_LIMIT = 10_000;
export const MAX_LIMIT = 50_000;
/** Queries of one request: those of a blending or of the compared ranges. */
const MAX_QUERIES = 50;
/** Members that they may name together, in whatever place: as many as a request takes no time to make sense of. */
const MAX_MEMBERS = 5_000;

/** What a client sent as `query`, one or several, checked and spelled out. */
export function normalize(input: unknown, now: number): NormalizedQueries {
  const normalized = spellOut(input, now);
  if (normalized.queries.reduce((sum, query) => sum + membersIn(query), 0) > MAX_MEMBERS)
    throw queryError(`The queries of one request may name at most ${MAX_MEMBERS} members together`);
  return normalized;
}

const membersIn = ({
  measures,
  dimensions,
  segments,
  timeDimensions,
  filters,
  order,
}: NormalizedQuery): number =>
  [measures, dimensions, segments, timeDimensions, order].reduce(
    (sum, each) => sum + (each?.length ?? 0),
    0,
  ) + filters.reduce((sum, filter) => sum + filtersIn(filter), 0);
const filtersIn = (filter: NormalizedFilterTree): number =>
  'member' in filter
    ? 1
    : ('and' in filter ? filter.and : filter.or).reduce((sum, each) => sum + filtersIn(each), 0);

function spellOut(input: unknown, now: number): NormalizedQueries {
  if (Array.isArray(input)) {
    if (input.length === 0) throw queryError('Query param is required');
    if (input.length > MAX_QUERIES) throw queryError(`At most ${MAX_QUERIES} queries can be blended`);
    const queries = input.map((each) => normalizeOne(checkForm(each), now));
    checkBlending(queries);
    return { queryType: 'blendingQuery', queries };
  }
  const query = checkForm(input);
  const compared = query.timeDimensions?.filter((each) => each.compareDateRange) ?? [];
  if (compared.length > 1) throw queryError('compareDateRange can only exist for one timeDimension');
  const [comparing] = compared;
  if (!comparing) return { queryType: 'regularQuery', queries: [normalizeOne(query, now)] };
  return {
    queryType: 'compareDateRangeQuery',
    queries: comparing.compareDateRange!.map((dateRange) =>
      normalizeOne(
        {
          ...query,
          timeDimensions: query.timeDimensions!.map((each) =>
            each === comparing
              ? { dimension: each.dimension, granularity: each.granularity, dateRange }
              : each,
          ),
        },
        now,
      ),
    ),
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
    // The status that Cube gives this mistake.
    throw new DomainError('INTERNAL_ERROR', 'Error: The query limit has been exceeded.');
  const limit = query.limit ?? DEFAULT_LIMIT;
  const isTimed = (path: string) => path.split('.').length === 3;
  return withoutUndefined({
    measures: query.measures,
    dimensions: dimensions.filter((path) => !isTimed(path)),
    segments: query.segments,
    timeDimensions: [
      ...timeDimensions.map((each) => normalizeTimeDimension(each, timezone, now)),
      // `cube.time.day` among the dimensions is the time dimension with that granularity.
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
const RANGES = new Set<string>(['inDateRange', 'notInDateRange', 'onTheDate']);
const FROM_START = new Set<string>(['beforeDate', 'afterOrOnDate']);
const FROM_END = new Set<string>(['beforeOrOnDate', 'afterDate']);

/** Empty groups say nothing and are dropped. */
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
  if (RANGES.has(operator)) {
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
  if (FROM_START.has(operator)) return [resolveText(first, timezone, now)[0]];
  if (FROM_END.has(operator)) return [resolveText(first, timezone, now)[1]];
  return values;
}
