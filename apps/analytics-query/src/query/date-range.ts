import { LRUCache } from 'lru-cache';
import { DateTime, type DateTimeUnit, type DurationLike } from 'luxon';
import type { LocalRange, LocalStamp } from './query.js';
import { queryError } from './query-error.js';

const BARE_DATE = /^\d{4}-\d{2}-\d{2}$/;
const STAMP =
  /^\d{4}(-\d{2}(-\d{2}([T ]\d{2}(:\d{2}(:\d{2}(\.\d{1,9})?)?)?)?)?)?(\s?(Z|[+-]\d{2}(:?\d{2})?))?$/i;

const UNITS = 'second|minute|hour|day|week|month|quarter|year';
const ONE_UNIT = new RegExp(`(this|last|next)\\s+(${UNITS})`);
const SEVERAL_UNITS = new RegExp(`(last|next)\\s+(\\d+)\\s+(${UNITS})`);
type Unit = 'second' | 'minute' | 'hour' | 'day' | 'week' | 'month' | 'quarter' | 'year';

/** No valid date is longer, and parsing time grows with the square of the length. */
const MAX_LENGTH = 100;

const unparsable = (text: string) =>
  queryError(`Can't parse date: '${text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}...` : text}'`);
const format = (at: DateTime): LocalStamp => at.toISO({ includeOffset: false })!;

/** True for a calendar date or time, as opposed to "last week". */
export const isAbsolute = (text: string): boolean => STAMP.test(text);

/**
 * Parses a timestamp as Cube does: an offset is converted to UTC, and the result is taken as local time of the query's
 * time zone. A bare date means its midnight.
 */
export function parseStamp(text: string): LocalStamp {
  if (text.length > MAX_LENGTH) throw unparsable(text);
  const iso = text
    .trim()
    .replace(/^(\S+) (\d)/, '$1T$2')
    .replace(/\s/g, '');
  const at = STAMP.test(text.trim()) ? DateTime.fromISO(iso, { zone: 'utc' }) : null;
  if (!at?.isValid) throw unparsable(text);
  return format(at);
}

const endOfStamp = (text: string): LocalStamp => {
  const at = parseStamp(text);
  return BARE_DATE.test(text) ? `${at.slice(0, 10)}T23:59:59.999` : at;
};

/** Dashboards use the same range bounds again and again. */
const instants = new LRUCache<string, string>({ max: 2_000 });

/** Converts a timestamp, parsed as `parseStamp` does, from the time zone to an ISO string in UTC. */
export function toInstant(stamp: string, timezone: string): string {
  if (stamp.length > MAX_LENGTH) throw unparsable(stamp);
  const key = `${timezone} ${stamp}`;
  let instant = instants.get(key);
  if (instant === undefined) instants.set(key, (instant = computeInstant(stamp, timezone)));
  return instant;
}

function computeInstant(stamp: string, timezone: string): string {
  const at = DateTime.fromISO(parseStamp(stamp), { zone: timezone });
  if (!at.isValid) throw unparsable(stamp);
  return at.toUTC().toISO();
}

/**
 * Resolves the `dateRange` of a query: a relative date, `[one]` or `[from, to]`, both ends included.
 * @param now epoch milliseconds
 */
export function resolveDateRange(
  input: string | readonly string[],
  timezone: string,
  now: number,
): LocalRange {
  if (typeof input === 'string') return resolveText(input, timezone, now);
  const [from, to = from] = input as [string, string?];
  return [parseStamp(from), endOfStamp(to)];
}

/** Resolves relative dates (`last 7 days`, `from 3 days ago to now`) and single dates, which mean the whole day. */
export function resolveText(given: string, timezone: string, now: number): LocalRange {
  if (given.length > MAX_LENGTH) throw unparsable(given);
  const text = given.toLowerCase();
  const current = DateTime.fromMillis(now, { zone: timezone });
  const range = relativeRange(text, current) ?? spelledRange(text, current);
  if (!range.every((at) => at.isValid && at.year > 0 && at.year < 10_000)) throw unparsable(text);
  return [format(range[0]), format(range[1])];
}

const shifted = (at: DateTime, amount: number, unit: Unit): DateTime =>
  at.plus({ [`${unit}s`]: amount } as DurationLike);
const whole = (from: DateTime, to: DateTime, unit: DateTimeUnit): [DateTime, DateTime] => [
  from.startOf(unit),
  to.endOf(unit),
];

function relativeRange(text: string, now: DateTime): [DateTime, DateTime] | null {
  const one = ONE_UNIT.exec(text);
  if (one) {
    const unit = one[2] as Unit;
    const at = shifted(now, { this: 0, last: -1, next: 1 }[one[1] as 'this' | 'last' | 'next'], unit);
    return whole(at, at, unit);
  }
  const several = SEVERAL_UNITS.exec(text);
  if (several) {
    const amount = Number(several[2]);
    const unit = several[3] as Unit;
    // Neither includes the current unit.
    return several[1] === 'last'
      ? whole(shifted(now, -amount, unit), shifted(now, -1, unit), unit)
      : whole(shifted(now, 1, unit), shifted(now, amount, unit), unit);
  }
  const day = /today|yesterday|tomorrow/.exec(text);
  if (!day) return null;
  const at = now.plus({ days: { today: 0, yesterday: -1, tomorrow: 1 }[day[0]]! });
  // "from yesterday to today" is handled by spelledRange.
  return /^from .* to /.test(text) ? null : whole(at, at, 'day');
}

function spelledRange(text: string, now: DateTime): [DateTime, DateTime] {
  const unit = (['second', 'minute', 'hour'] as const).find((name) => text.includes(name)) ?? 'day';
  const ends =
    /^from\s+(.*\S)\s+to\s+(.*\S)$/.exec(text) ??
    /^(\d{4}-\d{2}-\d{2}\S*)\s+(?:to|-)\s+(\d{4}-\d{2}-\d{2}\S*)$/.exec(text);
  if (ends) return whole(moment(ends[1]!, now), moment(ends[2]!, now), unit);
  const at = moment(text.trim(), now);
  return whole(at, at, unit);
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const monthNumber = (name: string): number => MONTHS.indexOf(name.slice(0, 3)) + 1;
const MONTH =
  '(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)';
const AGO = new RegExp(`^(an?|\\d+)\\s+(${UNITS})s?\\s+ago$`);
const AHEAD = new RegExp(`^(?:in\\s+(an?|\\d+)\\s+(${UNITS})s?|(an?|\\d+)\\s+(${UNITS})s?\\s+from\\s+now)$`);
const DAY_MONTH = new RegExp(`^(\\d{1,2})(?:st|nd|rd|th)?\\s+(?:of\\s+)?${MONTH}\\.?,?(?:\\s+(\\d{4}))?$`);
const MONTH_DAY = new RegExp(`^${MONTH}\\.?\\s+(\\d{1,2})(?:st|nd|rd|th)?,?(?:\\s+(\\d{4}))?$`);

/** Parses one point in time, in words or digits. */
function moment(text: string, now: DateTime): DateTime {
  const amount = (word: string) => (/^an?$/.test(word) ? 1 : Number(word));
  if (text === 'now' || text === 'today') return now;
  if (text === 'yesterday') return now.minus({ days: 1 });
  if (text === 'tomorrow') return now.plus({ days: 1 });
  const ago = AGO.exec(text);
  if (ago) return shifted(now, -amount(ago[1]!), ago[2] as Unit);
  const ahead = AHEAD.exec(text);
  if (ahead) return shifted(now, amount((ahead[1] ?? ahead[3])!), (ahead[2] ?? ahead[4]) as Unit);
  const inZone = (year: number, month: number, day: number) =>
    DateTime.fromObject({ year, month, day }, { zone: now.zone });
  const dayMonth = DAY_MONTH.exec(text);
  if (dayMonth)
    return inZone(Number(dayMonth[3] ?? now.year), monthNumber(dayMonth[2]!), Number(dayMonth[1]));
  const monthDay = MONTH_DAY.exec(text);
  if (monthDay)
    return inZone(Number(monthDay[3] ?? now.year), monthNumber(monthDay[1]!), Number(monthDay[2]));
  if (!isAbsolute(text)) throw unparsable(text);
  return DateTime.fromISO(parseStamp(text.toUpperCase()), { zone: now.zone });
}
