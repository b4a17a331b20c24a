import type { Attempt, Surface } from '@perkway/trials';
import { compare, quantile } from '../src/latencies.js';

const attempts = (surface: Surface, ...ms: (number | undefined)[]): Attempt[] =>
  ms.map((each, index) => ({
    surface,
    id: `${index}`,
    phase: 0,
    begunAt: 100,
    answeredAt: each === undefined ? undefined : 100 + each,
    refusals: each === undefined ? 2 : 0,
  }));

it('knows quantiles', () => {
  expect([0.5, 0.99, 1].map((share) => quantile([5, 1, 4, 2, 3], share))).toEqual([3, 5, 5]);
  expect(quantile([], 0.5)).toBeNaN();
});

it('compares by the median of the rounds, and counts what was refused', () => {
  const rounds = [40, 11, 12].map((attacked): [Attempt[], Attempt[]] => [
    attempts('read', 9, 10, 30),
    attempts('read', attacked, undefined, attacked),
  ]);
  expect(compare(rounds)).toEqual([
    {
      surface: 'read',
      alone: { p50: 10, p99: 30 },
      attacked: { p50: 40, p99: Infinity },
      ratio: 1.2,
      refusals: 6,
    },
  ]);
});

it('does not make up what was not asked, and tells of a surface that was never answered in an attack', () => {
  const [only] = compare([[attempts('read', 10), attempts('read', undefined)]]);
  expect(only).toMatchObject({ surface: 'read', ratio: Infinity, refusals: 2 });
  expect(compare([[attempts('read', 10), []]])).toEqual([]);
});
