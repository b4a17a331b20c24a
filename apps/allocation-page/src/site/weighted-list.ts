/** The members of an `Accept-…` header, the most wanted first; what has weight 0 is not wanted at all. */
export function readWeightedList(header: string | undefined): string[] {
  return (header ?? '')
    .split(',')
    .map((entry) => {
      const [value = '', ...parameters] = entry.split(';');
      const weight = parameters.map((text) => /^\s*q=([\d.]+)\s*$/i.exec(text)?.[1]).find(Boolean);
      return { value: value.trim().toLowerCase(), weight: weight === undefined ? 1 : Number(weight) };
    })
    .filter(({ value, weight }) => value !== '' && weight > 0)
    .sort((one, other) => other.weight - one.weight)
    .map(({ value }) => value);
}
