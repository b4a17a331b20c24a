import { annotateDimension, annotateMeasure } from '../model/meta.js';
import type { Column, CompiledQuery } from './compile.js';
import type { QueryType } from './normalize.js';
import type { NormalizedQuery, ResponseFormat } from './query.js';

/** The rows of one query, each in the order of `compiled.columns`, values as the driver gives them. */
export interface QueryRows {
  query: NormalizedQuery;
  compiled: CompiledQuery;
  rows: unknown[][];
  /** Rows without limit and offset, where asked for. */
  total?: number;
}

const pathOf = ({ cube, name }: Column): string => `${cube.name}.${name}`;

function annotationOf({ query, compiled }: QueryRows) {
  const measures: Record<string, object> = {};
  const dimensions: Record<string, object> = {};
  const timeDimensions: Record<string, object> = {};
  for (const column of compiled.columns) {
    const { key, kind, cube, name, granularity } = column;
    if (kind === 'measure') measures[key] = annotateMeasure(cube, name);
    else {
      const annotation = annotateDimension(cube, name, cube.dimensions[name]!);
      if (kind === 'dimension') dimensions[key] = annotation;
      else {
        timeDimensions[key] = {
          ...annotation,
          granularity: { name: granularity, title: granularity, interval: `1 ${granularity}` },
        };
        if (!query.dimensions.includes(pathOf(column))) timeDimensions[pathOf(column)] = annotation;
      }
    }
  }
  return { measures, dimensions, segments: {}, timeDimensions };
}

const GRANULARITY_ORDER = ['second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'];

/** A member of an answer's row and the column that it comes from. */
type Field = [key: string, column: number];

/**
 * A time dimension with granularity stands under its own name too, with the value of the finest granularity, unless
 * it is selected as it is.
 */
function fieldsOf({ query, compiled: { columns } }: QueryRows, queryType: QueryType): Field[] {
  const fields: Field[] = [];
  const finest = new Map<string, number>();
  columns.forEach((column, index) => {
    fields.push([column.key, index]);
    if (column.kind !== 'timeDimension') return;
    const path = pathOf(column);
    const known = finest.get(path);
    const fineness = (at: number) => GRANULARITY_ORDER.indexOf(columns[at]!.granularity!);
    if (known === undefined || fineness(index) < fineness(known)) finest.set(path, index);
  });
  for (const [path, index] of finest) if (!query.dimensions.includes(path)) fields.push([path, index]);
  if (queryType === 'blendingQuery') {
    const [time] = query.timeDimensions;
    const index = columns.findIndex(({ key }) => key === `${time?.dimension}.${time?.granularity}`);
    if (index >= 0) fields.push([`time.${time!.granularity}`, index]);
  }
  return fields;
}

function dataOf(result: QueryRows, queryType: QueryType, format: ResponseFormat) {
  const { query, rows } = result;
  const fields = fieldsOf(result, queryType);
  const range = query.timeDimensions.find(({ dateRange }) => dateRange)?.dateRange;
  const compared = queryType === 'compareDateRangeQuery' && range ? range.join(' - ') : undefined;
  if (format === 'default')
    return rows.map((row) => {
      const record: Record<string, unknown> = {};
      for (const [key, column] of fields) record[key] = row[column];
      if (compared !== undefined) record.compareDateRange = compared;
      return record;
    });
  if (rows.length === 0)
    return format === 'compact' ? { members: [], dataset: [] } : { members: [], columns: [] };
  const members = fields.map(([key]) => key);
  const pick = (row: unknown[]) => fields.map(([, column]) => row[column]);
  if (compared !== undefined) members.push('compareDateRange');
  if (format === 'compact')
    return {
      members,
      dataset: rows.map((row) => (compared === undefined ? pick(row) : [...pick(row), compared])),
    };
  const columns = fields.map(([, column]) => rows.map((row) => row[column]));
  if (compared !== undefined) columns.push(rows.map(() => compared));
  return { members, columns };
}

/** The answer to one query inside `/v1/load`. */
const resultOf = (result: QueryRows, queryType: QueryType, refreshedAt: string) => ({
  query: result.query,
  lastRefreshTime: refreshedAt,
  annotation: annotationOf(result),
  dataSource: 'default',
  dbType: 'postgres',
  external: false,
  slowQuery: false,
  ...(result.total === undefined ? {} : { total: result.total }),
  data: dataOf(result, queryType, result.query.responseFormat ?? 'default'),
});

/** What a pivot of the results is made from. */
export function pivotQueryOf(queryType: QueryType, queries: NormalizedQuery[]) {
  const [first] = queries as [NormalizedQuery, ...NormalizedQuery[]];
  if (queryType === 'compareDateRangeQuery')
    return { ...first, dimensions: ['compareDateRange', ...first.dimensions], queryType };
  if (queryType === 'regularQuery') return { ...first, queryType };
  const united = (pick: (query: NormalizedQuery) => string[] | undefined) => [
    ...new Set(queries.flatMap((query) => pick(query) ?? [])),
  ];
  const granularity = queries.map(({ timeDimensions }) => timeDimensions[0]?.granularity).find(Boolean);
  return {
    measures: united(({ measures }) => measures),
    dimensions: united(({ dimensions }) => dimensions),
    timeDimensions: [{ dimension: 'time', granularity }],
    queryType,
  };
}

/** The body of `/v1/load` for a client that does not ask for several results. */
export const singleAnswer = (result: QueryRows, refreshedAt: string) =>
  resultOf(result, 'regularQuery', refreshedAt);

/** The body of `/v1/load?queryType=multi`, as the Cube client asks for it. */
export const multiAnswer = (queryType: QueryType, results: QueryRows[], refreshedAt: string) => ({
  queryType,
  results: results.map((result) => resultOf(result, queryType, refreshedAt)),
  pivotQuery: pivotQueryOf(
    queryType,
    results.map(({ query }) => query),
  ),
  slowQuery: false,
});
