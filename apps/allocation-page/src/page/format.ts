/**
 * Returns the reader's regional variant of the page's language (`fr-CA` on a French page), for amounts and dates. If
 * the reader prefers none, returns that of `country`, or the language alone if no country is given.
 */
export function localeFor(language: string, preferred: readonly string[], country = ''): string {
  const prefix = `${language}-`;
  return preferred.filter((tag) => tag.indexOf(prefix) === 0)[0] || (country ? prefix + country : language);
}

/** Returns `€25` or `€25.50`: decimals only if the amount has any. */
export function formatAmount(locale: string, amount: number, currency: string): string {
  try {
    const digits = amount % 1 === 0 ? { minimumFractionDigits: 0, maximumFractionDigits: 0 } : {};
    return new Intl.NumberFormat(locale, { style: 'currency', currency, ...digits }).format(amount);
  } catch {
    return `${amount} ${currency}`;
  }
}

/** Returns the name of a country or language, or its code in browsers without `Intl.DisplayNames`. */
function formatName(locale: string, type: 'region' | 'language', code: string): string {
  try {
    return new Intl.DisplayNames([locale], { type }).of(code) || code;
  } catch {
    return code;
  }
}
export const formatCountry = (locale: string, country: string): string =>
  formatName(locale, 'region', country);
export const formatLanguage = (locale: string, tag: string): string =>
  formatName(locale, 'language', tag.split('-')[0]!);

/** Returns date and time with the time zone, since the sender may live in another one. */
export function formatDate(locale: string, seconds: number): string {
  return new Intl.DateTimeFormat(locale, {
    year: 'numeric',
    month: 'long',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
    timeZoneName: 'short',
  }).format(seconds * 1000);
}

/** Returns the time, for example `18:47`, or also the day, as briefly as possible. */
export function formatMoment(locale: string, seconds: number, withDay: boolean): string {
  const day = { year: 'numeric', month: 'short', day: 'numeric' } as const;
  const time = { hour: 'numeric', minute: '2-digit' } as const;
  return new Intl.DateTimeFormat(locale, withDay ? { ...day, ...time } : time).format(seconds * 1000);
}

/** @param day YYYY-MM-DD */
export const formatDay = (locale: string, day: string): string =>
  new Intl.DateTimeFormat(locale, {
    year: 'numeric',
    month: 'long',
    day: 'numeric',
    timeZone: 'UTC',
  }).format(Date.parse(day));

const UNITS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
];
const DAY_MS = 86_400_000;
const midnightOf = (time: number): number => new Date(time).setHours(0, 0, 0, 0);

/**
 * Returns for example `in 3 days`. From two days on, counts the days on the reader's calendar; less time is rounded down
 * so that it never promises too much. Empty if no time is left or if the browser cannot format it.
 */
export function formatTimeLeft(locale: string, now: number, until: number): string {
  const left = until - now;
  if (left <= 0 || !Intl.RelativeTimeFormat) return '';
  const format = new Intl.RelativeTimeFormat(locale, { numeric: 'always' });
  // Rounded, because a day is an hour shorter or longer when the clocks change.
  if (left >= 2 * DAY_MS)
    return format.format(Math.round((midnightOf(until) - midnightOf(now)) / DAY_MS), 'day');
  const [unit, length] = UNITS.filter(([, each]) => left >= 2_000 * each)[0] || UNITS[UNITS.length - 1]!;
  return format.format(Math.floor(left / 1_000 / length), unit);
}
