const GROUP = 4;

/**
 * The code in groups, between which a line may break: never beside a hyphen, where nobody could tell whether it belongs
 * to the code.
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
