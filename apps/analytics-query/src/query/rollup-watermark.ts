/**
 * The time up to which rollups are complete, as read from the database. May be stale; load.service.ts checks that it
 * still holds.
 */
export interface RollupWatermark {
  /** Hours before this have rollup rows; epoch milliseconds. */
  closedTo: number;
  /** Starts of dirty hours; epoch milliseconds. */
  dirty: readonly number[];
}

/** `from` inclusive, `to` exclusive, in epoch milliseconds; either may be infinite. */
export type TimeRange = [from: number, to: number];

export const HOUR_MS = 3_600_000;
export const GRAIN_MS = { hour: HOUR_MS, day: 24 * HOUR_MS } as const;
/** Each range of raw rows is a subquery of the statement. */
const MAX_DIRTY_RANGES = 6;

/** Where rollups and where raw rows are read. Together they cover the whole range, without overlap. */
export interface Segments {
  /** The range to read from rollups, except the `raw` ranges inside it; null if none. */
  fromRollup: TimeRange | null;
  raw: TimeRange[];
}

/** Returns rollups for closed and clean hours, raw rows for the rest. */
export function segmentsOf(
  [from, to]: TimeRange,
  { closedTo, dirty }: RollupWatermark,
  grainMs: number,
): Segments {
  const first = Math.ceil(from / grainMs) * grainMs;
  const last = Math.floor(Math.min(to, closedTo) / grainMs) * grainMs;
  if (!(first < last)) return { fromRollup: null, raw: [[from, to]] };
  const raw: TimeRange[] = dirtyRanges([first, last], dirty, grainMs);
  if (from < first) raw.unshift([from, first]);
  if (last < to) raw.push([last, to]);
  return { fromRollup: [first, last], raw };
}

function dirtyRanges([first, last]: TimeRange, dirty: readonly number[], grainMs: number): TimeRange[] {
  const starts = dirty.map((hour) => Math.floor(hour / grainMs) * grainMs);
  const ranges: TimeRange[] = [];
  for (const start of [...new Set(starts)].sort((a, b) => a - b)) {
    if (start < first || start >= last) continue;
    const before = ranges.at(-1);
    if (before?.[1] === start) before[1] = start + grainMs;
    else ranges.push([start, start + grainMs]);
  }
  // One range from the first to the last reads more raw rows than necessary, but is still right.
  return ranges.length > MAX_DIRTY_RANGES ? [[ranges[0]![0], ranges.at(-1)![1]]] : ranges;
}
