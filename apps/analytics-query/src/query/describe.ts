import { isTrue } from './compile.js';
import { pivotQueryOf, type DescribedQuery } from './response.js';
import type { QueryType } from './normalize.js';
import { ADDITIVE } from './statement.js';

const orderOf = ({ compiled: { order } }: DescribedQuery): Record<string, 'asc' | 'desc'> =>
  Object.fromEntries(order.map(({ id, desc }) => [id, desc ? 'desc' : 'asc']));

/**
 * Describes what a query selects, in the form that Cube uses to match pre-aggregations. There are no pre-aggregations
 * here.
 */
function transformed({ query, compiled: { columns } }: DescribedQuery) {
  const keys = (kind: string) => columns.filter((column) => column.kind === kind).map(({ key }) => key);
  const measures = keys('measure');
  const dimensions = keys('dimension');
  const isAdditive = columns.every(
    ({ kind, cube, name }) => kind !== 'measure' || ADDITIVE.has(cube.measures[name]!.aggType),
  );
  return {
    measures,
    leafMeasures: measures,
    sortedDimensions: [...dimensions].sort(),
    sortedTimeDimensions: query.timeDimensions
      .filter(({ granularity }) => granularity)
      .map(({ dimension, granularity }) => [dimension, granularity]),
    timeDimensions: query.timeDimensions.map(({ dimension, granularity }) => [
      dimension,
      granularity ?? null,
    ]),
    isAdditive,
    leafMeasureAdditive: isAdditive,
    hasNoTimeDimensionsWithoutGranularity: query.timeDimensions.every(({ granularity }) => granularity),
    ungrouped: isTrue(query.ungrouped),
  };
}

/** Returns the body of `/v1/sql` for one query. */
export function sqlResponse(described: DescribedQuery) {
  const { query, compiled } = described;
  const time = compiled.columns.find(({ kind }) => kind === 'timeDimension');
  return {
    sql: {
      sql: [compiled.text, compiled.params],
      order: orderOf(described),
      external: false,
      ...(time
        ? { timeDimensionAlias: time.alias, timeDimensionField: `${time.cube.name}.${time.name}` }
        : {}),
      cacheKeyQueries: [],
      preAggregations: [],
      dataSource: 'default',
      aliasNameToMember: Object.fromEntries(compiled.columns.map(({ alias, key }) => [alias, key])),
      lambdaQueries: {},
      canUseTransformedQuery: transformed(described),
      memberNames: [
        ...new Set([
          ...(query.measures ?? []),
          ...query.dimensions,
          ...query.timeDimensions.map(({ dimension }) => dimension),
        ]),
      ],
    },
    dataSource: 'default',
  };
}

/** Returns the body of `/v1/dry-run`. */
export function dryRunResponse(queryType: QueryType, described: DescribedQuery[]) {
  const queries = described.map(({ query }) => query);
  return {
    queryType,
    normalizedQueries: queries,
    queryOrder: described.map(orderOf),
    transformedQueries: described.map(transformed),
    pivotQuery: pivotQueryOf(queryType, queries),
  };
}
