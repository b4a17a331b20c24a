import type { DayRange } from '@perkway/domain/day-range';

const number = new Intl.NumberFormat();
const compact = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });
const percent = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });
const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const longDay = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'long', year: 'numeric' });
const month = new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric', timeZone: 'UTC' });
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const mediumDay = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const exactMoment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const exactTime = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

const rate = new Intl.NumberFormat(undefined, { maximumFractionDigits: 2 });
export const formatRate = (perDay: number) => rate.format(perDay);
export const formatNumber = (value: number) => number.format(value);
export const formatCompact = (value: number) =>
  value < 10_000 ? number.format(value) : compact.format(value);
export const formatDay = (date: Date) => day.format(date);
export const formatLongDay = (date: Date) => longDay.format(date);
const utcDay = new Intl.DateTimeFormat(undefined, { dateStyle: 'long', timeZone: 'UTC' });
export const formatRange = ([from, to]: DayRange) => utcDay.formatRange(Date.parse(from), Date.parse(to));
/** The first and the last day of a month. @param of YYYY-MM */
export function formatDaysOfMonth(of: string): string {
  const [year, month] = of.split('-').map(Number) as [number, number];
  return utcDay.formatRange(Date.UTC(year, month - 1, 1), Date.UTC(year, month, 0));
}
/** @param of YYYY-MM */
export const formatMonth = (of: string) => month.format(new Date(`${of}-01`));
export const formatMoment = (date: Date | string | number) => moment.format(new Date(date));
export const formatDate = (date: string | number) => mediumDay.format(new Date(date));
export const formatMomentToSecond = (date: string) => exactMoment.format(new Date(date));
const ago = new Intl.RelativeTimeFormat(undefined, { numeric: 'always' });
const now = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' }).format(0, 'second');
const AGO_STEPS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;
/** How long ago, in the largest whole step, such as `12 minutes ago`; under a minute, `now`. */
export function formatAgo(moment: string, time = Date.now()): string {
  const passed = time - Date.parse(moment);
  const [step, ms] = AGO_STEPS.find(([, ms]) => passed >= ms) ?? [];
  return step ? ago.format(-Math.floor(passed / ms!), step) : now;
}
/** With seconds, and without the date if that is today's. */
export function formatExactMoment(moment: string): string {
  const date = new Date(moment);
  const isToday = date.toDateString() === new Date().toDateString();
  return (isToday ? exactTime : exactMoment).format(date);
}

const list = new Intl.ListFormat();
export const formatList = (parts: string[]) => list.format(parts);
const choice = new Intl.ListFormat(undefined, { type: 'disjunction' });
export const formatChoice = (parts: string[]) => choice.format(parts);
export const capitalized = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

/** Returns null if the divisor is 0. */
export const formatShare = (part: number, whole: number) => (whole > 0 ? percent.format(part / whole) : null);

const MINUS = '−';
/** Formats the change of a count as a percentage of the count before, with its sign; null if the count before is 0. */
export const formatChange = (count: number, before: number) =>
  before > 0
    ? `${count > before ? '+' : count < before ? MINUS : ''}${percent.format(Math.abs(count - before) / before)}`
    : null;

/** `percent`: a rate from 0 on, where 1 is 100 %. */
export type Unit = 'count' | 'percent';
/** Stands where there is nothing to show. */
export const NONE = '–';
/** @param value null where there is nothing to divide by */
export const formatValue = (value: number | null | undefined, unit: Unit) =>
  value === null || value === undefined ? NONE : (unit === 'percent' ? percent : number).format(value);

const points = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1, signDisplay: 'exceptZero' });
/** Has the same minus sign as `formatChange`. */
export const formatDifference = (difference: number) => points.format(difference).replace('-', MINUS);
/** A difference of two rates in percentage points, with its sign. */
export const formatPoints = (difference: number) => formatDifference(100 * difference);
/** Formats both terms of `points`, rounded so that they add up to it as it is shown. */
export const formatTerms = (points: number, fromRate: number): [rate: string, share: string] => {
  const [all, rate] = [points, fromRate].map(
    (each) => Math.sign(each) * Math.round(1_000 * Math.abs(each)),
  ) as [number, number];
  return [formatPoints(rate / 1_000), formatPoints((all - rate) / 1_000)];
};

export function formatMoney(amount: number, currency: string): string {
  try {
    return new Intl.NumberFormat(undefined, {
      style: 'currency',
      currency,
      minimumFractionDigits: Number.isInteger(amount) ? 0 : undefined,
    }).format(amount);
  } catch {
    return `${number.format(amount)} ${currency}`;
  }
}

export const pluralOf = (count: number, one: string, many: string) => (count === 1 ? one : many);
