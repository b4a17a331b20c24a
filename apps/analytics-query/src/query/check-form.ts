import { isRecord } from '@perkway/domain';
import { OPERATORS, type Filter, type Query } from './query.js';
import { queryError } from './query-error.js';
import { canonicalTimezone } from './timezone.js';

/** Checks one value; `label` is its path in the error message. */
type Check = (value: unknown, label: string) => void;

const refuse = (reason: string) => queryError(`Invalid query format: ${reason}`);
const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

const MEMBER = /^[a-zA-Z0-9_]+\.[a-zA-Z0-9_]+$/;
const DIMENSION = /^[a-zA-Z0-9_]+\.[a-zA-Z0-9_]+(\.[a-zA-Z0-9_]+)?$/;
const ORDERED = /^[a-zA-Z0-9_]+(\.[a-zA-Z0-9_]+){0,2}$/;
/** Far more than dashboards need; check-size.ts limits the total of all queries in a request. */
const MAX_ITEMS = 1_000;
const MAX_VALUES = 50_000;
/** Maximum length of a filter value. No stored value is longer, except `cmeta`, all attributes as one text. */
const MAX_LENGTH = 4_000;
const MAX_DEPTH = 20;

const string: Check = (value, label) => {
  if (typeof value !== 'string') throw refuse(`"${label}" must be a string`);
  if (value === '') throw refuse(`"${label}" is not allowed to be empty`);
};
const matching =
  (pattern: RegExp): Check =>
  (value, label) => {
    string(value, label);
    if (!pattern.test(value as string))
      throw refuse(
        `"${label}" with value "${value as string}" fails to match the required pattern: ${pattern}`,
      );
  };
const boolean: Check = (value, label) => {
  // Queries built from a URL contain strings.
  if (typeof value !== 'boolean' && !(typeof value === 'string' && /^(true|false)$/i.test(value)))
    throw refuse(`"${label}" must be a boolean`);
};
const oneOf =
  (allowed: readonly string[]): Check =>
  (value, label) => {
    if (!allowed.includes(value as string)) throw refuse(`"${label}" must be one of [${allowed.join(', ')}]`);
  };
const count: Check = (value, label) => {
  if (typeof value !== 'number' || Number.isNaN(value)) throw refuse(`"${label}" must be a number`);
  if (!Number.isInteger(value)) throw refuse(`"${label}" must be an integer`);
  if (value < 0) throw refuse(`"${label}" must be greater than or equal to 0`);
  if (!Number.isSafeInteger(value)) throw refuse(`"${label}" must be a safe number`);
};
const list =
  (item: Check, { min = 0, max = MAX_ITEMS } = {}): Check =>
  (value, label) => {
    if (!Array.isArray(value)) throw refuse(`"${label}" must be an array`);
    if (value.length < min) throw refuse(`"${label}" must contain at least ${min} items`);
    if (value.length > max) throw refuse(`"${label}" must contain less than or equal to ${max} items`);
    value.forEach((each, index) => item(each, `${label}[${index}]`));
  };
const object =
  (members: Record<string, Check>, required: string[] = []): Check =>
  (value, label) => {
    if (!isRecord(value)) throw refuse(`"${label}" must be of type object`);
    const path = (name: string) => (label === 'value' ? name : `${label}.${name}`);
    for (const name of required) if (value[name] === undefined) throw refuse(`"${path(name)}" is required`);
    for (const name of Object.keys(value)) {
      const each = value[name];
      if (each === undefined) continue;
      const check = Object.hasOwn(members, name) ? members[name] : undefined;
      if (!check) throw refuse(`"${path(name)}" is not allowed`);
      check(each, path(name));
    }
  };

const dateRange: Check = (value, label) => {
  if (typeof value === 'string') return string(value, label);
  if (!Array.isArray(value)) throw refuse(`"${label}" must be one of [array, string]`);
  list(string, { min: 1, max: 2 })(value, label);
};

const timeDimension: Check = (value, label) => {
  object(
    {
      dimension: matching(MEMBER),
      granularity: string,
      dateRange,
      compareDateRange: list(dateRange, { min: 1, max: 50 }),
    },
    ['dimension'],
  )(value, label);
  const { dateRange: range, compareDateRange: compared } = value as Record<string, unknown>;
  if (range !== undefined && compared !== undefined)
    throw refuse(
      `"${label}" contains a conflict between optional exclusive peers [dateRange, compareDateRange]`,
    );
};

const filterValue: Check = (value, label) => {
  if (value !== null && !['string', 'number', 'boolean'].includes(typeof value))
    throw refuse(`"${label}" must be one of [string, number, boolean]`);
  if (typeof value === 'string' && value.length > MAX_LENGTH)
    throw refuse(`"${label}" length must be less than or equal to ${MAX_LENGTH} characters long`);
};

const filterAt =
  (depth: number): Check =>
  (value, label) => {
    if (depth > MAX_DEPTH) throw refuse(`"${label}" is nested too deeply`);
    if (!isRecord(value)) throw refuse(`"${label}" must be of type object`);
    if ('and' in value || 'or' in value) {
      object({ and: list(filterAt(depth + 1)), or: list(filterAt(depth + 1)) })(value, label);
      if (value.and !== undefined && value.or !== undefined)
        throw refuse(`"${label}" contains a conflict between exclusive peers [or, and]`);
      return;
    }
    object(
      {
        member: matching(MEMBER),
        dimension: matching(MEMBER),
        operator: oneOf(OPERATORS),
        values: list(filterValue, { max: MAX_VALUES }),
      },
      ['operator'],
    )(value, label);
    const named = [value.member, value.dimension].filter((name) => name !== undefined).length;
    if (named === 0) throw refuse(`"${label}" must contain at least one of [dimension, member]`);
    if (named === 2)
      throw refuse(`"${label}" contains a conflict between exclusive peers [dimension, member]`);
  };

const order: Check = (value, label) => {
  const direction = oneOf(['asc', 'desc']);
  if (Array.isArray(value))
    return list((item, at) => {
      if (!Array.isArray(item)) throw refuse(`"${at}" must be an array`);
      if (item.length !== 2) throw refuse(`"${at}" must contain 2 items`);
      matching(ORDERED)(item[0], `${at}[0]`);
      direction(item[1], `${at}[1]`);
    })(value, label);
  if (!isRecord(value)) throw refuse(`"${label}" must be one of [object, array]`);
  const names = Object.keys(value);
  if (names.length > MAX_ITEMS)
    throw refuse(`"${label}" must contain less than or equal to ${MAX_ITEMS} items`);
  for (const name of names) {
    if (!ORDERED.test(name)) throw refuse(`"${label}.${name}" is not allowed`);
    direction(value[name], `${label}.${name}`);
  }
};

const timezone: Check = (value, label) => {
  string(value, label);
  if (!canonicalTimezone(value as string))
    throw refuse(`"${label}" must be a valid IANA time zone, got "${shown(value)}"`);
};

const cacheMode = oneOf(['stale-if-slow', 'stale-while-revalidate', 'must-revalidate', 'no-cache']);

const query = object({
  measures: list(matching(MEMBER)),
  dimensions: list(matching(DIMENSION)),
  segments: list(matching(MEMBER)),
  filters: list(filterAt(1)),
  timeDimensions: list(timeDimension),
  order,
  timezone,
  limit: count,
  offset: count,
  total: boolean,
  ungrouped: boolean,
  responseFormat: oneOf(['default', 'compact', 'columnar']),
  cache: cacheMode,
  cacheMode,
  // Sent by older clients. Ignored: responses are never cached.
  renewQuery: boolean,
});

/** Counts filters in groups too: each needs parameters, and a statement has at most 65,535. */
const countFilters = (filters: Filter[]): number =>
  filters.reduce((sum, { and, or }) => sum + (and || or ? countFilters((and ?? or)!) : 1), 0);

/** Validates the form of one query, with the error messages of the Cube gateway. */
export function checkForm(value: unknown): Query {
  query(value, 'value');
  if (countFilters((value as Query).filters ?? []) > MAX_ITEMS)
    throw refuse(`"filters" must contain less than or equal to ${MAX_ITEMS} filters in all`);
  return value as Query;
}
