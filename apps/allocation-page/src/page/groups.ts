const GROUP = 4;

/**
 * Splits the code into groups, so that a line breaks only between two of them. Never splits next to a hyphen, because a
 * reader could not tell whether the hyphen belongs to the code.
 */
export function groupsOf(code: string): string[] {
  const groups: string[] = [];
  let start = 0;
  for (let at = GROUP; at < code.length; at += 1) {
    if (at - start < GROUP || code[at] === '-' || code[at - 1] === '-') continue;
    groups.push(code.slice(start, at));
    start = at;
  }
  return groups.concat(code.slice(start));
}
