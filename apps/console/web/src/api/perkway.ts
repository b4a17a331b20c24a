import { createPerkway, PerkwayError } from '@perkway/client';
import { texts } from '../texts';
import { ApiError, reportSignedOut } from './http';

const TIMEOUT_MS = 60_000;
const hostOf = (name: string) => `${location.origin}/api/${name}`;

/** The typed client, through the console, which puts the session's key in place of this one. */
export const perkway = createPerkway({
  apiKey: 'session',
  hosts: {
    perks: hostOf('perks'),
    boost: hostOf('boost'),
    gift: hostOf('gift'),
    token: hostOf('token'),
    query: hostOf('query'),
    events: hostOf('events'),
  },
  timeoutMs: TIMEOUT_MS,
  // The pages repeat reads by themselves.
  tries: 1,
});

/** Awaits a call. @throws ApiError in words for people */
export async function responseOf<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof PerkwayError)) throw error;
    if (error.status === undefined) throw new ApiError(0, 'NO_ANSWER', texts.errors.noResponse);
    if (error.status === 401) reportSignedOut();
    throw new ApiError(
      error.status,
      error.code,
      texts.errors.byCode[error.code] ?? error.message,
      error.requestId,
      undefined,
      error.errors,
      error.message,
    );
  }
}
