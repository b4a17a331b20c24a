import { DomainError, type ErrorCode } from '@perkway/domain';
import { isDeepStrictEqual } from 'node:util';
import { requireMatch } from './etag.js';

/** When something was made and last changed: ISO 8601, UTC. */
export interface Times {
  created_at: string;
  updated_at: string;
}
export type Settings<Stored extends Times> = Omit<Stored, keyof Times>;

export interface RowTimes {
  created_at: Date;
  updated_at: Date;
}

/** Of a row as the answer has them. */
export const timesOf = ({ created_at, updated_at }: RowTimes): Times => ({
  created_at: created_at.toISOString(),
  updated_at: updated_at.toISOString(),
});

/**
 * Makes or replaces something, unless it is that already. The caller sees to it that nobody else writes it meanwhile.
 *
 * @param find what is stored now
 * @param write stores what is wanted with these times
 * @throws DomainError PRECONDITION_FAILED
 */
export async function putStored<Stored extends Times>(
  ifMatch: string | undefined,
  wanted: Settings<Stored>,
  find: () => Promise<Stored | undefined>,
  write: (times: RowTimes, current: Stored | undefined) => Promise<void>,
): Promise<Stored> {
  const current = await find();
  requireMatch(ifMatch, current);
  if (current && isDeepStrictEqual(settingsOf(current), wanted)) return current;
  const updated_at = nextTime(current);
  const created_at = current ? new Date(current.created_at) : updated_at;
  await write({ created_at, updated_at }, current);
  return (await find())!;
}

/** @throws DomainError `notFound` */
export function requireFound<Stored>(stored: Stored | undefined, notFound: ErrorCode): Stored {
  if (!stored) throw new DomainError(notFound);
  return stored;
}

/** @throws DomainError `notFound`, PRECONDITION_FAILED */
export function requireDeletable<Stored extends Times>(
  ifMatch: string | undefined,
  current: Stored | undefined,
  notFound: ErrorCode,
): Stored {
  const found = requireFound(current, notFound);
  requireMatch(ifMatch, found);
  return found;
}

function settingsOf<Stored extends Times>({
  created_at: _created,
  updated_at: _updated,
  ...settings
}: Stored): Settings<Stored> {
  return settings;
}

/** Later than the last change, whatever the clock of this replica says: what is changed back gets another tag too. */
const nextTime = (current: Times | undefined): Date =>
  new Date(Math.max(Date.now(), current ? Date.parse(current.updated_at) + 1 : 0));
