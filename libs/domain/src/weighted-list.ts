/** Members looked at in one header; nobody means more. */
const MAX_MEMBERS = 20;
const WEIGHT = /^\s*q\s*=\s*(\d(?:\.\d{0,3})?)\s*$/i;

/**
 * The members of an `Accept-Language` or `Accept-Encoding` header in lower case, the most wanted first (RFC 9110,
 * 12.4.2). What has weight 0 is not wanted at all; a weight that cannot be read counts as none given.
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
