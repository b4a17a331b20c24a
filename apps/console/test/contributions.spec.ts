import { formatTerms } from '../web/src/format';
import {
  causeOf,
  compareRates,
  contributionsOf,
  clearAmong,
  largestFall,
  isClearChange,
  perkContributionsOf,
  type Segment,
} from '../web/src/contributions';

const segment = (
  name: string,
  [journeys, reached]: [number, number],
  [journeysBefore, reachedBefore]: [number, number],
): Segment => ({ name, journeys, reached, journeysBefore, reachedBefore });
const pointsOf = (segments: Segment[]) =>
  Object.fromEntries(
    contributionsOf(segments).map(({ name, points }) => [name, Math.round(points * 10_000) / 100]),
  );

describe('the contributions to the change of a click rate', () => {
  it('are those of the example in the docs', () => {
    // 22.5 % before, 27.5 % now.
    expect(
      pointsOf([segment('app', [600, 210], [400, 120]), segment('mail', [400, 65], [600, 105])]),
    ).toEqual({ app: 4, mail: 1 });
  });

  it('consist of that of the rate and that of the share', () => {
    const parts = contributionsOf([
      segment('app', [600, 210], [400, 120]),
      segment('mail', [400, 65], [600, 105]),
    ]);
    expect(parts.map(({ name, fromRate }) => [name, Math.round(fromRate * 1e6)])).toEqual([
      ['app', 25_000],
      ['mail', -6_250],
    ]);
  });

  it('are of the segment that clicks more, if the sizes stay', () => {
    expect(pointsOf([segment('app', [500, 150], [500, 100]), segment('mail', [500, 50], [500, 50])])).toEqual(
      { app: 5, mail: 0 },
    );
  });

  it('are positive for a segment that grows and clicks more than the average', () => {
    const points = pointsOf([segment('app', [800, 240], [200, 60]), segment('mail', [200, 20], [800, 80])]);
    expect(points).toEqual({ app: 6, mail: 6 });
  });

  it('add up to the change of the rate, even if segments are new or gone', () => {
    let seed = 7;
    const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below;
    for (let round = 0; round < 200; round += 1) {
      const segments = Array.from({ length: 1 + random(8) }, (_, nth) => {
        const [journeys, journeysBefore] = [random(500), random(500)];
        return segment(
          `segment-${nth}`,
          [journeys, random(journeys + 1)],
          [journeysBefore, random(journeysBefore + 1)],
        );
      });
      const sum = (of: keyof Omit<Segment, 'name'>) => segments.reduce((all, one) => all + one[of], 0);
      if (sum('journeys') === 0 || sum('journeysBefore') === 0) continue;
      const change = sum('reached') / sum('journeys') - sum('reachedBefore') / sum('journeysBefore');
      const added = contributionsOf(segments).reduce((all, { points }) => all + points, 0);
      expect(added).toBeCloseTo(change, 10);
    }
  });

  it('do not exist without journeys in both periods', () => {
    expect(contributionsOf([segment('app', [10, 1], [0, 0])])).toEqual([]);
  });
});

describe('the contribution of a perk', () => {
  it('is the change of the share of all journeys that clicked it', () => {
    const perks = [
      { name: 'coffee', reached: 100, reachedBefore: 120 },
      { name: 'travel', reached: 200, reachedBefore: 100 },
    ];
    expect(
      perkContributionsOf(perks, { journeys: 1_000, journeysBefore: 800 }).map(({ name, points }) => [
        name,
        points,
      ]),
    ).toEqual([
      ['travel', 0.2 - 0.125],
      ['coffee', 0.1 - 0.15],
    ]);
    expect(perkContributionsOf(perks, { journeys: 1_000, journeysBefore: 0 })).toEqual([]);
  });
});

describe('the cause of a change', () => {
  const parts = [
    { name: 'up', points: 0.06, count: 600 },
    { name: 'down', points: -0.04, count: 400 },
  ];

  it('is the segment that caused at least half of it, in the same direction', () => {
    expect(causeOf(parts, 0.12, 1_000)?.main.name).toBe('up');
    expect(causeOf(parts, -0.05, 1_000)?.main.name).toBe('down');
  });

  it('names the largest other segment too, if it moved the rate by a quarter of the change', () => {
    expect(causeOf(parts, 0.12, 1_000)?.next?.name).toBe('down');
    expect(
      causeOf(
        [
          { name: 'large', points: 0.1, count: 600 },
          { name: 'small', points: 0.02, count: 400 },
        ],
        0.12,
        1_000,
      )?.next,
    ).toBeUndefined();
  });

  it('does not exist if every segment caused less than half of it', () => {
    expect(causeOf(parts, 0.13, 1_000)).toBeUndefined();
    expect(causeOf([], 0.13, 1_000)).toBeUndefined();
  });

  it('is no segment that has nearly all journeys', () => {
    expect(causeOf([{ name: 'all', points: 0.06, count: 910 }], 0.06, 1_000)).toBeUndefined();
  });

  it('is journeys without a value only if no segment with a name qualifies', () => {
    const none = { name: null, points: 0.08, count: 500 };
    const others = [
      { name: 'app', points: 0.05, count: 300 },
      { name: 'mail', points: -0.03, count: 200 },
    ];
    expect(causeOf([none, ...others], 0.1, 1_000)).toEqual({ main: others[0], next: none });
    expect(causeOf([none, others[1]!], 0.1, 1_000)?.main).toBe(none);
  });
});

describe('the largest fall', () => {
  const part = (name: string, points: number, deviations: number | null, count = 100) => ({
    ...{ name, points, deviations, count },
  });

  it('is the part that lowered the rate most, even if all together rose', () => {
    const parts = [part('up', 0.05, 4), part('down', -0.01, -3), part('worst', -0.02, -3)];
    expect(largestFall(parts, 1_000)?.name).toBe('worst');
  });

  it('does not exist if chance explains every fall, or the only one is nearly all journeys', () => {
    expect(largestFall([part('chance', -0.02, -1.9), part('new', -0.01, null)], 1_000)).toBeUndefined();
    expect(largestFall([part('all', -0.02, -3, 910)], 1_000)).toBeUndefined();
  });

  it('must be the clearer, the more parts there are, because chance lowers one of many', () => {
    const among = (count: number) =>
      largestFall(
        Array.from({ length: count }, (_, nth) => part(`${nth}`, -0.01, nth === 0 ? -2.5 : 0)),
        1_000,
      );
    expect(among(3)?.name).toBe('0');
    expect(among(50)).toBeUndefined();
    // From a table of the normal distribution: 2.5 %, 0.5 % and 0.05 %.
    for (const [parts, deviations] of [
      [1, 1.96],
      [5, 2.576],
      [50, 3.29],
    ] as const)
      expect(clearAmong(parts)).toBeCloseTo(deviations, 2);
  });
});

describe('the verdict', () => {
  const verdict = (now: [number, number], before: [number, number]) => compareRates(segment('', now, before));

  it('is better or worse only if chance does not explain the difference', () => {
    expect(verdict([1000, 275], [1000, 225])).toBe('better');
    expect(verdict([1000, 225], [1000, 275])).toBe('worse');
    expect(verdict([11, 3], [9, 2])).toBe('same');
    expect(verdict([1000, 225], [1000, 225])).toBe('same');
    expect(verdict([10, 0], [10, 0])).toBe('same');
    // Fisher's exact test: 17 %.
    expect(verdict([5, 3], [5, 0])).toBe('same');
  });

  it('does not exist without journeys in the earlier period', () => {
    expect(verdict([1000, 275], [0, 0])).toBeNull();
  });
});

it.each([
  [106, 86, false],
  [1_060, 860, true],
  [860, 1_060, true],
  [1, 0, false],
  [0, 0, false],
  // As the exact test (binomial, 95 %) says of small counts.
  [0, 5, false],
  [0, 6, true],
  [7, 1, false],
  [8, 1, true],
  // As many each day of February as of January.
  [28_000, 31_000, false, 28 / 31],
  [31_000, 31_000, true, 28 / 31],
])('%i after %i is a clear change: %s', (now, before, isClear, ratio = 1) => {
  expect(isClearChange(now, before, ratio)).toBe(isClear);
});

describe('formatTerms', () => {
  it.each([
    [0.0149, 0.0074, ['+0.7', '+0.8']],
    [0.0234, 0.0236, ['+2.4', '−0.1']],
    [-0.0205, 0.0004, ['0', '−2.1']],
  ])('rounds the terms of %d points, %d from the rate, so that they add up', (points, fromRate, terms) => {
    expect(formatTerms(points, fromRate)).toEqual(terms);
  });
});
