/** A segment's journeys in two periods, and those of them that reached an outcome: a click or a conversion. */
export interface Segment {
  name: string;
  journeys: number;
  reached: number;
  journeysBefore: number;
  reachedBefore: number;
}

/** Journeys and those that reached the outcome, in two periods. */
export type Total = Omit<Segment, 'name'>;

/** Adds up the segments. */
export const totalOf = (segments: Total[]): Total =>
  segments.reduce(
    (all, one) => ({
      journeys: all.journeys + one.journeys,
      reached: all.reached + one.reached,
      journeysBefore: all.journeysBefore + one.journeysBefore,
      reachedBefore: all.reachedBefore + one.reachedBefore,
    }),
    { journeys: 0, reached: 0, journeysBefore: 0, reachedBefore: 0 },
  );

const rateOf = (part: number, whole: number, otherwise: number) => (whole > 0 ? part / whole : otherwise);

/**
 * Splits the change of the rate among the segments. A segment contributes by reaching the outcome more or less often than
 * before (at its average size) and by growing or shrinking (by how much its rate differs from the average of all). The
 * contributions (0.01 is one percentage point) add up to the change of the rate over all segments; `fromRate` is the part of
 * `points` that comes from the rate of the segment. Docs: docs/figures.md, "What changed".
 */
export function contributionsOf<Part extends Segment>(
  segments: Part[],
): (Part & { points: number; fromRate: number })[] {
  const all = totalOf(segments);
  const [now, before] = [all.journeys, all.journeysBefore];
  if (now === 0 || before === 0) return [];
  const average = (all.reached / now + all.reachedBefore / before) / 2;
  return segments
    .map((segment) => {
      const { journeys, reached, journeysBefore, reachedBefore } = segment;
      const rate = rateOf(reached, journeys, rateOf(reachedBefore, journeysBefore, 0));
      const rateBefore = rateOf(reachedBefore, journeysBefore, rate);
      const [share, shareBefore] = [journeys / now, journeysBefore / before];
      const fromRate = (rate - rateBefore) * ((share + shareBefore) / 2);
      const points = fromRate + (share - shareBefore) * ((rate + rateBefore) / 2 - average);
      return { ...segment, points, fromRate };
    })
    .sort(byImpact);
}

const byImpact = (one: { points: number }, other: { points: number }) =>
  Math.abs(other.points) - Math.abs(one.points);

/** The journeys that clicked a perk, or converted with it, in two periods. */
export interface PerkOutcomes {
  name: string;
  reached: number;
  reachedBefore: number;
}

/**
 * A perk contributes the change of the share of all journeys that clicked it, or converted with it. A journey of several
 * perks counts for each, so together the perks can contribute more than the change of the rate.
 */
export const perkContributionsOf = <Perk extends PerkOutcomes>(
  perks: Perk[],
  { journeys, journeysBefore }: Pick<Segment, 'journeys' | 'journeysBefore'>,
): (Perk & { points: number })[] =>
  journeys === 0 || journeysBefore === 0
    ? []
    : perks
        .map((perk) => ({
          ...perk,
          points: perk.reached / journeys - perk.reachedBefore / journeysBefore,
        }))
        .sort(byImpact);

/** A part with a larger share of all journeys has nearly all of them, so it explains nothing. */
const MOST_OF_ALL = 0.9;

/**
 * Returns as `main` the part that made at least half of the change, because the verdict says "mostly", and as `next` the
 * largest other part if it moved the rate, up or down, by at least a quarter of the change. Undefined without `main`.
 * Journeys without a value (no source, for example) are `main` only if no part with a name can be.
 */
export function causeOf<Part extends { name: string | null; points: number; count: number }>(
  parts: Part[],
  change: number,
  journeys: number,
): { main: Part; next?: Part } | undefined {
  const large = parts.filter(
    ({ points, count }) => points / change >= 0.5 && count <= MOST_OF_ALL * journeys,
  );
  const main = large.find(({ name }) => name !== null) ?? large[0];
  if (!main) return undefined;
  return { main, next: parts.find((part) => part !== main && Math.abs(part.points / change) >= 0.25) };
}

/** Two-sided 95 % critical value of the standard normal distribution. */
const CRITICAL_VALUE = 1.96;

/**
 * Returns whether chance alone is unlikely to explain the difference of two counts (Poisson, 95 %). Without a
 * continuity correction, changes of small counts would be called clear too often.
 * @param ratio the number of days of the count, divided by that of the one before
 */
export const isClearChange = (now: number, before: number, ratio = 1) =>
  Math.abs(now - ratio * before) - (1 + ratio) / 2 > CRITICAL_VALUE * Math.sqrt(now + ratio ** 2 * before);

/**
 * Returns by how many standard deviations the rate changed (two-proportion z-test with a continuity correction); null if
 * a period has no journeys.
 */
export function deviationsOf({ journeys, reached, journeysBefore, reachedBefore }: Total): number | null {
  if (journeys === 0 || journeysBefore === 0) return null;
  const pooled = (reached + reachedBefore) / (journeys + journeysBefore);
  const deviation = Math.sqrt(pooled * (1 - pooled) * (1 / journeys + 1 / journeysBefore));
  const change = reached / journeys - reachedBefore / journeysBefore;
  const correction = (1 / journeys + 1 / journeysBefore) / 2;
  return deviation === 0 ? 0 : (Math.sign(change) * Math.max(0, Math.abs(change) - correction)) / deviation;
}

/** Compares two rates, of journeys that clicked or that converted: `same` if chance alone could explain the difference (95 %). */
export function compareRates(total: Total) {
  const deviations = deviationsOf(total);
  if (deviations === null) return null;
  if (Math.abs(deviations) < CRITICAL_VALUE) return 'same';
  return deviations > 0 ? 'better' : 'worse';
}

/**
 * Returns how many standard deviations a change must exceed to be significant at 95 % if this many parts are tested
 * (two-sided, Bonferroni). Approximates the normal quantile (Abramowitz and Stegun, 26.2.23; error under 0.0005).
 */
export function clearAmong(parts: number): number {
  const t = Math.sqrt(-2 * Math.log(0.025 / parts));
  return (
    t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)))
  );
}

/** Returns the part that lowered the rate most, of those whose own rate fell by more than chance explains. */
export const largestFall = <Part extends { points: number; count: number; deviations: number | null }>(
  parts: Part[],
  journeys: number,
): Part | undefined => {
  const clear = clearAmong(parts.length);
  return parts
    .filter(
      ({ points, count, deviations }) =>
        (deviations ?? 0) < -clear && points < 0 && count <= MOST_OF_ALL * journeys,
    )
    .sort((one, other) => one.points - other.points)[0];
};
