/** Ids that callers give (accounts, collections, perks, campaigns): case-sensitive, 1 to 100 characters. */
const CALLER_ID = /^[A-Za-z0-9._-]{1,100}$/;
export const CALLER_ID_PATTERN = CALLER_ID.source;
export const CALLER_ID_FORM = 'must have 1 to 100 characters of A-Z a-z 0-9 . _ -';
export const isCallerId = (value: unknown): value is string =>
  typeof value === 'string' && CALLER_ID.test(value);

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** Accepts any version of UUID, in any case. */
export const isUuid = (value: unknown): value is string => typeof value === 'string' && UUID.test(value);

const API_KEY = /^[A-Za-z0-9_-]{16,128}$/;
export const API_KEY_PATTERN = API_KEY.source;
export const API_KEY_FORM = 'must have 16 to 128 characters of A-Z a-z 0-9 _ -';
/** Checks the form of an API key. Keys are case-insensitive: they are lower-cased before they are hashed. */
export const isApiKey = (value: unknown): value is string => typeof value === 'string' && API_KEY.test(value);

export const MAX_JOURNEY_ID_LENGTH = 255;

/** Counts characters as code points, as a caller would, not UTF-16 units. */
export const characters = (value: string): number => {
  let count = 0;
  for (const _ of value) count += 1;
  return count;
};

/** Returns whether Postgres can store the text and JSON can carry it: no NUL, no lone surrogate. */
export const isStorableText = (value: string): boolean => !value.includes('\0') && value.isWellFormed();
