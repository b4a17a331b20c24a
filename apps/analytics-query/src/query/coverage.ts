/**
 * Which hours have cells, as the database said lately. May be behind: hours were closed since then, and whoever reads
 * makes sure that it still holds (see reader.ts).
 */
export interface Coverage {
  /** Hours before it have cells; epoch milliseconds. */
  closedTo: number;
  /** Starts of hours whose cells may be behind the raw rows; epoch milliseconds. */
  dirty: readonly number[];
}

/** From the first up to but without the second, epoch milliseconds; may be endless. */
export type Stretch = [from: number, to: number];

export const HOUR_MS = 3_600_000;
export const GRAIN_MS = { hour: HOUR_MS, day: 24 * HOUR_MS } as const;
/** Each stretch of raw rows is a statement of its own within the statement. */
const MAX_DIRTY_STRETCHES = 6;

/** Where the two kinds of rows are read, which together are the whole range and have no moment in common. */
export interface Segments {
  /** The range that cells are read for, without `raw` stretches inside it; null where there is none. */
  cells: Stretch | null;
  raw: Stretch[];
}

/** Cells for what is closed and clean, raw rows for the rest. */
export function segmentsOf([from, to]: Stretch, { closedTo, dirty }: Coverage, grainMs: number): Segments {
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
  // Reading more from raw rows than needed is always right.
  return stretches.length > MAX_DIRTY_STRETCHES ? [[stretches[0]![0], stretches.at(-1)![1]]] : stretches;
}
