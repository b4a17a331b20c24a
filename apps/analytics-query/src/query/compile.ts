import type { Cube, Dimension, Measure, Member, Model } from '../model/model.js';
import { clauseOf, membersOfFilter } from './filters.js';
import type { NormalizedQuery } from './query.js';
import type { Column, CompileOptions, ResolvedQuery } from './resolved-query.js';
import { notFound } from './not-found.js';
import { queryError } from './query-error.js';
import { writeStatement } from './statement.js';

export interface CompiledQuery {
  text: string;
  /** The statement without order and limit. */
  statement: string;
  params: unknown[];
  /** In the order of the selected columns. */
  columns: Column[];
  /** Counts the rows without limit and offset; set if the query asks for `total`. */
  total?: { text: string; params: unknown[] };
  /** The effective order, by member. */
  order: { id: string; desc: boolean }[];
  /** Whether a rollup could serve it, for closed hours. */
  canUseRollup: boolean;
  /** Whether it makes a group for each distinct value that it counts, such as a journey. */
  countsDistinct: boolean;
  /** Whether it reads rollups, so that it is valid only while the watermark it was compiled with holds. */
  readsRollup: boolean;
}

/** Returns the member, or throws Cube's error for an unknown member. */
export function resolveMember(model: Model, path: string): Member {
  const [cubeName = '', name = ''] = path.split('.');
  const member = model.find(`${cubeName}.${name}`);
  if (!member) throw notFound(model, path);
  return member;
}

const resolveMeasure = (model: Model, path: string): { cube: Cube; name: string; definition: Measure } => {
  const member = resolveMember(model, path);
  if (member.kind !== 'measure') throw notFound(model, path, 'measure');
  return member;
};
const resolveDimension = (
  model: Model,
  path: string,
): { cube: Cube; name: string; definition: Dimension } => {
  const member = resolveMember(model, path);
  if (member.kind !== 'dimension') throw notFound(model, path, 'dimension');
  return member;
};

const resolveSegment = (model: Model, path: string): { cube: Cube; name: string } => {
  const [cubeName = '', name = ''] = path.split('.');
  const cube = model.cube(cubeName);
  if (!cube) throw queryError(`Cube '${cubeName}' not found for path '${path}'`);
  if (!Object.hasOwn(cube.segments ?? {}, name)) throw queryError(`'${name}' not found for path '${path}'`);
  return { cube, name };
};

/** Returns the members that a query names, including those in filters, but not those in `order`. */
export const membersOf = (query: NormalizedQuery): string[] => [
  ...(query.measures ?? []),
  ...query.dimensions,
  ...query.timeDimensions.map(({ dimension }) => dimension),
  ...query.filters.flatMap(membersOfFilter),
];

/**
 * Compiles a normalized query into one SQL statement over the rows of one account. Pure: no clock, no database. The
 * text consists only of constants of the model, parameter placeholders, and validated values: names of members,
 * attributes, time zones and granularities, limit and offset.
 */
export function compile(
  query: NormalizedQuery,
  model: Model,
  account: string,
  options: CompileOptions = {},
): CompiledQuery {
  const resolved = resolveQuery(query, model, account);
  const { columns } = resolved;
  const {
    text: statement,
    params,
    canUseRollup,
    readsRollup,
    countsDistinct,
  } = writeStatement(resolved, options);
  const groups = columns.flatMap(({ kind }, index) => (kind === 'measure' ? [] : [index + 1]));
  const order = orderOf(query, columns);
  // Breaks ties in a fixed order, so that pages do not overlap.
  const ordered = new Set(order.map(({ position }) => position));
  const ties = groups.filter((position) => !ordered.has(position));
  const orderBy = [
    ...order.map(({ position, desc }) => `${position} ${desc ? 'desc' : 'asc'}`),
    ...(order.length > 0 ? ties.map((position) => `${position} asc`) : []),
  ];
  return {
    statement,
    text: [
      statement,
      ...(orderBy.length > 0 ? [`order by ${orderBy.join(', ')}`] : []),
      `limit ${query.limit}`,
      ...(query.offset ? [`offset ${query.offset}`] : []),
    ].join('\n'),
    params,
    columns,
    order: order.map(({ id, desc }) => ({ id, desc })),
    canUseRollup,
    readsRollup,
    countsDistinct,
    ...(isTrue(query.total)
      ? { total: { text: `select count(*) from (\n${statement}\n) rows`, params } }
      : {}),
  };
}

/**
 * Combines statements that return one row each, so that each can run on its own processor. The last column is the index
 * of the statement that a row comes from; rows are sorted by it.
 */
export function compileTogether(
  queries: readonly Pick<CompiledQuery, 'statement' | 'params'>[],
): Pick<CompiledQuery, 'text' | 'params'> {
  const params: unknown[] = [];
  const parts = queries.map(({ statement, params: own }, index) => {
    const before = params.length;
    params.push(...own);
    const renumbered = statement.replaceAll(/\$(\d+)/g, (_, number) => `$${before + Number(number)}`);
    return `select q.*, ${index} as query from (\n${renumbered}\n) q`;
  });
  return { text: `select * from (\n${parts.join('\nunion all\n')}\n) u\norder by query`, params };
}

/** Returns whether the query returns at most one row, whatever the data. */
export const isOneRow = (query: NormalizedQuery, columns: readonly Column[]): boolean =>
  !query.ungrouped && query.limit > 0 && !query.offset && columns.every(({ kind }) => kind === 'measure');

export const isTrue = (value: boolean | string | undefined): boolean => value === true || value === 'true';

function resolveQuery(query: NormalizedQuery, model: Model, account: string): ResolvedQuery {
  const segments = [...new Set(query.segments)].map((path) => resolveSegment(model, path));
  const used = [...new Set(membersOf(query))].map((path) => resolveMember(model, path));
  const [cube, other] = [...new Set([...used, ...segments].map((member) => member.cube))];
  if (other) throw queryError(`Can't find join path to join '${cube!.name}', '${other.name}'`);

  const selected = [
    ...query.dimensions.map((path): Omit<Column, 'alias'> => {
      const { cube, name } = resolveDimension(model, path);
      return { key: path, kind: 'dimension', cube, name };
    }),
    ...query.timeDimensions.flatMap(({ dimension, granularity }) => {
      const { cube, name, definition } = resolveDimension(model, dimension);
      if (definition.type !== 'time') throw queryError(`'${name}' is not a time dimension`);
      if (granularity === undefined) return [];
      const known = model.granularities.get(granularity);
      if (!known) throw queryError(`Granularity "${granularity}" does not exist in dimension ${dimension}`);
      return [
        {
          key: `${dimension}.${granularity}`,
          kind: 'timeDimension' as const,
          cube,
          name,
          granularity: known,
        },
      ];
    }),
    ...(query.measures ?? []).map((path): Omit<Column, 'alias'> => {
      const { cube, name } = resolveMeasure(model, path);
      return { key: path, kind: 'measure', cube, name };
    }),
  ];
  const members = new Map<string, Member>();
  const resolve = (path: string) => {
    let member = members.get(path);
    if (!member) members.set(path, (member = resolveMember(model, path)));
    return member;
  };
  const clauses = query.filters.map((filter) => clauseOf(filter, { resolve }));
  return {
    query,
    account,
    cube: cube!,
    columns: firstOf(selected, ({ key }) => key).map((column, index) => ({
      ...column,
      alias: aliasOf(column.key, index),
    })),
    resolve,
    segments: segments.map(({ name }) => name),
    where: query.filters.filter((_, index) => clauses[index] === 'where'),
    having: query.filters.filter((_, index) => clauses[index] === 'having'),
  };
}

/** Returns the first item of each key. */
function firstOf<Item>(items: readonly Item[], keyOf: (item: Item) => string | number): Item[] {
  const firsts = new Map<string | number, Item>();
  for (const item of items) if (!firsts.has(keyOf(item))) firsts.set(keyOf(item), item);
  return [...firsts.values()];
}

/** Postgres truncates identifiers at 63 bytes; a longer name gets a short alias. */
const aliasOf = (key: string, index: number): string => {
  const name = key.replace('.', '__').replaceAll('.', '_').toLowerCase();
  return name.length <= 63 ? name : `c${index}`;
};

/** Ignores members that are not selected; a time dimension may be named with or without its granularity. */
function orderOf(
  query: NormalizedQuery,
  columns: Column[],
): { id: string; desc: boolean; position: number }[] {
  const positions = new Map<string, number>();
  const put = (id: string, position: number) => positions.has(id) || positions.set(id, position);
  columns.forEach(({ key }, index) => put(key, index + 1));
  columns.forEach(
    ({ kind, cube, name }, index) => kind === 'timeDimension' && put(`${cube.name}.${name}`, index + 1),
  );
  if (query.order) {
    const known = query.order.flatMap(({ id, desc }) => {
      const position = positions.get(id);
      return position === undefined ? [] : [{ id, desc, position }];
    });
    return firstOf(known, ({ position }) => position);
  }
  const time = columns.find(({ kind }) => kind === 'timeDimension');
  const first = time ?? columns.find(({ kind }) => kind === 'measure') ?? columns[0]!;
  const id = time ? `${time.cube.name}.${time.name}` : first.key;
  return [{ id, desc: first.kind === 'measure', position: columns.indexOf(first) + 1 }];
}
