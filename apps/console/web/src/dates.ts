import { rangeBefore, type DayRange } from '@perkway/domain/day-range';

export { rangeBefore };

/** The user's time zone. */
export const TIMEZONE = Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';

/** Returns the day in the format of analytics, YYYY-MM-DD, in the user's time zone. */
export function isoDay(date: Date): string {
  const two = (value: number) => String(value).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** Formats a time for a `datetime-local` input. */
export function localMinute(date: Date): string {
  const two = (value: number) => String(value).padStart(2, '0');
  return `${isoDay(date)}T${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** Noon, so that a daylight-saving change cannot move it to another day. */
export const dayOf = (iso: string) => new Date(`${iso.slice(0, 10)}T12:00:00`);

export function daysAgo(days: number, from = new Date()): string {
  const date = dayOf(isoDay(from));
  date.setDate(date.getDate() - days);
  return isoDay(date);
}

export type Range = DayRange;

/** Returns the last days including today, and the same number of days before them. */
export function lastDays(days: number): { now: Range; before: Range } {
  return {
    now: [daysAgo(days - 1), daysAgo(0)],
    before: [daysAgo(2 * days - 1), daysAgo(days)],
  };
}

export function lastMonth(): Range {
  const today = new Date();
  return [
    isoDay(new Date(today.getFullYear(), today.getMonth() - 1, 1, 12)),
    isoDay(new Date(today.getFullYear(), today.getMonth(), 0, 12)),
  ];
}

export function thisMonth(): Range {
  const today = new Date();
  return [isoDay(new Date(today.getFullYear(), today.getMonth(), 1, 12)), daysAgo(0)];
}

export function daysIn([from, to]: Range): string[] {
  const days: string[] = [];
  const end = dayOf(to);
  for (const date = dayOf(from); date <= end && days.length < 3_700; date.setDate(date.getDate() + 1))
    days.push(isoDay(date));
  return days;
}

export type Step = 'day' | 'week' | 'month';

/** Returns the first day of each step that the range touches; weeks begin on Monday. */
export function stepsIn([from, to]: Range, step: Step): string[] {
  if (step === 'day') return daysIn([from, to]);
  const date = dayOf(from);
  if (step === 'month') date.setDate(1);
  else date.setDate(date.getDate() - ((date.getDay() + 6) % 7));
  const steps: string[] = [];
  while (date <= dayOf(to) && steps.length < 3_700) {
    steps.push(isoDay(date));
    if (step === 'month') date.setMonth(date.getMonth() + 1);
    else date.setDate(date.getDate() + 7);
  }
  return steps;
}

export const isDay = (text: string | null): text is string =>
  text !== null && /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(dayOf(text).getTime());
