import { OPERATION_NAMES, type Attempt, type Operation } from '@perkway/test-fleet';

interface Latency {
  /** Milliseconds. */
  p50: number;
  p99: number;
}
export interface Comparison {
  operation: Operation;
  alone: Latency;
  attacked: Latency;
  /** The median over the rounds, so that one disturbed round decides nothing. */
  ratio: number;
  /** Requests in attacked rounds that got 503 or no response. */
  refusals: number;
}

/** @param share of the numbers that are not larger than the result */
export function quantile(numbers: number[], share: number): number {
  const sorted = [...numbers].sort((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? NaN;
}

/** Latencies of an operation. Without a response it is infinite. */
const latenciesOf = (attempts: Attempt[], operation: Operation): number[] =>
  attempts
    .filter((attempt) => attempt.operation === operation)
    .map(({ begunAt, acknowledgedAt = Infinity }) => acknowledgedAt - begunAt);

/** Compares rounds without and with an attack by operation. Operations without requests in both are omitted. */
export function compare(rounds: [alone: Attempt[], attacked: Attempt[]][]): Comparison[] {
  return OPERATION_NAMES.flatMap((operation) => {
    const of = rounds.map(
      ([alone, attacked]) => [latenciesOf(alone, operation), latenciesOf(attacked, operation)] as const,
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
      .filter((attempt) => attempt.operation === operation)
      .reduce((sum, attempt) => sum + attempt.refusals, 0);
    return [{ operation, alone: all(0), attacked: all(1), ratio: quantile(ratios, 0.5), refusals }];
  });
}
