/** Returns the reader's regional variant of the page's language (`fr-CA` on a French page), for amounts and dates. */
export function localeFor(language: string, preferred: readonly string[]): string {
  const prefix = `${language}-`;
  return preferred.filter((tag) => tag.indexOf(prefix) === 0)[0] || language;
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

/** Returns the name of a country, or its code in browsers without `Intl.DisplayNames`. */
export function formatCountry(locale: string, country: string): string {
  try {
    return new Intl.DisplayNames([locale], { type: 'region' }).of(country) || country;
  } catch {
    return country;
  }
}

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

/** @param day YYYY-MM-DD */
export const formatDay = (locale: string, day: string): string =>
  new Intl.DateTimeFormat(locale, {
    year: 'numeric',
    month: 'long',
    day: 'numeric',
    timeZone: 'UTC',
  }).format(Date.parse(day));

const UNITS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
];

/**
 * Returns for example `in 3 days`, rounded down so that it never promises too much. Empty if no time is left or if the
 * browser cannot format it.
 */
export function formatTimeLeft(locale: string, seconds: number): string {
  if (seconds <= 0 || !Intl.RelativeTimeFormat) return '';
  for (const [unit, length] of UNITS) {
    // 40 hours are shown in hours, because rounding down to "in 1 day" would hide most of the second day.
    if (seconds >= length * (unit === 'second' ? 1 : 2) || unit === 'second')
      return new Intl.RelativeTimeFormat(locale, { numeric: 'always' }).format(
        Math.floor(seconds / length),
        unit,
      );
  }
  return '';
}
