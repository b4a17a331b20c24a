import type { Cube, Dimension, Join, Measure, Member, Model } from '../model/model.js';
import { toInstant } from './date-range.js';
import { compileFilters } from './filters.js';
import { Params } from './params.js';
import { GRANULARITIES, type NormalizedFilterTree, type NormalizedQuery } from './query.js';
import { queryError } from './query-error.js';

/** One column of the answer. */
export interface Column {
  /** `cube.member`, or `cube.time.granularity`. */
  key: string;
  /** Its name in the statement. */
  alias: string;
  kind: 'dimension' | 'timeDimension' | 'measure';
  cube: Cube;
  name: string;
  granularity?: string;
}

export interface CompiledQuery {
  text: string;
  params: unknown[];
  /** In the order of the selected columns. */
  columns: Column[];
  /** Counts the rows without limit and offset; there when the query asks for `total`. */
  total?: { text: string; params: unknown[] };
  /** The ordering in force, by member. */
  order: { id: string; desc: boolean }[];
}

interface Selected extends Omit<Column, 'alias'> {
  sql: string;
}

const JOINS: Record<Join, (perkId: string) => string> = {
  perks: () => 'cross join lateral unnest(e.perk_ids) as p (perk_id)',
  perk_names: (perkId) => `left join perk_names pn on pn.perk_id = ${perkId}`,
  campaign_names: () =>
    'left join campaign_names cn on cn.account_id = e.account_id and cn.campaign_id = e.campaign_id',
};

/** The member, or the error that Cube gives for its absence. */
export function resolveMember(model: Model, path: string): Member {
  const [cubeName = '', name = ''] = path.split('.');
  if (!model.cube(cubeName)) throw queryError(`Cube '${cubeName}' not found for path '${path}'`);
  const member = model.find(`${cubeName}.${name}`);
  if (!member) throw queryError(`'${name}' not found for path '${path}'`);
  return member;
}

const resolveMeasure = (model: Model, path: string): { cube: Cube; name: string; definition: Measure } => {
  const member = resolveMember(model, path);
  if (member.kind !== 'measure') throw queryError(`'${member.name}' not found for path '${path}'`);
  return member;
};
const resolveDimension = (
  model: Model,
  path: string,
): { cube: Cube; name: string; definition: Dimension } => {
  const member = resolveMember(model, path);
  if (member.kind !== 'dimension') throw queryError(`'${member.name}' not found for path '${path}'`);
  return member;
};

/** Every member that a query names, also in its filters. */
export function membersOf(query: NormalizedQuery): string[] {
  const inFilters = (filters: NormalizedFilterTree[]): string[] =>
    filters.flatMap((filter) =>
      'and' in filter ? inFilters(filter.and) : 'or' in filter ? inFilters(filter.or) : [filter.member],
    );
  return [
    ...(query.measures ?? []),
    ...query.dimensions,
    ...query.timeDimensions.map(({ dimension }) => dimension),
    ...inFilters(query.filters),
  ];
}

/**
 * Turns a normalised query into one SQL statement for the rows of one account. Pure: no clock, no database. Only
 * constants of the model, checked names of time zones and granularities, and parameters become part of the text.
 */
export function compile(query: NormalizedQuery, model: Model, account: string): CompiledQuery {
  for (const path of query.segments ?? []) {
    const [cube, name] = path.split('.');
    if (!model.cube(cube!)) throw queryError(`Cube '${cube}' not found for path '${path}'`);
    throw queryError(`'${name}' not found for path '${path}'`);
  }
  const used = [...new Set(membersOf(query))].map((path) => resolveMember(model, path));
  const cubes = [...new Set(used.map(({ cube }) => cube))];
  const cube = cubes[0]!;
  if (cubes[1]) throw queryError(`Can't find join path to join '${cube.name}', '${cubes[1].name}'`);

  const joins = new Set(
    used.flatMap((member) => (member.kind === 'dimension' ? (member.definition.joins ?? []) : [])),
  );
  const spreadsPerks = Object.values(cube.measures).some(({ sqlWithoutPerks }) => sqlWithoutPerks);
  // A row of an ungrouped query, and the subject of measureFilter, is one view of one perk.
  if (spreadsPerks && query.ungrouped) joins.add('perks');

  const selected = dedupe([
    ...query.dimensions.map((path) => selectDimension(model, path, query.timezone)),
    ...query.timeDimensions
      .filter(({ granularity }) => granularity !== undefined)
      .map(({ dimension, granularity }) => selectTime(model, dimension, granularity!, query.timezone)),
    ...(query.measures ?? []).map((path) =>
      selectMeasure(model, path, query.ungrouped === true, joins.has('perks')),
    ),
  ]);

  const columns = selected.map((column, index) => ({ ...column, alias: aliasOf(column.key, index) }));

  const params = new Params();
  const where = [`e.account_id = ${params.add(account)}`, `e.type = '${cube.eventType}'`];
  for (const { dimension, dateRange } of query.timeDimensions) {
    const { definition, name } = resolveDimension(model, dimension);
    if (definition.type !== 'time') throw queryError(`'${name}' is not a time dimension`);
    if (!dateRange) continue;
    const [from, to] = dateRange.map((stamp) => params.add(toInstant(stamp, query.timezone)));
    where.push(`${definition.sql} >= ${from}::timestamptz`, `${definition.sql} <= ${to}::timestamptz`);
  }
  const filters = compileFilters(query.filters, {
    params,
    timezone: query.timezone,
    resolve: (path) => resolveMember(model, path),
    measureSql: (measure) => measureSql(measure, joins.has('perks')),
    ungrouped: query.ungrouped === true,
  });
  where.push(...filters.where);

  const from = ['tracking_events e', ...joinSql(joins)].join('\n  ');
  const groups = columns.flatMap(({ kind }, index) => (kind === 'measure' ? [] : [index + 1]));
  const statement = [
    `select ${columns.map(({ sql, alias }) => `${sql} as "${alias}"`).join(',\n  ')}`,
    `from ${from}`,
    `where ${where.join('\n  and ')}`,
    ...(groups.length > 0 && !query.ungrouped ? [`group by ${groups.join(', ')}`] : []),
    ...(filters.having.length > 0 ? [`having ${filters.having.join('\n  and ')}`] : []),
  ].join('\n');

  const order = orderOf(query, columns);
  // Rows that the ordering leaves equal keep one order, so that pages do not overlap.
  const ties = groups.filter((position) => !order.some((each) => each.position === position));
  const orderBy = [
    ...order.map(({ position, desc }) => `${position} ${desc ? 'desc' : 'asc'}`),
    ...(order.length > 0 ? ties.map((position) => `${position} asc`) : []),
  ];
  return {
    text: [
      statement,
      ...(orderBy.length > 0 ? [`order by ${orderBy.join(', ')}`] : []),
      `limit ${query.limit}`,
      ...(query.offset ? [`offset ${query.offset}`] : []),
    ].join('\n'),
    params: params.values,
    columns: columns.map(({ sql: _sql, ...column }) => column),
    order: order.map(({ id, desc }) => ({ id, desc })),
    ...(isTrue(query.total)
      ? { total: { text: `select count(*) from (\n${statement}\n) rows`, params: params.values } }
      : {}),
  };
}

export const isTrue = (value: boolean | string | undefined): boolean => value === true || value === 'true';

const dedupe = (columns: Selected[]): Selected[] =>
  columns.filter(({ key }, index) => columns.findIndex((each) => each.key === key) === index);

const joinSql = (joins: Set<Join>): string[] => {
  const perkId = joins.has('perks') ? 'p.perk_id' : 'e.perk_id';
  return (Object.keys(JOINS) as Join[]).filter((join) => joins.has(join)).map((join) => JOINS[join](perkId));
};

/** Postgres cuts identifiers at 63 bytes; a longer name gets a short one. */
const aliasOf = (key: string, index: number): string => {
  const name = key.replace('.', '__').replaceAll('.', '_').toLowerCase();
  return name.length <= 63 ? name : `c${index}`;
};

const local = (sql: string, timezone: string): string => `(${sql} at time zone '${timezone}')`;

function selectDimension(model: Model, path: string, timezone: string): Selected {
  const { cube, name, definition } = resolveDimension(model, path);
  const sql = definition.type === 'time' ? local(definition.sql, timezone) : definition.sql;
  return { key: path, kind: 'dimension', cube, name, sql };
}

function selectTime(model: Model, path: string, granularity: string, timezone: string): Selected {
  const { cube, name, definition } = resolveDimension(model, path);
  if (definition.type !== 'time') throw queryError(`'${name}' is not a time dimension`);
  if (!(GRANULARITIES as readonly string[]).includes(granularity))
    throw queryError(`Granularity "${granularity}" does not exist in dimension ${path}`);
  return {
    key: `${path}.${granularity}`,
    kind: 'timeDimension',
    cube,
    name,
    granularity,
    sql: `date_trunc('${granularity}', ${local(definition.sql, timezone)})`,
  };
}

const measureSql = (measure: Measure, withPerks: boolean): string =>
  (withPerks ? undefined : measure.sqlWithoutPerks) ?? measure.sql;

function selectMeasure(model: Model, path: string, ungrouped: boolean, withPerks: boolean): Selected {
  const { cube, name, definition } = resolveMeasure(model, path);
  const sql = ungrouped ? definition.ungrouped : measureSql(definition, withPerks);
  return { key: path, kind: 'measure', cube, name, sql };
}

/** Members that are not selected are ignored; a time dimension is meant with or without its granularity. */
function orderOf(
  query: NormalizedQuery,
  columns: Selected[],
): { id: string; desc: boolean; position: number }[] {
  const positionOf = (id: string): number => {
    const exact = columns.findIndex(({ key }) => key === id);
    if (exact >= 0) return exact + 1;
    return (
      columns.findIndex(({ kind, cube, name }) => kind === 'timeDimension' && `${cube.name}.${name}` === id) +
      1
    );
  };
  if (query.order)
    return query.order
      .map(({ id, desc }) => ({ id, desc, position: positionOf(id) }))
      .filter(
        ({ position }, index, all) =>
          position > 0 && all.findIndex((each) => each.position === position) === index,
      );
  const time = columns.find(({ kind }) => kind === 'timeDimension');
  const first = time ?? columns.find(({ kind }) => kind === 'measure') ?? columns[0]!;
  const id = time ? `${time.cube.name}.${time.name}` : first.key;
  return [{ id, desc: first.kind === 'measure', position: columns.indexOf(first) + 1 }];
}
