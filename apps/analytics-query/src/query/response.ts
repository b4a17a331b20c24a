import { describeGranularity } from '../model/granularities.js';
import { annotateDimension, annotateMeasure, annotateSegment } from '../model/meta.js';
import type { CompiledQuery } from './compile.js';
import type { Column } from './resolved-query.js';
import type { QueryType } from './normalize.js';
import type { NormalizedQuery, ResponseFormat } from './query.js';

/** A query and its compiled form. */
export interface DescribedQuery {
  query: NormalizedQuery;
  compiled: CompiledQuery;
}

const pathOf = ({ cube, name }: Column): string => `${cube.name}.${name}`;

function annotationOf({ query, compiled }: DescribedQuery) {
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
          granularity: describeGranularity(granularity!),
        };
        if (!query.dimensions.includes(pathOf(column))) timeDimensions[pathOf(column)] = annotation;
      }
    }
  }
  const { cube } = compiled.columns[0]!;
  const segments = Object.fromEntries(
    (query.segments ?? []).map((path) => [path, annotateSegment(cube, path.split('.')[1]!)]),
  );
  return { measures, dimensions, segments, timeDimensions };
}

/** A field of a response row and the column it comes from. */
type Field = [key: string, column: number];

/**
 * A time dimension with a granularity also appears under its own name, with the value of the finest granularity, unless
 * it is selected itself.
 */
function fieldsOf({ query, compiled: { columns } }: DescribedQuery, queryType: QueryType): Field[] {
  const fields: Field[] = [];
  const finest = new Map<string, number>();
  columns.forEach((column, index) => {
    fields.push([column.key, index]);
    if (column.kind !== 'timeDimension') return;
    const path = pathOf(column);
    const known = finest.get(path);
    const lengthOf = (at: number) => columns[at]!.granularity!.seconds;
    if (known === undefined || lengthOf(index) < lengthOf(known)) finest.set(path, index);
  });
  for (const [path, index] of finest) if (!query.dimensions.includes(path)) fields.push([path, index]);
  if (queryType === 'blendingQuery') {
    const [time] = query.timeDimensions;
    const index = columns.findIndex(({ key }) => key === `${time?.dimension}.${time?.granularity}`);
    if (index >= 0) fields.push([`time.${time!.granularity}`, index]);
  }
  return fields;
}

/** Writes rows as response text, one after the other. */
export interface RowWriter {
  /** @param values in the order of `compiled.columns`, as returned by the driver */
  row(values: unknown[]): string;
  /** The rest of the text; as buffers where it may be large. */
  end(): (string | Buffer)[];
}

/** Writes the member `data` of one query's response. */
export function dataWriter(described: DescribedQuery, queryType: QueryType): RowWriter {
  const { query } = described;
  const fields = fieldsOf(described, queryType);
  const range = query.timeDimensions.find(({ dateRange }) => dateRange)?.dateRange;
  if (queryType === 'compareDateRangeQuery' && range) {
    // The same for all rows, so it is not a column of the statement.
    const label = JSON.stringify(range.join(' - '));
    return WRITERS[query.responseFormat ?? 'default']([...fields, ['compareDateRange', -1]], label);
  }
  return WRITERS[query.responseFormat ?? 'default'](fields);
}

/** @param constant JSON of a field whose column is -1 */
type MakeWriter = (fields: Field[], constant?: string) => RowWriter;
const cell = (values: unknown[], column: number, constant?: string): string =>
  column < 0 ? constant! : JSON.stringify(values[column]);

const WRITERS: Record<ResponseFormat, MakeWriter> = {
  default: (fields, constant) => {
    let before = '[{';
    const keys = fields.map(([key], index) => `${index > 0 ? ',' : ''}${JSON.stringify(key)}:`);
    return {
      row: (values) => {
        let text = before;
        before = '},{';
        fields.forEach(([, column], index) => (text += keys[index]! + cell(values, column, constant)));
        return text;
      },
      end: () => [before === '[{' ? '[]' : '}]'],
    };
  },
  compact: (fields, constant) => {
    let before = `{"members":${membersOf(fields)},"dataset":[`;
    let any = false;
    return {
      row: (values) => {
        const text = `${before}[${fields.map(([, column]) => cell(values, column, constant)).join(',')}]`;
        before = ',';
        any = true;
        return text;
      },
      end: () => [any ? ']}' : '{"members":[],"dataset":[]}'],
    };
  },
  // Columns are complete only after the last row, so they are buffered; as bytes, which need less memory than strings.
  columnar: (fields, constant) => {
    const columns = fields.map(() => ({ pieces: [] as Buffer[], text: '' }));
    let any = false;
    return {
      row: (values) => {
        fields.forEach(([, column], index) => {
          const kept = columns[index]!;
          kept.text += (any ? ',' : '') + cell(values, column, constant);
          if (kept.text.length > 16 * 1024) {
            kept.pieces.push(Buffer.from(kept.text));
            kept.text = '';
          }
        });
        any = true;
        return '';
      },
      end: () => {
        if (!any) return ['{"members":[],"columns":[]}'];
        return [
          `{"members":${membersOf(fields)},"columns":[`,
          ...columns.flatMap(({ pieces, text }, index) => [index > 0 ? ',[' : '[', ...pieces, `${text}]`]),
          ']}',
        ];
      },
    };
  },
};
const membersOf = (fields: Field[]): string => JSON.stringify(fields.map(([key]) => key));

/**
 * Returns the response of one query up to its rows; the rows and `}` follow.
 * @param total rows without limit and offset, if the query asked for it
 */
export const resultHead = (described: DescribedQuery, refreshedAt: string, total?: number): string =>
  `${JSON.stringify({
    query: described.query,
    lastRefreshTime: refreshedAt,
    annotation: annotationOf(described),
    dataSource: 'default',
    dbType: 'postgres',
    external: false,
    slowQuery: false,
    ...(total === undefined ? {} : { total }),
  }).slice(0, -1)},"data":`;

/** Returns the query to pivot the results by. */
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

/**
 * Returns the text before and after the results in the body of `/v1/load?queryType=multi`, which the Cube client
 * requests.
 */
export const multiFrame = (
  queryType: QueryType,
  queries: NormalizedQuery[],
): [head: string, tail: string] => [
  `{"queryType":${JSON.stringify(queryType)},"results":[`,
  `],"pivotQuery":${JSON.stringify(pivotQueryOf(queryType, queries))},"slowQuery":false}`,
];
