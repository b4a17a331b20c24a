import { parseUrl } from './parse-url.js';

/** Printable ASCII without the backslash, which browsers read as a slash. */
const VERBATIM = /^[\x21-\x5b\x5d-\x7e]+$/;

/**
 * Returns a value for a `Location` header if the URL is an absolute http(s) URL without userinfo, otherwise undefined.
 * The URL is used as given; only if it has other characters than `VERBATIM` (spaces, non-ASCII letters, backslashes) is
 * it encoded as browsers would send it.
 */
export function redirectTarget(url: string): string | undefined {
  const parsed = /^https?:\/\//i.test(url) ? parseUrl(url) : undefined;
  if (!parsed || parsed.username !== '' || parsed.password !== '') return undefined;
  return VERBATIM.test(url) ? url : parsed.href;
}
