import type { Measure, Member } from '../model/model.js';
import { toInstant } from './date-range.js';
import type { Params } from './params.js';
import type { NormalizedFilter, NormalizedFilterTree, Operator } from './query.js';
import { queryError } from './query-error.js';

export interface FilterContext {
  params: Params;
  timezone: string;
  resolve: (path: string) => Member;
  measureSql: (measure: Measure) => string;
  ungrouped: boolean;
}

/** Returns one condition per filter; rows must meet all of them. */
export const compileFilters = (filters: NormalizedFilterTree[], context: FilterContext): string[] =>
  filters.map((filter) => compileTree(filter, context));

/** Returns the members that a filter names. */
export function membersOfFilter(filter: NormalizedFilterTree): string[] {
  const members: string[] = [];
  // One shared array: building one per level would copy members once per level of nesting.
  const collect = (each: NormalizedFilterTree): void => {
    if ('member' in each) members.push(each.member);
    else for (const inner of 'and' in each ? each.and : each.or) collect(inner);
  };
  collect(filter);
  return members;
}

type Clause = 'where' | 'having';

/** Conditions on dimensions, and `measureFilter`, filter rows; other conditions on measures filter groups. */
export function clauseOf(filter: NormalizedFilterTree, context: Pick<FilterContext, 'resolve'>): Clause {
  if ('member' in filter) {
    const { kind } = context.resolve(filter.member);
    return kind === 'measure' && filter.operator !== 'measureFilter' ? 'having' : 'where';
  }
  const clauses = new Set(('and' in filter ? filter.and : filter.or).map((each) => clauseOf(each, context)));
  if (clauses.size > 1)
    throw queryError(`You cannot use dimension and measure in same condition: ${JSON.stringify(filter)}`);
  return [...clauses][0]!;
}

function compileTree(filter: NormalizedFilterTree, context: FilterContext): string {
  if ('member' in filter) return compileFilter(filter, context);
  const [inner, word] = 'and' in filter ? [filter.and, ' and '] : [filter.or, ' or '];
  return `(${inner.map((each) => compileTree(each, context)).join(word)})`;
}

function compileFilter(filter: NormalizedFilter, context: FilterContext): string {
  const member = context.resolve(filter.member);
  const { operator, values = [] } = filter;
  if (operator === 'measureFilter') {
    if (member.kind !== 'measure') throw queryError(`'${member.name}' not found for path '${filter.member}'`);
    if (member.definition.hasOnlyBit)
      throw queryError(
        `No row tells whether '${filter.member}' counts it, so measureFilter cannot select its rows`,
      );
    return member.definition.filter ?? 'true';
  }
  if (member.kind === 'measure' && context.ungrouped)
    throw queryError('Filters on measures need a grouped query');
  const type = member.kind === 'measure' ? 'number' : member.definition.type;
  const sql = member.kind === 'measure' ? context.measureSql(member.definition) : member.definition.sql;
  return `(${OPERATIONS[operator]({ filter, sql, type, values, context })})`;
}

interface Operand {
  filter: NormalizedFilter;
  sql: string;
  type: 'string' | 'number' | 'time';
  values: (string | null)[];
  context: FilterContext;
}
type Operation = (operand: Operand) => string;

const SQL_TYPES = { string: 'text', number: 'numeric', time: 'timestamptz' } as const;

/** A single value as a typed parameter. */
const scalar = ({ context, type }: Operand, value: string): string =>
  `${context.params.add(type === 'time' ? instant(value, context) : value)}::${SQL_TYPES[type]}`;
const list = ({ context, type, filter }: Operand, values: string[]): string => {
  const given = () => (type === 'time' ? values.map((value) => instant(value, context)) : values);
  return `${context.params.addOnce(filter, given)}::${SQL_TYPES[type]}[]`;
};
const instant = (value: string, { timezone }: FilterContext): string => toInstant(value, timezone);

const present = ({ values }: Operand): string[] => values.filter((value) => value !== null);

const equals: Operation = (operand) => {
  const { sql, values } = operand;
  const given = present(operand);
  const isAny =
    given.length === 0
      ? []
      : [
          given.length === 1
            ? `${sql} = ${scalar(operand, given[0]!)}`
            : `${sql} = any(${list(operand, given)})`,
        ];
  return [...isAny, ...(given.length < values.length ? [`${sql} is null`] : [])].join(' or ');
};

const notEquals: Operation = (operand) => {
  const { sql, values } = operand;
  const given = present(operand);
  if (given.length === 0) return `${sql} is not null`;
  const isNone =
    given.length === 1 ? `${sql} <> ${scalar(operand, given[0]!)}` : `${sql} <> all(${list(operand, given)})`;
  // If null is among the values, rows without a value are excluded too.
  return given.length < values.length ? `${isNone} and ${sql} is not null` : `${isNone} or ${sql} is null`;
};

const asText = ({ sql, type }: Operand): string => (type === 'string' ? sql : `(${sql})::text`);
/** Without a regular expression, which takes four times as long: one request may have 500,000 of these characters. */
const escapeLike = (value: string): string =>
  ['\\', '_', '%'].reduce((escaped, special) => escaped.split(special).join(`\\${special}`), value);

const like =
  (before: string, after: string): Operation =>
  (operand) => {
    const { sql, values, context, filter } = operand;
    const given = present(operand);
    const patterns = () => given.map((value) => before + escapeLike(value) + after);
    const matches =
      given.length > 0
        ? [`${asText(operand)} ilike any(${context.params.addOnce(filter, patterns)}::text[])`]
        : [];
    return [...matches, ...(given.length < values.length ? [`${sql} is null`] : [])].join(' or ');
  };
const notLike =
  (before: string, after: string): Operation =>
  (operand) => {
    const { sql, values, context, filter } = operand;
    const given = present(operand);
    if (given.length === 0) return `${sql} is not null`;
    const patterns = () => given.map((value) => before + escapeLike(value) + after);
    const isNone = `${asText(operand)} not ilike all(${context.params.addOnce(filter, patterns)}::text[])`;
    return given.length < values.length ? `${isNone} and ${sql} is not null` : `${isNone} or ${sql} is null`;
  };

const compare =
  (comparison: string): Operation =>
  (operand) => {
    const [first] = operand.values;
    if (typeof first !== 'string')
      throw queryError(`Values required for filter: ${JSON.stringify(operand.filter)}`);
    return `${operand.sql} ${comparison} ${scalar(operand, first)}`;
  };

function requireTime({ type, filter }: Operand): void {
  if (type !== 'time')
    throw queryError(`Operator ${filter.operator} needs a time dimension, ${filter.member} is not one`);
}

const date =
  (comparison: string): Operation =>
  (operand) => {
    requireTime(operand);
    return compare(comparison)(operand);
  };

/** Both ends are included; a bare date as `to` means the end of its day. */
const dateRange =
  (write: (sql: string, from: string, to: string) => string): Operation =>
  (operand) => {
    requireTime(operand);
    const [from, to = from] = operand.values;
    if (typeof from !== 'string' || typeof to !== 'string')
      throw queryError(`Values required for filter: ${JSON.stringify(operand.filter)}`);
    const end = /^\d{4}-\d{2}-\d{2}$/.test(to) ? `${to}T23:59:59.999` : to;
    return write(operand.sql, scalar(operand, from), scalar(operand, end));
  };
const inRange = dateRange((sql, from, to) => `${sql} >= ${from} and ${sql} <= ${to}`);

const OPERATIONS: Record<Exclude<Operator, 'measureFilter'>, Operation> = {
  equals,
  in: equals,
  notEquals,
  notIn: notEquals,
  contains: like('%', '%'),
  startsWith: like('', '%'),
  endsWith: like('%', ''),
  notContains: notLike('%', '%'),
  notStartsWith: notLike('', '%'),
  notEndsWith: notLike('%', ''),
  gt: compare('>'),
  gte: compare('>='),
  lt: compare('<'),
  lte: compare('<='),
  set: ({ sql }) => `${sql} is not null`,
  notSet: ({ sql }) => `${sql} is null`,
  inDateRange: inRange,
  onTheDate: inRange,
  notInDateRange: dateRange((sql, from, to) => `${sql} < ${from} or ${sql} > ${to} or ${sql} is null`),
  beforeDate: date('<'),
  beforeOrOnDate: date('<='),
  afterDate: date('>'),
  afterOrOnDate: date('>='),
};
