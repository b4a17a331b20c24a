/** The minimum is shorter than any token and longer than most words; the server validates the token. */
const TOKEN = /^[A-Za-z0-9_-]{20,512}/;
/** The lengths of tokens that gift-cards signs. */
const MIN_SIGNED = 50;
const MAX_SIGNED = 59;
/** `#`, also encoded once or several times (`%2523`), as some mail programs do. */
const FRAGMENT = /(?:#|%(?:25)*23)([A-Za-z0-9_-]{20,512})/i;

/** Returns the token in the page's URL, from the fragment or from a path that a mail program has mangled. */
export function tokenOfAddress(path: string, fragment: string): string | null {
  const inFragment = TOKEN.exec(fragment.replace(/^#/, ''));
  if (inFragment) return inFragment[0];
  const inPath = FRAGMENT.exec(path);
  return inPath ? inPath[1]! : null;
}

/** Returns the token in pasted text: a whole link, possibly inside other text, or the token alone. */
export function tokenOfText(text: string): string | null {
  // Also joins quoted lines (`> `) and the lines of quoted-printable text, which end with `=`.
  const joined = text.replace(/=?\s[\s>]*/g, '');
  const inText = FRAGMENT.exec(text)?.[1];
  const inJoined = FRAGMENT.exec(joined)?.[1];
  // A mail program may have wrapped the link within its token, but joining also appends the words after a link to its
  // token. So a part of 20 characters or more is joined only if it is too short for a token and the result is not too long.
  const isWrapped = !inText || (inText.length < MIN_SIGNED && inJoined!.length <= MAX_SIGNED);
  if (inJoined) return isWrapped ? inJoined : inText!;
  const alone = TOKEN.exec(joined);
  return alone && alone[0] === joined ? joined : null;
}
