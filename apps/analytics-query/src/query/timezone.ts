import { LRUCache } from 'lru-cache';

const SHAPE = /^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+)*$/;

/** Looking up a time zone takes as long as the rest of parsing a query. */
const known = new LRUCache<string, { name: string | null }>({ max: 2_000 });

/**
 * Returns the name of an IANA time zone given in any case, or null if it is unknown. The case of canonical names is
 * corrected. A link (such as `Asia/Kolkata`) is not resolved: a name in mixed case is returned unchanged, and the case
 * of any other is guessed.
 */
export function canonicalTimezone(given: string): string | null {
  if (given.length > 64 || !SHAPE.test(given)) return null;
  let found = known.get(given);
  if (!found) known.set(given, (found = { name: findTimezone(given) }));
  return found.name;
}

function findTimezone(given: string): string | null {
  let resolved: string;
  try {
    resolved = new Intl.DateTimeFormat('en', { timeZone: given }).resolvedOptions().timeZone;
  } catch {
    return null;
  }
  if (resolved.toLowerCase() === given.toLowerCase()) return resolved;
  if (/[A-Z]/.test(given) && /[a-z]/.test(given)) return given;
  if (!given.includes('/')) return given.toUpperCase();
  return given.toLowerCase().replace(/(^|[/_-])([a-z])/g, (match) => match.toUpperCase());
}
