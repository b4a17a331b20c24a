/**
 * Which hours have rollups, as read from the database. May be stale; the reader checks that it still holds (see
 * load.service.ts).
 */
export interface RollupWatermark {
  /** Hours before this have rollup rows; epoch milliseconds. */
  closedTo: number;
  /** Starts of dirty hours; epoch milliseconds. */
  dirty: readonly number[];
}

/** `from` inclusive, `to` exclusive, in epoch milliseconds; either may be infinite. */
export type Stretch = [from: number, to: number];

export const HOUR_MS = 3_600_000;
export const GRAIN_MS = { hour: HOUR_MS, day: 24 * HOUR_MS } as const;
/** Each range of raw rows is a subquery of the statement. */
const MAX_DIRTY_STRETCHES = 6;

/** Where rollups and where raw rows are read. Together they cover the whole range, without overlap. */
export interface Segments {
  /** The range to read from rollups, except the `raw` ranges inside it; null if none. */
  cells: Stretch | null;
  raw: Stretch[];
}

/** Returns rollups for closed and clean hours, raw rows for the rest. */
export function segmentsOf(
  [from, to]: Stretch,
  { closedTo, dirty }: RollupWatermark,
  grainMs: number,
): Segments {
  const first = Math.ceil(from / grainMs) * grainMs;
  const last = Math.floor(Math.min(to, closedTo) / grainMs) * grainMs;
  if (!(first < last)) return { cells: null, raw: [[from, to]] };
  const raw: Stretch[] = dirtyStretches([first, last], dirty, grainMs);
  if (from < first) raw.unshift([from, first]);
  if (last < to) raw.push([last, to]);
  return { cells: [first, last], raw };
}

function dirtyStretches([first, last]: Stretch, dirty: readonly number[], grainMs: number): Stretch[] {
  const starts = dirty.map((hour) => Math.floor(hour / grainMs) * grainMs);
  const stretches: Stretch[] = [];
  for (const start of [...new Set(starts)].sort((a, b) => a - b)) {
    if (start < first || start >= last) continue;
    const before = stretches.at(-1);
    if (before?.[1] === start) before[1] = start + grainMs;
    else stretches.push([start, start + grainMs]);
  }
  // Reading more raw rows than necessary is still right.
  return stretches.length > MAX_DIRTY_STRETCHES ? [[stretches[0]![0], stretches.at(-1)![1]]] : stretches;
}
