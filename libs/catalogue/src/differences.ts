import { isRecord } from '@perkway/domain/is-record';

/** Lists whose order does not matter, or which the API sorts. */
const ORDERS: Record<string, (a: unknown, b: unknown) => number> = {
  categories: (a, b) => Number(a) - Number(b),
  groups: (a, b) => rankOf(a) - rankOf(b),
  perks: (a, b) => rankOf(a) - rankOf(b),
};
const rankOf = (value: unknown): number => Number((value as { rank?: unknown }).rank);
/** Members of responses that do not come from the body of the PUT. */
const READ_ONLY = ['id', 'created_at', 'updated_at', 'inventories', 'email'];

export interface Difference {
  /** Path of the member, such as `groups.0.name`. */
  at: string;
  before: unknown;
  after: unknown;
}

/**
 * Compares a stored resource with a body or with its later version, member by member. Missing members equal empty ones;
 * `READ_ONLY` members do not count.
 */
export const differences = (stored: unknown, wanted: unknown): Difference[] =>
  compare(withoutReadOnly(stored), withoutReadOnly(wanted), '');

const withoutReadOnly = (resource: unknown): unknown =>
  isRecord(resource)
    ? Object.fromEntries(Object.entries(resource).filter(([name]) => !READ_ONLY.includes(name)))
    : resource;

function compare(stored: unknown, wanted: unknown, at: string): Difference[] {
  if (isEmpty(stored, at) && isEmpty(wanted, at)) return [];
  if (holdsRecords(stored) || holdsRecords(wanted)) {
    const [before, after] = [inOrder(stored, at), inOrder(wanted, at)];
    const length = Math.max(before.length, after.length);
    return Array.from({ length }, (_, index) =>
      compare(before[index], after[index], `${at}.${index}`),
    ).flat();
  }
  if (isRecord(stored) || isRecord(wanted)) {
    const [before, after] = [isRecord(stored) ? stored : {}, isRecord(wanted) ? wanted : {}];
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((name) => {
      // A group without an id gets one.
      if (name === 'id' && after[name] === undefined) return [];
      return compare(before[name], after[name], at ? `${at}.${name}` : name);
    });
  }
  return isSame(stored, wanted, at) ? [] : [{ at, before: stored, after: wanted }];
}

/** Returns whether the value equals a missing member. */
const isEmpty = (value: unknown, at: string): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  value === false ||
  (Array.isArray(value) && value.length === 0) ||
  (isRecord(value) && Object.entries(value).every(([name, member]) => isEmpty(member, `${at}.${name}`))) ||
  // The default `code_format` of a product.
  (value === 'text' && at.endsWith('code_format'));

const holdsRecords = (value: unknown): boolean => Array.isArray(value) && value.some(isRecord);

const inOrder = (values: unknown, at: string): unknown[] => {
  if (!Array.isArray(values)) return [];
  const order = ORDERS[at.split('.').at(-1)!];
  return order ? values.toSorted(order) : values;
};

/** Group and pool ids, colors and origins are stored in lower case. */
const LOWER_CASE = /(^|\.)(id|color|allowed_origins)$/;

function isSame(stored: unknown, wanted: unknown, at: string): boolean {
  if (Array.isArray(stored) && Array.isArray(wanted)) {
    const [before, after] = [inOrder(stored, at), inOrder(wanted, at)];
    return before.length === after.length && before.every((value, index) => isSame(value, after[index], at));
  }
  return (
    stored === wanted ||
    (LOWER_CASE.test(at) && String(stored).toLowerCase() === String(wanted).toLowerCase())
  );
}
