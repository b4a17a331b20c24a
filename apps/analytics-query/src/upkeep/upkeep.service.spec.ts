import { isUnsorted } from './upkeep.service.js';

const at = (text: string): number => Date.parse(`${text}T12:00Z`);

describe('a month is brought into order', () => {
  it.each([
    ['not in its first days', '2026-03-05', undefined, false],
    ['after a week', '2026-03-09', undefined, true],
    ['not again at once', '2026-03-15', '2026-03-09', false],
    ['a week later again', '2026-03-17', '2026-03-09', true],
    ['when it has just ended, if a week has passed', '2026-04-01', '2026-03-24', true],
    ['for good three days after its end', '2026-04-05', '2026-04-01', true],
    ['once for good', '2026-12-05', '2026-04-05', false],
    ['however late', '2026-12-05', undefined, true],
    ['not before it has begun', '2026-02-20', undefined, false],
  ])('%s', (_, now, sortedAt, expected) => {
    expect(isUnsorted('2026-03', sortedAt === undefined ? undefined : at(sortedAt), at(now))).toBe(expected);
  });
});
