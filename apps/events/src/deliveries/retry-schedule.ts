const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const DELAYS_MS = [
  5 * SECOND,
  30 * SECOND,
  2 * MINUTE,
  10 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  10 * HOUR,
];
const JITTER = 0.2;
const MAX_RETRY_AFTER_MS = 24 * HOUR;

/** Maximum number of attempts of one delivery. */
export const MAX_ATTEMPTS = DELAYS_MS.length + 1;

/**
 * Returns the delay after a failed attempt in milliseconds, or undefined after the last attempt.
 *
 * @param attempts made so far, 1 or more
 * @param retryAfter the delay that the receiver asked for, in milliseconds
 * @param random from 0 to below 1
 */
export function retryDelay(attempts: number, retryAfter: number, random: number): number | undefined {
  const delay = DELAYS_MS[attempts - 1];
  if (delay === undefined) return undefined;
  return Math.max(Math.round(delay * (1 + JITTER * random)), Math.min(retryAfter, MAX_RETRY_AFTER_MS));
}

/** Returns the header `Retry-After`, which is seconds or an HTTP date, as milliseconds from now; 0 if it is invalid. */
export function parseRetryAfter(header: string | undefined, nowMs: number): number {
  if (header === undefined) return 0;
  const delay = /^\s*\d+\s*$/.test(header) ? Number(header) * SECOND : Date.parse(header) - nowMs;
  return delay > 0 ? delay : 0;
}
