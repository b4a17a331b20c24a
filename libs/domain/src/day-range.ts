import { FIRST_DAY } from './step-amounts.js';

/** A range of days, YYYY-MM-DD, with both ends. */
export type DayRange = [from: string, to: string];

const DAY_MS = 86_400_000;
const isoDay = (utcMs: number): string => new Date(utcMs).toISOString().slice(0, 10);

/**
 * Returns the days that a range is compared with: for a whole calendar month, the month before; otherwise the same
 * number of days before.
 */
export function rangeBefore([from, to]: DayRange): DayRange {
  const [start, end] = [Date.parse(from), Date.parse(to)];
  const first = new Date(start);
  const [year, month] = [first.getUTCFullYear(), first.getUTCMonth()];
  const isMonth = first.getUTCDate() === 1 && end === Date.UTC(year, month + 1, 0);
  const length = end - start + DAY_MS;
  const startBefore = isMonth ? Date.UTC(year, month - 1, 1) : start - length;
  const notTooEarly = (utcMs: number) => isoDay(Math.max(Date.parse(FIRST_DAY), utcMs));
  return [notTooEarly(startBefore), notTooEarly(start - DAY_MS)];
}
