import { ApiError, type ErrorCode } from '@perkway/domain';
import { isDeepStrictEqual } from 'node:util';
import { requireMatch } from './etag.js';

/** Times of creation and last change: ISO 8601, UTC. */
export interface Times {
  created_at: string;
  updated_at: string;
}
export type Settings<Stored extends Times> = Omit<Stored, keyof Times>;

export interface RowTimes {
  created_at: Date;
  updated_at: Date;
}

/** Returns the times of a row, as in responses. */
export const timesOf = ({ created_at, updated_at }: RowTimes): Times => ({
  created_at: created_at.toISOString(),
  updated_at: updated_at.toISOString(),
});

/**
 * Creates or replaces a resource; does nothing if it already has these settings. The caller must exclude concurrent
 * writers.
 *
 * @param find returns the stored resource
 * @param write stores the wanted settings with these times
 * @throws ApiError PRECONDITION_FAILED
 */
export async function upsertResource<Stored extends Times>(
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

/** @throws ApiError `notFound` */
export function requireFound<Stored>(stored: Stored | undefined, notFound: ErrorCode): Stored {
  if (!stored) throw new ApiError(notFound);
  return stored;
}

/** @throws ApiError `notFound`, PRECONDITION_FAILED */
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

/**
 * Always later than the last change, whatever this replica's clock says, so that reverting a change gives a new ETag,
 * too.
 */
const nextTime = (current: Times | undefined): Date =>
  new Date(Math.max(Date.now(), current ? Date.parse(current.updated_at) + 1 : 0));
