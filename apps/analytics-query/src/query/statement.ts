import { NAMES, type Cube, type Dimension, type Join, type Measure, type NameTable } from '../model/model.js';
import type { Rollup } from '../model/rollups.js';
import { chooseRollup, rollupMeasure } from './choose-rollup.js';
import type { Column, CompileOptions, ResolvedQuery } from './resolved-query.js';
import { GRAIN_MS, segmentsOf, type TimeRange } from './rollup-watermark.js';
import { toInstant } from './date-range.js';
import { compileFilters, membersOfFilter, type FilterContext } from './filters.js';
import { Params } from './params.js';
import type { NormalizedFilterTree } from './query.js';

export interface Statement {
  text: string;
  params: unknown[];
  canUseRollup: boolean;
  readsRollup: boolean;
  /** Whether it makes a group per distinct value, so that there are nearly as many groups as rows. */
  countsDistinct: boolean;
}

/** Writes the statement without order and limit. */
export function writeStatement(resolved: ResolvedQuery, options: CompileOptions): Statement {
  const plan = splitPlan(resolved);
  const statement = plan ? writeSplit(resolved, plan, options) : writePlain(resolved, options);
  return {
    ...statement,
    canUseRollup: plan?.rollup !== undefined,
    countsDistinct: plan?.distinct !== undefined,
  };
}

export const isName = (join: Join): join is NameTable => join !== 'perks';
const joinsOf = ({ resolve }: ResolvedQuery, path: string): Join[] => {
  const member = resolve(path);
  return member.kind === 'dimension' ? (member.definition.joins ?? []) : [];
};
const pathOf = ({ cube, name }: Column): string => `${cube.name}.${name}`;
const groupsOf = (columns: Column[]): number[] =>
  columns.flatMap(({ kind }, index) => (kind === 'measure' ? [] : [index + 1]));
const spreadsPerks = (cube: Cube): boolean =>
  Object.values(cube.measures).some(({ sqlWithoutPerks }) => sqlWithoutPerks);
/** Returns the measures that a measure is computed from: itself, or both parts of a rate. */
const partsOf = (name: string, { rate }: Measure): readonly string[] => rate ?? [name];
/** Returns the SQL of a measure, given the SQL of its parts. */
const overParts = (name: string, { rate }: Measure, sqlOf: (part: string) => string): string =>
  rate ? `(${sqlOf(rate[0])})::numeric / nullif(${sqlOf(rate[1])}, 0)` : sqlOf(name);
const measureSql = (cube: Cube, name: string, withPerks: boolean): string =>
  overParts(name, cube.measures[name]!, (part) => {
    const { sql, sqlWithoutPerks } = cube.measures[part]!;
    return (withPerks ? undefined : sqlWithoutPerks) ?? sql;
  });
const nameOf = (cube: Cube, measure: Measure): string =>
  Object.keys(cube.measures).find((name) => cube.measures[name] === measure)!;

export const PERKS = 'cross join lateral unnest(e.perk_ids) as p (perk_id)';
const local = (sql: string, timezone: string): string => `(${sql} at time zone '${timezone}')`;

/** Returns the SQL of a group column, given the SQL of its time or dimension. */
function groupSql({ kind, granularity, name }: Column, dimension: Dimension, timezone: string): string {
  if (kind === 'timeDimension') return granularity!.start(local(dimension.sql, timezone));
  return dimension.type === 'time' ? local(dimension.sql, timezone) : (dimension.sql ?? name);
}

const clause = (word: string, conditions: string[]): string[] =>
  conditions.length > 0 ? [`${word} ${conditions.join('\n  and ')}`] : [];

/** Writes a statement with one level, directly over event rows. */
function writePlain(
  resolved: ResolvedQuery,
  { keptFrom }: CompileOptions,
): Omit<Statement, 'canUseRollup' | 'countsDistinct'> {
  const { query, account, cube, columns, resolve } = resolved;
  const joins = joinsIn(resolved);
  const ungrouped = query.ungrouped === true;
  // In an ungrouped query, each row is one view of one perk.
  if (spreadsPerks(cube) && ungrouped) joins.add('perks');
  const params = new Params();
  const where = [...ofAccount(params, account, resolved), ...inRange(resolved, params, keptFrom)];
  const context: FilterContext = {
    params,
    timezone: query.timezone,
    resolve,
    measureSql: (measure) => measureSql(cube, nameOf(cube, measure), joins.has('perks')),
    ungrouped,
  };
  where.push(...compileFilters(resolved.where, context));
  const having = compileFilters(resolved.having, context);
  const select = columns.map((column) => {
    const { definition, kind } = resolve(pathOf(column));
    if (kind === 'dimension') return groupSql(column, definition, query.timezone);
    return ungrouped ? definition.ungrouped : measureSql(cube, column.name, joins.has('perks'));
  });
  const groups = ungrouped ? [] : groupsOf(columns);
  return {
    text: [
      `select ${select.map((sql, index) => `${sql} as "${columns[index]!.alias}"`).join(',\n  ')}`,
      `from tracking_events e`,
      ...(joins.has('perks') ? [`  ${PERKS}`] : []),
      ...[...joins].filter(isName).map((name) => `  ${joinName(name, keySql(cube, name), 'e.account_id')}`),
      ...clause('where', where),
      ...(groups.length > 0 ? [`group by ${groups.join(', ')}`] : []),
      ...clause('having', having),
    ].join('\n'),
    params: params.values,
    readsRollup: false,
  };
}

export const keySql = (cube: Cube, name: NameTable): string => cube.dimensions[NAMES[name].key]!.sql;
export const joinName = (name: NameTable, key: string, account: string): string =>
  `left join ${NAMES[name].join(key, account)}`;

function joinsIn(resolved: ResolvedQuery): Set<Join> {
  const { query, columns, where } = resolved;
  const paths = [
    ...columns.map(pathOf),
    ...query.timeDimensions.map(({ dimension }) => dimension),
    ...where.flatMap(membersOfFilter),
  ];
  return new Set(paths.flatMap((path) => joinsOf(resolved, path)));
}

const ofTypes = (sql: string, { eventTypes }: Cube): string =>
  eventTypes.length === 1 ? `${sql} = '${eventTypes[0]}'` : `${sql} in ('${eventTypes.join("', '")}')`;

/** Returns the conditions for rows of the cube and of the query's segments. */
export const ofCube = ({ cube, segments }: Pick<ResolvedQuery, 'cube' | 'segments'>): string[] => [
  ofTypes('e.type', cube),
  ...(cube.rows ? [cube.rows] : []),
  ...segments.map((name) => cube.segments![name]!.sql),
];
const ofAccount = (params: Params, account: string, resolved: ResolvedQuery): string[] => [
  `e.account_id = ${params.add(account)}`,
  ...ofCube(resolved),
];

function inRange({ query, resolve }: ResolvedQuery, params: Params, keptFrom = -Infinity): string[] {
  const conditions = query.timeDimensions.flatMap(({ dimension, dateRange }) => {
    if (!dateRange) return [];
    const { sql } = resolve(dimension).definition;
    const [from, to] = dateRange.map((stamp) => params.add(toInstant(stamp, query.timezone)));
    return [`${sql} >= ${from}::timestamptz`, `${sql} <= ${to}::timestamptz`];
  });
  if (Number.isFinite(keptFrom))
    conditions.push(`e.occurred_at >= ${params.add(new Date(keptFrom).toISOString())}::timestamptz`);
  return conditions;
}

/**
 * A statement with two levels: the inner one groups rows by ids, from raw rows and rollups; the outer one joins names
 * to the groups and adds them up.
 */
interface SplitPlan {
  names: Set<NameTable>;
  /** Filters that only use names, so they apply to groups, and the other filters. */
  onNames: NormalizedFilterTree[];
  onRows: NormalizedFilterTree[];
  /** Columns of the inner groups, by path or by the key of a time: the selected ones, and the ids of names. */
  keys: { id: string; column: Column }[];
  measures: { name: string; definition: Measure }[];
  withPerks: boolean;
  rollup: Rollup | undefined;
  /**
   * Expression whose distinct values are counted, if any: the inner level makes a group per value, the outer one counts
   * groups.
   */
  distinct: string | undefined;
}

export const ADDITIVE: ReadonlySet<Measure['aggType']> = new Set(['count', 'sum'] as const);

function splitPlan(resolved: ResolvedQuery): SplitPlan | null {
  const { query, cube, columns, resolve, where, having } = resolved;
  if (query.ungrouped) return null;
  const namesOf = (path: string): NameTable[] => joinsOf(resolved, path).filter(isName);
  const names = new Set([...columns.map(pathOf), ...where.flatMap(membersOfFilter)].flatMap(namesOf));
  const isOnNames = (filter: NormalizedFilterTree) =>
    membersOfFilter(filter).every((path) => namesOf(path).length > 0);
  const onNames = where.filter(isOnNames);
  const onRows = where.filter((filter) => !isOnNames(filter));
  if (onRows.some((filter) => membersOfFilter(filter).some((path) => namesOf(path).length > 0))) return null;

  const idOf = (column: Column): string => {
    const [name] = namesOf(pathOf(column));
    return name ? `${cube.name}.${NAMES[name].key}` : column.key;
  };
  const keys = new Map<string, Column>();
  for (const column of columns) if (column.kind !== 'measure') keys.set(idOf(column), column);
  const selected = new Set(columns.map(({ key }) => key));
  const ids = [...names].map((name) => `${cube.name}.${NAMES[name].key}`);
  for (const id of ids) {
    const name = id.split('.')[1]!;
    keys.set(id, { key: id, alias: name, kind: 'dimension', cube, name });
  }

  const paths = [...(query.measures ?? []), ...having.flatMap(membersOfFilter)];
  const measured = paths.flatMap((path) => {
    const { kind, name, definition } = resolve(path);
    return kind === 'measure' ? partsOf(name, definition) : [];
  });
  const measures = [...new Set(measured)].map((name) => ({ name, definition: cube.measures[name]! }));
  const isAdditive = measures.every(({ definition }) => ADDITIVE.has(definition.aggType));
  const withPerks = joinsIn(resolved).has('perks');
  const isMeasureFilter = (filter: NormalizedFilterTree) =>
    membersOfFilter(filter).some((path) => resolve(path).kind === 'measure');
  const rollup =
    isAdditive && !onRows.some(isMeasureFilter)
      ? chooseRollup({
          cube,
          measures: measures.map(({ name }) => name),
          granularities: columns.flatMap(({ granularity }) => granularity ?? []),
          segments: resolved.segments,
          dimensions: [
            ...[...keys.values()].filter(({ kind }) => kind === 'dimension').map(({ name }) => name),
            ...onRows.flatMap(membersOfFilter).map((path) => path.split('.')[1]!),
          ],
          timezone: query.timezone,
        })
      : undefined;
  // Distinct counts cannot be added up, so names are joined late only if each group has exactly one id.
  const counted = new Set(
    measures.flatMap(({ definition }) => (ADDITIVE.has(definition.aggType) ? [] : [definition.distinct!])),
  );
  const distinct = counted.size === 1 && names.size === 0 ? [...counted][0] : undefined;
  const canJoinLate = names.size > 0 && (isAdditive || ids.every((id) => selected.has(id)));
  if (!rollup && !canJoinLate && !distinct) return null;
  if (names.size > 0 && !canJoinLate) return null;
  return {
    names,
    onNames,
    onRows,
    keys: [...keys].map(([id, column]) => ({ id, column })),
    measures,
    withPerks,
    rollup,
    distinct,
  };
}

function writeSplit(
  resolved: ResolvedQuery,
  plan: SplitPlan,
  options: CompileOptions,
): Omit<Statement, 'canUseRollup' | 'countsDistinct'> {
  const { query, cube, columns, resolve, account } = resolved;
  const { names, onNames, keys, measures, rollup } = plan;
  const segments =
    rollup && options.watermark
      ? segmentsOf(rangeOf(resolved, options.keptFrom), options.watermark, GRAIN_MS[rollup.grain])
      : null;
  // Without names, rollups and distinct counts, one level is enough.
  if (!segments?.fromRollup && names.size === 0 && !plan.distinct) return writePlain(resolved, options);
  const params = new Params();
  const accountParam = params.add(account);
  const sources = segments?.fromRollup
    ? [
        rollupGroups(resolved, plan, rollup!, segments.fromRollup, segments.raw, params),
        ...segments.raw.map((range) =>
          rawGroups(resolved, plan, params, () => rangeSql('e.occurred_at', range, params)),
        ),
      ]
    : [rawGroups(resolved, plan, params, () => inRange(resolved, params, options.keptFrom))];

  const keyAt = (id: string): string => `g.k${keys.findIndex((key) => key.id === id)}`;
  const sumAt = (name: string): string => {
    const at = measures.findIndex((measure) => measure.name === name);
    const { aggType, filter, bit, hasOnlyBit } = measures[at]!.definition;
    // A null value is not counted.
    if (plan.distinct && aggType === 'countDistinct') {
      if (!filter) return 'count(g.d)';
      const ofBit = hasOnlyBit ? `g.steps = ${bit}` : `g.steps & ${bit} <> 0`;
      return `count(g.d) filter (where ${bit ? ofBit : `g.m${at}`})`;
    }
    return aggType === 'sum' ? `sum(g.m${at})` : `coalesce(sum(g.m${at}), 0)::bigint`;
  };
  const select = columns.map((column) => {
    const member = resolve(pathOf(column));
    if (member.kind === 'measure') return overParts(column.name, member.definition, sumAt);
    return (member.definition.joins ?? []).some(isName) ? member.definition.sql : keyAt(column.key);
  });
  const context: FilterContext = {
    params,
    timezone: query.timezone,
    resolve,
    measureSql: (measure) => overParts(nameOf(cube, measure), measure, sumAt),
    ungrouped: false,
  };
  const groups = groupsOf(columns);
  return {
    text: [
      `select ${select.map((sql, index) => `${sql} as "${columns[index]!.alias}"`).join(',\n  ')}`,
      `from (\n${sources.join('\nunion all\n')}\n) g`,
      ...[...names].map(
        (name) => `  ${joinName(name, keyAt(`${cube.name}.${NAMES[name].key}`), accountParam)}`,
      ),
      ...clause('where', compileFilters(onNames, context)),
      ...(groups.length > 0 ? [`group by ${groups.join(', ')}`] : []),
      ...clause('having', compileFilters(resolved.having, context)),
    ].join('\n'),
    params: params.values,
    readsRollup: segments?.fromRollup != null,
  };
}

/** Writes the groups of raw rows in one time range. */
function rawGroups(
  resolved: ResolvedQuery,
  { keys, measures, onRows, withPerks, distinct }: SplitPlan,
  params: Params,
  timeSql: () => string[],
): string {
  const { query, cube, resolve } = resolved;
  const select = [
    ...keys.map(({ column }, at) => {
      const { definition } = resolve(pathOf(column)) as { definition: Dimension };
      return `${groupSql(column, definition, query.timezone)} as k${at}`;
    }),
    ...(distinct ? [`${distinct} as d`] : []),
  ];
  const groups = select.map((_, at) => at + 1);
  measures.forEach(({ name, definition: { aggType, filter, bit } }, at) => {
    if (!distinct || aggType !== 'countDistinct')
      select.push(`${measureSql(cube, name, withPerks)} as m${at}`);
    else if (filter && !bit) select.push(`bool_or(${filter}) as m${at}`);
  });
  if (distinct && measures.some(({ definition }) => definition.bit))
    select.push(`bit_or(${cube.step!}) as steps`);
  const context = { params, timezone: query.timezone, resolve, measureSql: () => '', ungrouped: false };
  return [
    `select ${select.join(', ')}`,
    `from tracking_events e${withPerks ? ` ${PERKS}` : ''}`,
    ...clause('where', [
      'e.account_id = $1',
      ...ofCube(resolved),
      ...timeSql(),
      ...compileFilters(onRows, context),
    ]),
    ...(groups.length > 0 ? [`group by ${groups.join(', ')}`] : []),
  ].join('\n');
}

/** Writes the rollup rows of a time range, except where raw rows are read. */
function rollupGroups(
  { query, cube, segments, resolve }: ResolvedQuery,
  { keys, measures, onRows }: SplitPlan,
  rollup: Rollup,
  fromRollup: TimeRange,
  raw: TimeRange[],
  params: Params,
): string {
  const time = `c.${rollup.grain}`;
  const select = [
    ...keys.map(({ column }, at) => {
      const sql = column.kind === 'timeDimension' ? time : rollup.dimensions[column.name]!;
      const type = column.kind === 'timeDimension' ? 'time' : 'string';
      return `${groupSql(column, { type, sql }, query.timezone)} as k${at}`;
    }),
    ...measures.map(({ name }, at) => `${rollupMeasure(rollup, cube, name, segments)} as m${at}`),
  ];
  const inside = raw.filter(([from, to]) => from >= fromRollup[0] && to <= fromRollup[1]);
  const context: FilterContext = {
    params,
    timezone: query.timezone,
    resolve: (path) => {
      const member = resolve(path);
      if (member.kind === 'measure') return member;
      return { ...member, definition: { ...member.definition, sql: rollup.dimensions[member.name]! } };
    },
    measureSql: () => '',
    ungrouped: false,
  };
  return [
    `select ${select.join(', ')}`,
    `from ${rollup.table} c`,
    ...clause('where', [
      'c.account_id = $1',
      ofTypes('c.type', cube),
      // Raw rows would have no group without people.
      ...(segments.length > 0 ? ['c.people > 0'] : []),
      ...rangeSql(time, fromRollup, params),
      ...inside.map((range) => `not (${rangeSql(time, range, params).join(' and ')})`),
      ...compileFilters(onRows, context),
    ]),
  ].join('\n');
}

const rangeSql = (sql: string, [from, to]: TimeRange, params: Params): string[] => {
  const instant = (at: number) => `${params.add(new Date(at).toISOString())}::timestamptz`;
  return [
    ...(Number.isFinite(from) ? [`${sql} >= ${instant(from)}`] : []),
    ...(Number.isFinite(to) ? [`${sql} < ${instant(to)}`] : []),
  ];
};

/** Returns the intersection of all time ranges of a query. */
function rangeOf({ query }: ResolvedQuery, keptFrom = -Infinity): TimeRange {
  const ranges = query.timeDimensions.flatMap(({ dateRange }) => (dateRange ? [dateRange] : []));
  const at = (stamp: string) => Date.parse(toInstant(stamp, query.timezone));
  return [
    Math.max(keptFrom, ...ranges.map(([from]) => at(from))),
    // Both ends are included, and times have millisecond precision.
    Math.min(Infinity, ...ranges.map(([, to]) => at(to) + 1)),
  ];
}
