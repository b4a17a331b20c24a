import { isAbsolute, parseStamp, resolveDateRange, resolveText, toInstant } from './date-range.js';

/** Wednesday 18 March 2026, 14:30:15.250 in UTC; 15:30 in Berlin, 10:30 in New York (summer time there already). */
const NOW = Date.UTC(2026, 2, 18, 14, 30, 15, 250);
const text = (given: string, timezone = 'UTC') => resolveText(given, timezone, NOW);

describe('relative date ranges', () => {
  it.each([
    ['today', '2026-03-18T00:00:00.000', '2026-03-18T23:59:59.999'],
    ['Yesterday', '2026-03-17T00:00:00.000', '2026-03-17T23:59:59.999'],
    ['tomorrow', '2026-03-19T00:00:00.000', '2026-03-19T23:59:59.999'],
    ['this day', '2026-03-18T00:00:00.000', '2026-03-18T23:59:59.999'],
    ['this week', '2026-03-16T00:00:00.000', '2026-03-22T23:59:59.999'],
    ['last week', '2026-03-09T00:00:00.000', '2026-03-15T23:59:59.999'],
    ['next week', '2026-03-23T00:00:00.000', '2026-03-29T23:59:59.999'],
    ['This Month', '2026-03-01T00:00:00.000', '2026-03-31T23:59:59.999'],
    ['last month', '2026-02-01T00:00:00.000', '2026-02-28T23:59:59.999'],
    ['this quarter', '2026-01-01T00:00:00.000', '2026-03-31T23:59:59.999'],
    ['last quarter', '2025-10-01T00:00:00.000', '2025-12-31T23:59:59.999'],
    ['next year', '2027-01-01T00:00:00.000', '2027-12-31T23:59:59.999'],
    ['this hour', '2026-03-18T14:00:00.000', '2026-03-18T14:59:59.999'],
    ['last minute', '2026-03-18T14:29:00.000', '2026-03-18T14:29:59.999'],
    ['this second', '2026-03-18T14:30:15.000', '2026-03-18T14:30:15.999'],
    ['last 7 days', '2026-03-11T00:00:00.000', '2026-03-17T23:59:59.999'],
    ['LAST  7  DAYS', '2026-03-11T00:00:00.000', '2026-03-17T23:59:59.999'],
    ['next 7 days', '2026-03-19T00:00:00.000', '2026-03-25T23:59:59.999'],
    ['last 1 day', '2026-03-17T00:00:00.000', '2026-03-17T23:59:59.999'],
    ['last 2 weeks', '2026-03-02T00:00:00.000', '2026-03-15T23:59:59.999'],
    ['last 3 months', '2025-12-01T00:00:00.000', '2026-02-28T23:59:59.999'],
    ['last 2 quarters', '2025-07-01T00:00:00.000', '2025-12-31T23:59:59.999'],
    ['last 6 hours', '2026-03-18T08:00:00.000', '2026-03-18T13:59:59.999'],
    ['from 7 days ago to now', '2026-03-11T00:00:00.000', '2026-03-18T23:59:59.999'],
    ['from a week ago to yesterday', '2026-03-11T00:00:00.000', '2026-03-17T23:59:59.999'],
    ['from yesterday to today', '2026-03-17T00:00:00.000', '2026-03-18T23:59:59.999'],
    ['from 3 hours ago to now', '2026-03-18T11:00:00.000', '2026-03-18T14:59:59.999'],
    ['from now to 2 days from now', '2026-03-18T00:00:00.000', '2026-03-20T23:59:59.999'],
    ['from 2026-01-05 to 2026-02-06', '2026-01-05T00:00:00.000', '2026-02-06T23:59:59.999'],
    ['3 days ago', '2026-03-15T00:00:00.000', '2026-03-15T23:59:59.999'],
    ['2026-01-05', '2026-01-05T00:00:00.000', '2026-01-05T23:59:59.999'],
    ['2026-01-05T10:00:00', '2026-01-05T00:00:00.000', '2026-01-05T23:59:59.999'],
    ['march 5, 2025', '2025-03-05T00:00:00.000', '2025-03-05T23:59:59.999'],
    ['from 5 feb to 1st of March', '2026-02-05T00:00:00.000', '2026-03-01T23:59:59.999'],
  ])('%s', (given, from, to) => {
    expect(text(given)).toEqual([from, to]);
  });

  it('are relative to the time zone', () => {
    const night = Date.UTC(2026, 2, 18, 23, 30);
    expect(resolveText('today', 'Europe/Berlin', night)[0]).toBe('2026-03-19T00:00:00.000');
    expect(resolveText('today', 'America/New_York', night)[0]).toBe('2026-03-18T00:00:00.000');
    expect(text('this hour', 'Asia/Kolkata')[0]).toBe('2026-03-18T20:00:00.000');
  });

  it.each([
    '',
    'soon',
    'last fortnight',
    'from then to now',
    '2026-02-30',
    '32 march',
    'last 99999999999999 years',
    '2026-13-01',
  ])('reject %j', (given) => {
    expect(() => text(given)).toThrow(`Can't parse date: '`);
  });
});

describe('absolute date ranges', () => {
  const range = (input: string | string[], timezone = 'UTC') => resolveDateRange(input, timezone, NOW);

  it('include whole days and keep times', () => {
    expect(range(['2026-01-01', '2026-01-31'])).toEqual([
      '2026-01-01T00:00:00.000',
      '2026-01-31T23:59:59.999',
    ]);
    expect(range(['2026-01-01'])).toEqual(['2026-01-01T00:00:00.000', '2026-01-01T23:59:59.999']);
    expect(range(['2026-01-01T10:00', '2026-01-01 12:30:15.5'])).toEqual([
      '2026-01-01T10:00:00.000',
      '2026-01-01T12:30:15.500',
    ]);
    expect(range(['2026-01-31', '2026-01-01'])).toEqual([
      '2026-01-31T00:00:00.000',
      '2026-01-01T23:59:59.999',
    ]);
  });

  it('turn offsets into UTC and read the result as local time', () => {
    expect(range(['2026-01-01T00:00:00Z', '2026-01-01T02:00:00.000+02:00'], 'America/New_York')).toEqual([
      '2026-01-01T00:00:00.000',
      '2026-01-01T00:00:00.000',
    ]);
  });

  it('reject an invalid date', () => {
    for (const bad of ['yesterday', '2026-02-30', '01/02/2026', '2026-01-01T25:00', "2026-01-01'; drop"])
      expect(() => range([bad, '2026-01-01'])).toThrow(`Can't parse date: '${bad}'`);
  });
});

it('rejects long strings before parsing, because a few bytes could block the parser for minutes', () => {
  const spaces = ' '.repeat(2_000);
  for (const given of [`from${spaces}3 days ago to now`, `from 3 days ago${spaces}to now`])
    expect(() => text(given)).toThrow(`Can't parse date: '${given.slice(0, 100)}...'`);
  expect(() => resolveDateRange([`2026-01-01${spaces}`], 'UTC', NOW)).toThrow(
    "Can't parse date: '2026-01-01 ",
  );
});

describe('instants', () => {
  it.each([
    ['2026-01-15T00:00:00.000', 'Europe/Berlin', '2026-01-14T23:00:00.000Z'],
    ['2026-07-15T00:00:00.000', 'Europe/Berlin', '2026-07-14T22:00:00.000Z'],
    ['2026-07-15T23:59:59.999', 'America/New_York', '2026-07-16T03:59:59.999Z'],
    // An hour that daylight saving time skips moves forward.
    ['2026-03-29T02:30:00.000', 'Europe/Berlin', '2026-03-29T01:30:00.000Z'],
  ])('%s in %s', (stamp, timezone, instant) => {
    expect(toInstant(stamp, timezone)).toBe(instant);
  });
});

it('tells absolute from relative dates', () => {
  expect(
    [
      '2026-01-01',
      '2026-01-01T10:00',
      '2026-01-01 10:00:00.123',
      '2026-01-01T10:00:00Z',
      '2026-01-01T10:00+02:00',
    ].every(isAbsolute),
  ).toBe(true);
  expect(['today', 'last 2 weeks', '', '2026-01-01 to 2026-01-02'].some(isAbsolute)).toBe(false);
  expect(parseStamp('2026-01-01')).toBe('2026-01-01T00:00:00.000');
});
