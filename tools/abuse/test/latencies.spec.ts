import type { Attempt, Operation } from '@perkway/test-fleet';
import { compare, quantile } from '../src/latencies.js';

const attempts = (operation: Operation, ...ms: (number | undefined)[]): Attempt[] =>
  ms.map((each, index) => ({
    operation,
    id: `${index}`,
    phase: 0,
    begunAt: 100,
    acknowledgedAt: each === undefined ? undefined : 100 + each,
    refusals: each === undefined ? 2 : 0,
  }));

it('computes quantiles', () => {
  expect([0.5, 0.99, 1].map((share) => quantile([5, 1, 4, 2, 3], share))).toEqual([3, 5, 5]);
  expect(quantile([], 0.5)).toBeNaN();
});

it('compares the medians of the rounds and counts refusals', () => {
  const rounds = [40, 11, 12].map((attacked): [Attempt[], Attempt[]] => [
    attempts('read', 9, 10, 30),
    attempts('read', attacked, undefined, attacked),
  ]);
  expect(compare(rounds)).toEqual([
    {
      operation: 'read',
      alone: { p50: 10, p99: 30 },
      attacked: { p50: 40, p99: Infinity },
      ratio: 1.2,
      refusals: 6,
    },
  ]);
});

it('omits operations without requests, and reports one that got no response during an attack', () => {
  const [only] = compare([[attempts('read', 10), attempts('read', undefined)]]);
  expect(only).toMatchObject({ operation: 'read', ratio: Infinity, refusals: 2 });
  expect(compare([[attempts('read', 10), []]])).toEqual([]);
});
