import { formatTable } from '@perkway/command-line';
import {
  longestSilence,
  OPERATION_NAMES,
  type Attempt,
  type Reconciliation,
  type Sum,
  type Operation,
} from '@perkway/test-fleet';

export interface Phase {
  name: string;
  /** Milliseconds since the run began. */
  from: number;
  to: number;
}

const NOTHING: Sum = { attempted: 0, acknowledged: 0, lost: 0, duplicated: 0 };

const total = (sums: Iterable<Sum>): Sum => {
  const all = { ...NOTHING };
  for (const sum of sums) for (const key of Object.keys(all) as (keyof Sum)[]) all[key] += sum[key];
  return all;
};
const cells = ({ attempted, acknowledged, lost, duplicated }: Sum): string[] =>
  [attempted, acknowledged, lost, duplicated].map(String);

/**
 * Returns a table by fault, with the longest time without an acknowledgment of each operation in seconds, and a table
 * by operation.
 */
export function tables(phases: Phase[], attempts: Attempt[], { sums }: Reconciliation): string {
  const ofPhase = (index: number) => sums.get(index) ?? new Map<Operation, Sum>();
  const rows = phases.map(({ name, from, to }, index) => [
    name,
    ((to - from) / 1_000).toFixed(0),
    ...cells(total(ofPhase(index).values())),
    ...OPERATION_NAMES.map((operation) => (longestSilence(attempts, operation, from, to) / 1_000).toFixed(1)),
  ]);
  const everything = phases.flatMap((_, index) => [...ofPhase(index)]);
  rows.push(['all', '', ...cells(total(everything.map(([, sum]) => sum))), ...OPERATION_NAMES.map(() => '')]);
  const byOperation = OPERATION_NAMES.map((operation) => [
    operation,
    ...cells(total(everything.filter(([of]) => of === operation).map(([, sum]) => sum))),
  ]);
  return [
    'By fault; on the right the longest time without a response, in seconds, by operation',
    formatTable([['', 's', 'attempted', 'acknowledged', 'lost', 'duplicated', ...OPERATION_NAMES], ...rows]),
    '',
    'By operation',
    formatTable([['', 'attempted', 'acknowledged', 'lost', 'duplicated'], ...byOperation]),
  ].join('\n');
}
