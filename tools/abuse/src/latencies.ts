import { SURFACE_NAMES, type Attempt, type Surface } from '@perkway/trials';

interface Latency {
  /** Milliseconds. */
  p50: number;
  p99: number;
}
export interface Comparison {
  surface: Surface;
  alone: Latency;
  attacked: Latency;
  /** The median of the rounds: one that the machine spoiled decides nothing. */
  ratio: number;
  /** Requests of the attacked rounds that were answered 503, or not at all. */
  refusals: number;
}

/** @param share of the numbers that are no larger than the answer */
export function quantile(numbers: number[], share: number): number {
  const sorted = [...numbers].sort((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? NaN;
}

/** What was never answered has taken for ever. */
const latenciesOf = (attempts: Attempt[], surface: Surface): number[] =>
  attempts
    .filter((attempt) => attempt.surface === surface)
    .map(({ begunAt, answeredAt = Infinity }) => answeredAt - begunAt);

/** By surface what rounds alone and rounds beside an attack have taken; surfaces with nothing to compare are left out. */
export function compare(rounds: [alone: Attempt[], attacked: Attempt[]][]): Comparison[] {
  return SURFACE_NAMES.flatMap((surface) => {
    const of = rounds.map(
      ([alone, attacked]) => [latenciesOf(alone, surface), latenciesOf(attacked, surface)] as const,
    );
    const usable = of.filter((pair) => pair.every(({ length }) => length > 0));
    if (usable.length === 0) return [];
    const all = (index: 0 | 1): Latency => {
      const numbers = of.flatMap((pair) => pair[index]);
      return { p50: quantile(numbers, 0.5), p99: quantile(numbers, 0.99) };
    };
    const ratios = usable.map(([alone, attacked]) => quantile(attacked, 0.5) / quantile(alone, 0.5));
    const refusals = rounds
      .flatMap(([, attacked]) => attacked)
      .filter((attempt) => attempt.surface === surface)
      .reduce((sum, attempt) => sum + attempt.refusals, 0);
    return [{ surface, alone: all(0), attacked: all(1), ratio: quantile(ratios, 0.5), refusals }];
  });
}
