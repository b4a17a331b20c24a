/** The minimum is shorter than any token and longer than most words; the server validates the token. */
const TOKEN = /^[A-Za-z0-9_-]{20,512}/;
/** `#`, also encoded once or several times (`%2523`), as some mail programs do. */
const FRAGMENT = /(?:#|%(?:25)*23)([A-Za-z0-9_-]{20,512})/i;

/** Returns the token in the page's URL, from the fragment or from a path that a mail program has mangled. */
export function tokenOfAddress(path: string, fragment: string): string | null {
  const inFragment = TOKEN.exec(fragment.replace(/^#/, ''));
  if (inFragment) return inFragment[0];
  const inPath = FRAGMENT.exec(path);
  return inPath ? inPath[1]! : null;
}

/**
 * Returns how long a token with this beginning is when whole: 36 bytes and the id of its key, whose length is in the third
 * character. See `signRewardToken`.
 */
function wholeLengthOf(token: string): number {
  const character = token.charCodeAt(2);
  const keyLength = (character - (character > 90 ? 71 : 65)) >> 2;
  return Math.ceil(((36 + keyLength) * 4) / 3);
}

/** Returns the token in pasted text: a whole link, possibly inside other text, or the token alone. */
export function tokenOfText(text: string): string | null {
  // A mail program may have wrapped the link. Also joins quoted lines (`> `) and the lines of quoted-printable text, which
  // end with `=`. An input drops line breaks, so the words after a link may follow it without a space.
  const joined = text.replace(/[\s>=]+/g, '');
  const found = FRAGMENT.exec(joined)?.[1];
  if (found) return found.slice(0, wholeLengthOf(found));
  const alone = TOKEN.exec(joined);
  return alone && alone[0] === joined ? joined : null;
}
