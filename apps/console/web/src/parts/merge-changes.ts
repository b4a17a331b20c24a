import { isRecord } from '@perkway/domain/is-record';

/**
 * Applies the changes that lead from `before` to `mine` to `theirs`. Members of records are merged one by one; a list is one
 * value. If both changed a value, mine wins.
 */
export function mergeChanges(before: unknown, mine: unknown, theirs: unknown): unknown {
  if (isRecord(before) && isRecord(mine) && isRecord(theirs)) {
    const names = new Set([...Object.keys(theirs), ...Object.keys(mine)]);
    return Object.fromEntries(
      [...names].map((name) => [name, mergeChanges(before[name], mine[name], theirs[name])]),
    );
  }
  return JSON.stringify(mine) === JSON.stringify(before) ? theirs : mine;
}
