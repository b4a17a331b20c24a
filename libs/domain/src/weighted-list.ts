/** Members read per header; no real header has more. */
const MAX_MEMBERS = 20;
const WEIGHT = /^\s*q\s*=\s*(\d(?:\.\d{0,3})?)\s*$/i;

/**
 * Returns the members of an `Accept`, `Accept-Language` or `Accept-Encoding` header in lower case, the most preferred
 * first (RFC 9110, 12.4.2). Drops members with weight 0 or above 1. A weight that does not parse counts as 1.
 */
export function readWeightedList(header: string | undefined): string[] {
  const wanted: { value: string; weight: number }[] = [];
  for (const member of (header ?? '').split(',', MAX_MEMBERS)) {
    const [name = '', ...parameters] = member.split(';');
    const value = name.trim().toLowerCase();
    const given = parameters.map((text) => WEIGHT.exec(text)?.[1]).find(Boolean);
    const weight = given === undefined ? 1 : Number(given);
    if (value !== '' && weight > 0 && weight <= 1) wanted.push({ value, weight });
  }
  return wanted.sort((one, other) => other.weight - one.weight).map(({ value }) => value);
}
