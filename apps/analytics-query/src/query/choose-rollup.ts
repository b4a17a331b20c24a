import { DateTime } from 'luxon';
import type { Cube, Granularity } from '../model/model.js';
import { ROLLUPS, type Rollup } from '../model/rollups.js';
import { GRAIN_MS } from './rollup-watermark.js';

/** The members that a query reads from the rows. */
export interface Needs {
  cube: Cube;
  /** Names of the dimensions that the query groups or filters by, except those of its `timeDimensions`. */
  dimensions: string[];
  measures: string[];
  granularities: Granularity[];
  /** Names of segments; rows must be in all of them. */
  segments: string[];
  timezone: string;
}

/** Returns the SQL of a measure over rollup rows. With a segment, which can only be `people`, counts only people. */
export const rollupMeasure = (
  { measures }: Rollup,
  cube: Cube,
  name: string,
  segments: readonly string[],
): string | undefined => {
  const ofCube = (measure: string) => measures[`${cube.name}.${measure}`] ?? measures[measure];
  if (segments.length > 0)
    return name === 'count' || name === 'count_people' ? ofCube('count_people') : undefined;
  return ofCube(name);
};

/** Returns the first rollup that gives the exact result. */
export const chooseRollup = (needs: Needs): Rollup | undefined =>
  needs.measures.length === 0 ? undefined : ROLLUPS.find((rollup) => canServe(rollup, needs));

function canServe(
  rollup: Rollup,
  { cube, dimensions, measures, granularities, segments, timezone }: Needs,
): boolean {
  if (cube.rows || !cube.eventTypes.every((type) => rollup.eventTypes.includes(type))) return false;
  const hasMeasure = (name: string) => rollupMeasure(rollup, cube, name, segments) !== undefined;
  return (
    measures.every(hasMeasure) &&
    dimensions.every((name) => rollup.dimensions[name] !== undefined) &&
    // A rollup with `from` counts an event once per key, so the query must group or filter by its key.
    rollup.key.every((name) => rollup.from === undefined || dimensions.includes(name)) &&
    granularities.every((granularity) => fits(granularity, timezone, rollup.grain))
  );
}

/**
 * Returns whether each interval of the granularity starts where a rollup row starts: it must be at least as long as the
 * rollup's grain, and the time zone must be whole hours from UTC for rows by hour, or equal to UTC for rows by day.
 */
function fits({ seconds }: Granularity, timezone: string, grain: Rollup['grain']): boolean {
  const { areWholeHours, isUtc } = offsetsOf(timezone);
  return seconds * 1_000 >= GRAIN_MS[grain] && (grain === 'day' ? isUtc : areWholeHours);
}

interface Offsets {
  /** Local hours start when UTC hours do. */
  areWholeHours: boolean;
  isUtc: boolean;
}
const known = new Map<string, Offsets>();
const [FIRST_YEAR, END_YEAR] = [2020, 2040];

/** Samples the offset twice a month, from 2020, when events begin, up to but not including `END_YEAR`. */
function offsetsOf(timezone: string): Offsets {
  const found = known.get(timezone);
  if (found) return found;
  const offsets = new Set<number>();
  for (let year = FIRST_YEAR; year < END_YEAR; year += 1)
    for (let month = 1; month <= 12; month += 1)
      for (const day of [1, 15]) offsets.add(DateTime.utc(year, month, day).setZone(timezone).offset);
  const result = {
    areWholeHours: [...offsets].every((minutes) => minutes % 60 === 0),
    isUtc: offsets.size === 1 && offsets.has(0),
  };
  known.set(timezone, result);
  return result;
}
