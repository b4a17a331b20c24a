import { isRecord } from '@perkway/domain/is-record';

/** A value that the other person changed. */
export interface TheirChange {
  /** Names of the members that lead to the value. */
  path: string[];
  before: unknown;
  mine: unknown;
  theirs: unknown;
}

export const isSame = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

/**
 * Returns what the other person changed and the user did not change to the same value. Members of records are compared
 * one by one; a list is one value.
 */
export function theirChanges(
  before: unknown,
  mine: unknown,
  theirs: unknown,
  path: string[] = [],
): TheirChange[] {
  if (isRecord(mine) && isRecord(theirs)) {
    const base = isRecord(before) ? before : {};
    return [...new Set([...Object.keys(theirs), ...Object.keys(mine)])].flatMap((name) =>
      theirChanges(base[name], mine[name], theirs[name], [...path, name]),
    );
  }
  return isSame(theirs, before) || isSame(theirs, mine) ? [] : [{ path, before, mine, theirs }];
}

export const valueAt = (record: unknown, path: string[]): unknown =>
  path.reduce((value, name) => (isRecord(value) ? value[name] : undefined), record);

export function withValue(record: unknown, [name, ...rest]: string[], value: unknown): unknown {
  if (name === undefined) return value;
  const { [name]: member, ...others } = isRecord(record) ? record : {};
  const changed = withValue(member, rest, value);
  // A removed member, such as a language, leaves no name behind.
  return changed === undefined ? others : { ...others, [name]: changed };
}
