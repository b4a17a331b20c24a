import { MAX_ATTEMPTS, parseRetryAfter, retryDelay } from './retry-schedule.js';

const DAY = 86_400_000;

describe('retryDelay', () => {
  it('follows the schedule', () => {
    const delays = Array.from({ length: MAX_ATTEMPTS }, (_, index) => retryDelay(index + 1, 0, 0));
    const seconds = [5, 30, 120, 600, 1_800, 7_200, 18_000, 36_000, 36_000];
    expect(delays).toEqual([...seconds.map((each) => each * 1_000), undefined]);
  });

  it('adds at most 20 % of jitter', () => {
    expect(retryDelay(1, 0, 0.5)).toBe(5_500);
    expect(retryDelay(1, 0, 0.999_999)).toBe(6_000);
  });

  it('honors Retry-After up to 24 hours, never sooner than the schedule', () => {
    expect(retryDelay(1, 60_000, 0)).toBe(60_000);
    expect(retryDelay(1, 1_000, 0)).toBe(5_000);
    expect(retryDelay(1, 9 * DAY, 0)).toBe(DAY);
    expect(retryDelay(MAX_ATTEMPTS, 1_000, 0)).toBeUndefined();
  });
});

describe('parseRetryAfter', () => {
  const now = Date.parse('2026-11-05T09:30:00Z');
  it.each([
    ['120', 120_000],
    [' 5 ', 5_000],
    ['Thu, 05 Nov 2026 09:31:00 GMT', 60_000],
    ['Thu, 05 Nov 2026 09:29:00 GMT', 0],
    ['0', 0],
    ['99999999999', 99_999_999_999_000],
    ['soon', 0],
    ['', 0],
    [undefined, 0],
  ])('reads %p as %p ms', (header, delay) => expect(parseRetryAfter(header, now)).toBe(delay));
});
