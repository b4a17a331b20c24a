import { formatAmount, formatCountry, formatDate, formatTimeLeft, localeFor } from '../../src/page/format.js';

/** Replaces the no-break spaces of several widths that `Intl` uses. */
const plain = (text: string): string => text.replace(/[\u00a0\u202f]/g, ' ');

it("uses the reader's regional variant of the page's language", () => {
  expect(localeFor('fr', ['en-US', 'fr-CA', 'fr-FR'])).toBe('fr-CA');
  expect(localeFor('de', ['en-US', 'fr-CA'])).toBe('de');
  expect(localeFor('en', ['en'])).toBe('en');
});

it("falls back to the variant of the card's country", () => {
  expect(localeFor('de', ['de', 'en-US'], 'CH')).toBe('de-CH');
  expect(localeFor('de', ['de-AT'], 'CH')).toBe('de-AT');
});

it.each([
  ['en-GB', 25, 'EUR', '€25'],
  ['en-GB', 25.5, 'EUR', '€25.50'],
  ['fr', 49.5, 'USD', '49,50 $US'],
  ['de', 1_000_000, 'VND', '1.000.000 ₫'],
  ['es', 25, 'JPY', '25 JPY'],
  ['de-CH', 0.05, 'CHF', 'CHF 0.05'],
  ['de-CH', 25, 'CHF', 'CHF 25'],
  ['en', 10, 'nonsense', '10 nonsense'],
])('formats amounts like %s', (locale, amount, currency, text) => {
  expect(plain(formatAmount(locale, amount, currency))).toBe(text);
});

it('names countries, and falls back to the code', () => {
  expect(formatCountry('de', 'FR')).toBe('Frankreich');
  expect(formatCountry('es', 'US')).toBe('Estados Unidos');
  expect(formatCountry('en', '?')).toBe('?');
  const { DisplayNames } = Intl;
  try {
    Reflect.deleteProperty(Intl, 'DisplayNames');
    expect(formatCountry('de', 'FR')).toBe('FR');
  } finally {
    Object.assign(Intl, { DisplayNames });
  }
});

it('formats the date with its time zone', () => {
  expect(plain(formatDate('en-GB', 1_893_456_000))).toMatch(/^(1 January 2030|31 December 2029) at .+ \S+$/);
});

it.each([
  ['fr', /^\d+ \S+ 20\d\d à \d\d:\d\d \S+$/],
  ['fr-CA', /^\d+ \S+ 20\d\d à \d\d h \d\d(?: min)? \S+$/],
  ['de', /^\d+\. \S+ 20\d\d um \d\d:\d\d \S+$/],
])('writes the time as %s does', (locale, text) => {
  expect(plain(formatDate(locale, 1_893_456_000))).toMatch(text);
});

it.each([
  [2 * 86_400 - 1, 'in 47 hours'],
  [7_199, 'in 119 minutes'],
  [119, 'in 119 seconds'],
  [1, 'in 1 second'],
  [0, ''],
  [-5, ''],
])('formats %i seconds as the time left', (seconds, text) => {
  const now = Date.now();
  expect(formatTimeLeft('en', now, now + seconds * 1000)).toBe(text);
});

it.each([
  // The clocks of many countries change between these days.
  ['2026-10-20T16:00', '2026-10-30T15:00', 'in 10 days'],
  ['2026-03-20T16:00', '2026-04-10T23:00', 'in 21 days'],
  ['2026-11-24T23:59', '2026-11-27T00:00', 'in 3 days'],
  ['2026-11-24T00:00', '2026-11-26T23:59', 'in 2 days'],
])("counts the days on the reader's calendar from %s to %s", (now, until, text) => {
  expect(formatTimeLeft('en', Date.parse(now), Date.parse(until))).toBe(text);
});

it('returns an empty string as the time left if the browser cannot format relative times', () => {
  const { RelativeTimeFormat } = Intl;
  try {
    Reflect.deleteProperty(Intl, 'RelativeTimeFormat');
    expect(formatTimeLeft('en', 0, 500_000)).toBe('');
  } finally {
    Object.assign(Intl, { RelativeTimeFormat });
  }
});
