import {
  longestSilence,
  SURFACE_NAMES,
  type Attempt,
  type Reckoning,
  type Sum,
  type Surface,
} from '@perkway/trials';

export interface Phase {
  name: string;
  /** Milliseconds of the run. */
  from: number;
  to: number;
}

const NOTHING: Sum = { attempted: 0, answered: 0, lost: 0, doubled: 0 };

function toText(head: string[], rows: string[][]): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]!.length)));
  return all
    .map((row) =>
      row
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!)))
        .join('  '),
    )
    .join('\n');
}

const total = (sums: Iterable<Sum>): Sum => {
  const all = { ...NOTHING };
  for (const sum of sums) for (const key of Object.keys(all) as (keyof Sum)[]) all[key] += sum[key];
  return all;
};
const cells = ({ attempted, answered, lost, doubled }: Sum): string[] =>
  [attempted, answered, lost, doubled].map(String);

/** By fault; then the longest time without an answer of each surface, in seconds; then by surface. */
export function tables(phases: Phase[], attempts: Attempt[], { sums }: Reckoning): string {
  const ofPhase = (index: number) => sums.get(index) ?? new Map<Surface, Sum>();
  const rows = phases.map(({ name, from, to }, index) => [
    name,
    ((to - from) / 1_000).toFixed(0),
    ...cells(total(ofPhase(index).values())),
    ...SURFACE_NAMES.map((surface) => (longestSilence(attempts, surface, from, to) / 1_000).toFixed(1)),
  ]);
  const everything = phases.flatMap((_, index) => [...ofPhase(index)]);
  rows.push(['all', '', ...cells(total(everything.map(([, sum]) => sum))), ...SURFACE_NAMES.map(() => '')]);
  const bySurface = SURFACE_NAMES.map((surface) => [
    surface,
    ...cells(total(everything.filter(([of]) => of === surface).map(([, sum]) => sum))),
  ]);
  return [
    'By fault; to the right the longest time without an answer, in seconds, of each surface',
    toText(['', 's', 'attempted', 'answered', 'lost', 'doubled', ...SURFACE_NAMES], rows),
    '',
    'By surface',
    toText(['', 'attempted', 'answered', 'lost', 'doubled'], bySurface),
  ].join('\n');
}
