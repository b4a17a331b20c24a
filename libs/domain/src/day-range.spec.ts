import { rangeBefore } from './day-range.js';

describe('rangeBefore', () => {
  it.each([
    ['the same number of days before', ['2026-11-05', '2026-11-11'], ['2026-10-29', '2026-11-04']],
    ['the day before a day', ['2026-03-01', '2026-03-01'], ['2026-02-28', '2026-02-28']],
    ['the month before a whole month', ['2026-11-01', '2026-11-30'], ['2026-10-01', '2026-10-31']],
    ['December before January', ['2026-01-01', '2026-01-31'], ['2025-12-01', '2025-12-31']],
    ['February before March of a leap year', ['2028-03-01', '2028-03-31'], ['2028-02-01', '2028-02-29']],
    [
      '30 days before the first 30 days of a longer month',
      ['2026-10-01', '2026-10-30'],
      ['2026-09-01', '2026-09-30'],
    ],
    ['no day before the first event', ['1999-12-01', '2026-11-30'], ['2000-01-01', '2000-01-01']],
  ] as const)('returns %s', (_, [from, to], before) => {
    expect(rangeBefore([from, to])).toEqual(before);
  });
});
