import { parseUrl } from './parse-url.js';

/** Members that hold secrets, at any depth. */
const SECRETS = /^(?:key|api_?key|token|reward_link|codes?|pin|pins|secret|coupon)$/i;

/** Members that identify recipients. Log rows are permanent, so an erasure could not remove them later. */
const PERSONAL = /^(?:journey_?id|customer_?id|references?)$/i;

/** Removes secrets and the identifiers of recipients. */
export function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !SECRETS.test(name) && !PERSONAL.test(name))
      .map(([name, member]) => [
        name,
        name.toLowerCase() === 'url' ? originOf(member) : withoutSecrets(member),
      ]),
  );
}

/** Returns the origin of a URL without the rest, which may contain a secret. */
const originOf = (url: unknown): string | null =>
  typeof url === 'string' ? (parseUrl(url)?.origin ?? null) : null;
