import { FIRST_DAY } from './step-amounts.js';

/** A range of days, YYYY-MM-DD, with both ends. */
export type DayRange = [from: string, to: string];

const DAY_MS = 86_400_000;
const isoDay = (utcMs: number): string => new Date(utcMs).toISOString().slice(0, 10);

/**
 * Returns the days that a range is compared with. For several days that begin with the first of a month, these are the
 * same days of the month before, and all of that month if the range is a whole month; otherwise the same number of days
 * before.
 */
export function rangeBefore([from, to]: DayRange): DayRange {
  const [start, end] = [Date.parse(from), Date.parse(to)];
  const first = new Date(start);
  const [year, month] = [first.getUTCFullYear(), first.getUTCMonth()];
  const lastDay = Date.UTC(year, month + 1, 0);
  const beginsMonth = first.getUTCDate() === 1 && start < end && end <= lastDay;
  const length = end - start + DAY_MS;
  const startBefore = beginsMonth ? Date.UTC(year, month - 1, 1) : start - length;
  const lengthBefore = beginsMonth && end === lastDay ? Infinity : length;
  // The month before may be shorter.
  const endBefore = Math.min(startBefore + lengthBefore, start) - DAY_MS;
  const notTooEarly = (utcMs: number) => isoDay(Math.max(Date.parse(FIRST_DAY), utcMs));
  return [notTooEarly(startBefore), notTooEarly(endBefore)];
}
