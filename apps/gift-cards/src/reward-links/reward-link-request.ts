import {
  characters,
  ApiError,
  fitsCurrency,
  isCountry,
  isCurrency,
  isRecord,
  isStorableText,
  type ErrorCode,
} from '@perkway/domain';
import { hash } from 'node:crypto';
import { derivedId } from '../derived-id.js';

/** The body of generateRewardLink (specification section 4.4). */
export interface RewardLinkBody {
  denomination: number;
  currency: string;
  /** Unix seconds. The database's clock decides whether it is in the future. */
  expires_at: number;
  /** If missing, the link gets a card of the first country, in alphabetical order, that has one. */
  country?: string;
  /** Client-defined, like the next two: stored as it is, without a check that it exists. */
  campaign_id?: string;
  journey_id?: string;
  reference?: string;
}

/** The body of replaceRewardLink. */
export interface ReplacementBody {
  reason: string;
  /** Unix seconds. If missing, the new link is valid for as long as the original was. */
  expires_at?: number;
  /** Whether a link that was not revealed is cancelled and replaced. */
  cancel_unrevealed: boolean;
}

const MAX_CLIENT_FIELD = 255;
/** Client-defined fields, which may also be null, and the code of the error if one is invalid. */
const CLIENT_FIELDS = {
  campaign_id: 'CAMPAIGN_ID_INVALID',
  journey_id: 'JOURNEY_ID_INVALID',
  reference: 'REFERENCE_INVALID',
} as const satisfies Partial<Record<keyof RewardLinkBody, ErrorCode>>;
const CLIENT_FIELD_NAMES = Object.keys(CLIENT_FIELDS) as (keyof typeof CLIENT_FIELDS)[];

const isClientField = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && characters(value) <= MAX_CLIENT_FIELD && isStorableText(value);

/** Values from here on must be milliseconds that were sent by mistake. */
const EXPIRES_AT_LIMIT = 1e11;
const isExpiresAt = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) > 0 && (value as number) < EXPIRES_AT_LIMIT;
/** Limits the recursion. No valid body is nested nearly as deeply. */
const MAX_DEPTH = 32;

/** Returns EXPIRING_DATE_INVALID for this value of `expires_at`. @param maxDays MAX_LINK_DAYS */
export function expiryError(value: unknown, maxDays: number): ApiError {
  const hint = typeof value === 'number' && value >= EXPIRES_AT_LIMIT ? '; this looks like milliseconds' : '';
  return new ApiError(
    'EXPIRING_DATE_INVALID',
    `expires_at must be a whole number of Unix seconds, in the future and within ${maxDays} days${hint}`,
  );
}

/** Returns the validated body, or the error of its first invalid field. Ignores unknown members. */
export function parseBody(body: unknown, maxDays: number): RewardLinkBody | ApiError {
  if (!isRecord(body)) return new ApiError('VALIDATION_FAILED', 'The body must be a JSON object');
  const { denomination, currency, expires_at, country } = body;
  if (typeof denomination !== 'number' || !Number.isFinite(denomination) || denomination <= 0)
    return new ApiError('DENOMINATION_INVALID');
  if (!isCurrency(currency)) return new ApiError('CURRENCY_INVALID');
  if (!fitsCurrency(denomination, currency))
    return new ApiError('DENOMINATION_INVALID', `denomination has more decimals than ${currency}`);
  if (!isExpiresAt(expires_at)) return expiryError(expires_at, maxDays);
  if (country !== undefined && !isCountry(country)) return new ApiError('COUNTRY_INVALID');
  const read: RewardLinkBody = { denomination, currency, expires_at };
  if (country) read.country = country;
  for (const name of CLIENT_FIELD_NAMES) {
    const value = body[name];
    if (value === undefined || value === null) continue;
    if (!isClientField(value)) return new ApiError(CLIENT_FIELDS[name]);
    read[name] = value;
  }
  return read;
}

/** @throws VALIDATION_FAILED for an unknown member, REASON_INVALID, EXPIRING_DATE_INVALID */
export function parseReplacement(body: unknown, maxDays: number): ReplacementBody {
  if (!isRecord(body)) throw new ApiError('VALIDATION_FAILED', 'The body must be a JSON object');
  const { reason, expires_at, cancel_unrevealed, ...others } = body;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined)
    throw new ApiError('VALIDATION_FAILED', `${unknown.slice(0, MAX_CLIENT_FIELD)} is not a known member`);
  if (!isClientField(reason)) throw new ApiError('REASON_INVALID');
  if (![undefined, null, true, false].includes(cancel_unrevealed as boolean | null | undefined))
    throw new ApiError('VALIDATION_FAILED', 'cancel_unrevealed must be a boolean');
  const isLost = cancel_unrevealed === true;
  if (expires_at === undefined || expires_at === null) {
    // Cancelling moves the expiry of the original, so a repeated request would get another default.
    if (isLost) throw new ApiError('EXPIRING_DATE_INVALID', 'expires_at is required with cancel_unrevealed');
    return { reason, cancel_unrevealed: isLost };
  }
  if (!isExpiresAt(expires_at)) throw expiryError(expires_at, maxDays);
  return { reason, expires_at, cancel_unrevealed: isLost };
}

/** Returns JSON with sorted members. Numbers are already parsed, so `10` and `10.0` are the same. */
function canonical(value: unknown, depth = 0): string {
  if (depth > MAX_DEPTH) throw new ApiError('VALIDATION_FAILED', 'The body is nested too deeply');
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, depth + 1)).join(',')}]`;
  if (!isRecord(value)) return JSON.stringify(value) ?? 'null';
  const members = Object.keys(value)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonical(value[name], depth + 1)}`);
  return `{${members.join(',')}}`;
}

const withoutNulls = (body: Record<string, unknown>): Record<string, unknown> =>
  CLIENT_FIELD_NAMES.some((name) => body[name] === null)
    ? Object.fromEntries(
        Object.entries(body).filter(([name, value]) => value !== null || !Object.hasOwn(CLIENT_FIELDS, name)),
      )
    : body;

/**
 * Returns a SHA-256 digest, in hex, of everything that must be equal in a repeated request: the pool and the whole
 * body, including unknown members. Null for a client-defined field counts as missing.
 *
 * @throws VALIDATION_FAILED for a body that is nested too deeply
 */
export const requestDigest = (poolId: string, body: unknown): string =>
  hash('sha256', `${poolId.toLowerCase()}\n${canonical(isRecord(body) ? withoutNulls(body) : body)}`);

/** Returns the id of the link that an account gets for an idempotency key. */
export const rewardLinkId = (account: string, idempotencyKey: string): string =>
  derivedId('reward-link', account, idempotencyKey.toLowerCase());
