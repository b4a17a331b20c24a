/** Printable ASCII without the backslash, which browsers read as a slash. */
const VERBATIM = /^[\x21-\x5b\x5d-\x7e]+$/;

/**
 * Returns a value for a `Location` header if the URL is an absolute http(s) URL without userinfo, otherwise undefined.
 * The URL is used as given; only if it is invalid in a header (spaces, non-ASCII letters), it is encoded as browsers
 * would send it.
 */
export function redirectTarget(url: string): string | undefined {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return undefined;
  const { username, password, href } = new URL(url);
  if (username !== '' || password !== '') return undefined;
  return VERBATIM.test(url) ? url : href;
}
