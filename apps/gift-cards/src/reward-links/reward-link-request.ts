import {
  characters,
  DomainError,
  fitsCurrency,
  isCountry,
  isCurrency,
  isRecord,
  isStorableText,
  type ErrorCode,
} from '@perkway/domain';
import { hash } from 'node:crypto';

/** The body of generateRewardLink (specification section 4.4). */
export interface RewardLinkBody {
  denomination: number;
  currency: string;
  /** Unix seconds. Whether it lies in the future is decided by the database's clock. */
  expires_at: number;
  /** Without it the first country, in alphabetical order, that has a card. */
  country?: string;
  /** The client's own: nobody checks that they exist. */
  campaign_id?: string;
  journey_id?: string;
  reference?: string;
}

const MAX_OWN_TEXT = 255;
/** Texts of the client's own, which may also be null, and what a wrong one is called. */
const OWN_TEXTS = {
  campaign_id: 'CAMPAIGN_ID_INVALID',
  journey_id: 'JOURNEY_ID_INVALID',
  reference: 'REFERENCE_INVALID',
} as const satisfies Partial<Record<keyof RewardLinkBody, ErrorCode>>;
const OWN_NAMES = Object.keys(OWN_TEXTS) as (keyof typeof OWN_TEXTS)[];

const isOwnText = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && characters(value) <= MAX_OWN_TEXT && isStorableText(value);

/** From here on it is milliseconds that somebody took for seconds. */
const EXPIRES_AT_LIMIT = 1e11;
/** A body that means anything has no depth at all. */
const MAX_DEPTH = 32;

/** The body, or what is wrong with its first wrong field. Unknown members are ignored. */
export function parseBody(body: unknown): RewardLinkBody | DomainError {
  if (!isRecord(body)) return new DomainError('VALIDATION_FAILED', 'The body must be a JSON object');
  const { denomination, currency, expires_at, country } = body;
  if (typeof denomination !== 'number' || !Number.isFinite(denomination) || denomination <= 0)
    return new DomainError('DENOMINATION_INVALID');
  if (!isCurrency(currency)) return new DomainError('CURRENCY_INVALID');
  if (!fitsCurrency(denomination, currency))
    return new DomainError('DENOMINATION_INVALID', `denomination has more decimals than ${currency}`);
  if (
    !Number.isInteger(expires_at) ||
    (expires_at as number) <= 0 ||
    (expires_at as number) >= EXPIRES_AT_LIMIT
  )
    return new DomainError('EXPIRING_DATE_INVALID');
  if (country !== undefined && !isCountry(country)) return new DomainError('COUNTRY_INVALID');
  const read: RewardLinkBody = { denomination, currency, expires_at: expires_at as number };
  if (country) read.country = country;
  for (const name of OWN_NAMES) {
    const value = body[name];
    if (value === undefined || value === null) continue;
    if (!isOwnText(value)) return new DomainError(OWN_TEXTS[name]);
    read[name] = value;
  }
  return read;
}

/** JSON with its members in one order. Numbers are values by now, so `10` and `10.0` read the same. */
function canonical(value: unknown, depth = 0): string {
  if (depth > MAX_DEPTH) throw new DomainError('VALIDATION_FAILED', 'The body is nested too deeply');
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, depth + 1)).join(',')}]`;
  if (!isRecord(value)) return JSON.stringify(value) ?? 'null';
  const members = Object.keys(value)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonical(value[name], depth + 1)}`);
  return `{${members.join(',')}}`;
}

const withoutNulls = (body: Record<string, unknown>): Record<string, unknown> =>
  OWN_NAMES.some((name) => body[name] === null)
    ? Object.fromEntries(
        Object.entries(body).filter(([name, value]) => value !== null || !Object.hasOwn(OWN_TEXTS, name)),
      )
    : body;

/**
 * What must be the same for a request to be a replay: the pool and the whole body, also members that mean nothing here
 * (a caller who sends something else wants something else). Null for a text of the client's own is the same as none.
 * Hex of SHA-256.
 *
 * @throws VALIDATION_FAILED for a body nested beyond all sense
 */
export const requestDigest = (poolId: string, body: unknown): string =>
  hash('sha256', `${poolId.toLowerCase()}\n${canonical(isRecord(body) ? withoutNulls(body) : body)}`);

/**
 * The id of the link that an account gets for an idempotency key: a UUID (version 8) from their hash, so that the
 * primary key of the links decides whether a request was made before.
 */
export function rewardLinkId(account: string, idempotencyKey: string): string {
  const digest = hash('sha256', `reward-link\0${account}\0${idempotencyKey.toLowerCase()}`);
  const variant = ((Number.parseInt(digest[16]!, 16) & 0x3) | 0x8).toString(16);
  return [
    digest.slice(0, 8),
    digest.slice(8, 12),
    `8${digest.slice(13, 16)}`,
    `${variant}${digest.slice(17, 20)}`,
    digest.slice(20, 32),
  ].join('-');
}
