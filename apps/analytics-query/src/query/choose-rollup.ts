import { DateTime } from 'luxon';
import type { Cube, Granularity } from '../model/model.js';
import { ROLLUPS, type Rollup } from '../model/rollups.js';
import { GRAIN_MS } from './coverage.js';

/** What a query needs of the rows that it reads. */
export interface Needs {
  cube: Cube;
  /** Dimensions that it groups or filters by, by name, without times. */
  dimensions: string[];
  measures: string[];
  granularities: Granularity[];
  /** Names of segments, all of which rows must be in. */
  segments: string[];
  timezone: string;
}

/** The only segment is `people`, and of the people in a cell nothing but their number is known. */
export const measureOfCell = (
  { measures }: Rollup,
  cube: Cube,
  name: string,
  segments: readonly string[],
): string | undefined => {
  if (segments.length > 0)
    return name === 'count' || name === 'count_people' ? measures.count_people : undefined;
  return measures[`${cube.name}.${name}`] ?? measures[name];
};

/** The first rollup whose cells can answer it exactly. */
export const chooseRollup = (needs: Needs): Rollup | undefined =>
  needs.measures.length === 0 ? undefined : ROLLUPS.find((rollup) => answers(rollup, needs));

function answers(
  rollup: Rollup,
  { cube, dimensions, measures, granularities, segments, timezone }: Needs,
): boolean {
  if (cube.rows || !cube.eventTypes.every((type) => rollup.eventTypes.includes(type))) return false;
  // A perk view is one cell per hour with the number of its perks, and one per perk and day.
  const hasOwn = (name: string) => measureOfCell(rollup, cube, name, segments) !== undefined;
  return (
    measures.every(hasOwn) &&
    dimensions.every((name) => rollup.dimensions[name] !== undefined) &&
    rollup.key.every((name) => rollup.from === undefined || dimensions.includes(name)) &&
    granularities.every((granularity) => fits(granularity, timezone, rollup.grain))
  );
}

/** What is as long as a cell or longer begins where a cell begins, where the zone of the query lets it. */
function fits({ seconds }: Granularity, timezone: string, grain: Rollup['grain']): boolean {
  const { areWholeHours, isUtc } = offsetsOf(timezone);
  return seconds * 1_000 >= GRAIN_MS[grain] && (grain === 'day' ? isUtc : areWholeHours);
}

interface Offsets {
  /** Local hours begin when UTC hours do. */
  areWholeHours: boolean;
  isUtc: boolean;
}
const known = new Map<string, Offsets>();
const [FIRST_YEAR, LAST_YEAR] = [2020, 2040];

/** Of all that can be stored: events begin in 2020. */
function offsetsOf(timezone: string): Offsets {
  const found = known.get(timezone);
  if (found) return found;
  const offsets = new Set<number>();
  for (let year = FIRST_YEAR; year < LAST_YEAR; year += 1)
    for (let month = 1; month <= 12; month += 1)
      for (const day of [1, 15]) offsets.add(DateTime.utc(year, month, day).setZone(timezone).offset);
  const answer = {
    areWholeHours: [...offsets].every((minutes) => minutes % 60 === 0),
    isUtc: offsets.size === 1 && offsets.has(0),
  };
  known.set(timezone, answer);
  return answer;
}
