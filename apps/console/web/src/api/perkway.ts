import { createPerkway, PerkwayError, type Call } from '@perkway/client';
import { texts } from '../texts';
import { ApiError, reportSignedOut } from './http';

const TIMEOUT_MS = 60_000;
const hostOf = (name: string) => `${location.origin}/api/${name}`;

/** The typed client. Its requests go through the console, which replaces this API key with that of the session. */
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
  // React Query retries reads.
  tries: 1,
});

/** Whether the message is readable text. A response with only a code, and no detail, has the code as its message. */
const isForPeople = ({ code, message }: PerkwayError) => message !== code && code !== 'UNEXPECTED_ANSWER';

/** Awaits a call. @throws ApiError in words for people */
export async function responseOf<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof PerkwayError)) throw error;
    if (error.status === undefined) throw new ApiError(0, 'NO_RESPONSE', texts.errors.noResponse);
    if (error.status === 401) reportSignedOut();
    throw new ApiError(
      error.status,
      error.code,
      texts.errors.byCode[error.code] ??
        (isForPeople(error) ? error.message : texts.errors.unexpected(error.status)),
      error.requestId,
      Number(error.headers?.get('retry-after')) || undefined,
      error.errors,
      error.message,
    );
  }
}

/** A stored resource and its ETag, which an update must send as `If-Match`. */
export interface Stored<T> {
  body: T;
  etag: string | null;
}

/** Awaits a call that reads or writes a resource. @throws ApiError in words for people */
export async function storedOf<T>(call: Call<T>): Promise<Stored<T>> {
  const { data, headers } = await responseOf(call.withResponse());
  return { body: data, etag: headers.get('etag') };
}

/** Returns null if the resource does not exist. @throws ApiError in words for people */
export async function storedIfFound<T>(call: Call<T>): Promise<Stored<T> | null> {
  try {
    return await storedOf(call);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}

/** Reads all pages of a list, up to as many items as a screen can show. */
export async function allOf<T>(list: AsyncIterable<T>, atMost = 2_000): Promise<T[]> {
  const items: T[] = [];
  const read = async () => {
    for await (const item of list) if (items.push(item) >= atMost) break;
    return items;
  };
  return responseOf(read());
}
