/** Shorter than any token and longer than a word; what a token really is, the server decides. */
const TOKEN = /^[A-Za-z0-9_-]{20,512}/;
/** `#`, or what mail programs make of it; some encode more than once (`%2523`). */
const FRAGMENT = /(?:#|%(?:25)*23)([A-Za-z0-9_-]{20,512})/i;

/** The token of the page's address, from the fragment or from a path that a mail program has mangled. */
export function tokenOfAddress(path: string, fragment: string): string | null {
  const inFragment = TOKEN.exec(fragment.replace(/^#/, ''));
  if (inFragment) return inFragment[0];
  const inPath = FRAGMENT.exec(path);
  return inPath ? inPath[1]! : null;
}

/** The token of what a person has pasted: a whole link, perhaps with words around it, or the token alone. */
export function tokenOfText(text: string): string | null {
  // A link that was wrapped over several lines.
  const joined = text.replace(/\s+/g, '');
  const inLink = FRAGMENT.exec(text) || FRAGMENT.exec(joined);
  if (inLink) return inLink[1]!;
  const alone = TOKEN.exec(joined);
  return alone && alone[0] === joined ? joined : null;
}
