/** Printable ASCII without the backslash, which browsers read as a slash. */
const VERBATIM = /^[\x21-\x5b\x5d-\x7e]+$/;

/**
 * What may stand in a `Location` header: an absolute http(s) URL without userinfo, else undefined. A URL is used as it
 * was given; only one that cannot stand in a header (spaces, letters beyond ASCII) is written as browsers would send it.
 */
export function redirectTarget(url: string): string | undefined {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return undefined;
  const { username, password, href } = new URL(url);
  if (username !== '' || password !== '') return undefined;
  return VERBATIM.test(url) ? url : href;
}
