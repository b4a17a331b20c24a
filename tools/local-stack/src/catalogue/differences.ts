import { isRecord } from '@perkway/domain';

const SHOWN = 60;
/** Lists whose order does not matter, or which the API sorts. */
const ORDERS: Record<string, (a: unknown, b: unknown) => number> = {
  categories: (a, b) => Number(a) - Number(b),
  groups: (a, b) => rankOf(a) - rankOf(b),
  perks: (a, b) => rankOf(a) - rankOf(b),
};
const rankOf = (value: unknown): number => Number((value as { rank?: unknown }).rank);
/** Members of responses that files do not have. */
const READ_ONLY = ['id', 'created_at', 'updated_at', 'inventories', 'email'];

/** Returns the differences between a stored resource and a body, one line each: `title: "Old" -> "New"`. */
export function differences(stored: Record<string, unknown>, wanted: Record<string, unknown>): string[] {
  const before = Object.fromEntries(Object.entries(stored).filter(([name]) => !READ_ONLY.includes(name)));
  return compare(before, wanted, '');
}

function compare(stored: unknown, wanted: unknown, path: string): string[] {
  if (isEmpty(stored) && isEmpty(wanted)) return [];
  if (Array.isArray(stored) && Array.isArray(wanted)) {
    const [before, after] = [inOrder(stored, path), inOrder(wanted, path)];
    const length = Math.max(before.length, after.length);
    return Array.from({ length }, (_, at) => compare(before[at], after[at], `${path}.${at}`)).flat();
  }
  if (isRecord(stored) && isRecord(wanted))
    return [...new Set([...Object.keys(stored), ...Object.keys(wanted)])].flatMap((name) => {
      // A group without an id gets one.
      if (name === 'id' && wanted[name] === undefined) return [];
      return compare(stored[name], wanted[name], path ? `${path}.${name}` : name);
    });
  if (sameText(stored, wanted, path)) return [];
  return [`${path}: ${show(stored)} -> ${show(wanted)}`];
}

/** Missing members are stored as one of these values. */
const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  value === false ||
  (Array.isArray(value) && value.length === 0) ||
  (isRecord(value) && Object.values(value).every(isEmpty)) ||
  // The default barcode of a product.
  value === 'text';

const inOrder = (values: unknown[], path: string): unknown[] => {
  const order = ORDERS[path.split('.').at(-1)!];
  return order ? [...values].sort(order) : values;
};

/** Group and pool ids, colors and origins are stored in lower case. */
const sameText = (stored: unknown, wanted: unknown, path: string): boolean =>
  stored === wanted ||
  (/(^|\.)(id|color|allowed_origins\.\d+)$/.test(path) &&
    String(stored).toLowerCase() === String(wanted).toLowerCase());

const show = (value: unknown): string => {
  const text = isEmpty(value) ? 'nothing' : JSON.stringify(value);
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
};
