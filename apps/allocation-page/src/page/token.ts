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

/** Returns the token in pasted text: a whole link, possibly inside other text, or the token alone. */
export function tokenOfText(text: string): string | null {
  // Joins a link that is wrapped over several lines. Tried second, because joining would append the words after a
  // link to its token. So a token that is wrapped after its first 20 characters is cut off.
  const joined = text.replace(/\s+/g, '');
  const inLink = FRAGMENT.exec(text) || FRAGMENT.exec(joined);
  if (inLink) return inLink[1]!;
  const alone = TOKEN.exec(joined);
  return alone && alone[0] === joined ? joined : null;
}
