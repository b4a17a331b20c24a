/** A range of days, YYYY-MM-DD, with both ends. */
export type DayRange = [from: string, to: string];

const DAY_MS = 86_400_000;
const isoDay = (utcMs: number): string => new Date(utcMs).toISOString().slice(0, 10);

/**
 * Returns the days that a range is compared with: for a whole calendar month, the month before; otherwise the same
 * number of days before. No event is from before 1970.
 */
export function rangeBefore([from, to]: DayRange): DayRange {
  const [start, end] = [Date.parse(from), Date.parse(to)];
  const first = new Date(start);
  const [year, month] = [first.getUTCFullYear(), first.getUTCMonth()];
  const isMonth = first.getUTCDate() === 1 && end === Date.UTC(year, month + 1, 0);
  const length = end - start + DAY_MS;
  const startBefore = isMonth ? Date.UTC(year, month - 1, 1) : start - length;
  return [isoDay(Math.max(0, startBefore)), isoDay(Math.max(0, start - DAY_MS))];
}
