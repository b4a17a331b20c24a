import type { ApiError } from '@perkway/domain';
import type { Member, Model } from '../model/model.js';
import { queryError } from './query-error.js';

const MAX_SUGGESTIONS = 3;
/** Limits the cost: each comparison takes time proportional to the product of both lengths. */
const MAX_LENGTH = 60;
const MAX_COMPARED = 500;

/** Returns Cube's error for an unknown member, with the nearest members that are allowed in its place. */
export function notFound(model: Model, path: string, kind?: Member['kind']): ApiError {
  const [cubeName = '', name = ''] = path.split('.');
  const cube = model.cube(cubeName);
  if (!cube) {
    const near = nearest(
      cubeName,
      model.cubes.map((each) => each.name),
    ).map((each) => `${each}.${name}`);
    return refuse(`Cube '${cubeName}' not found for path '${path}'`, near.filter(model.find));
  }
  const names = [
    ...(kind === 'dimension' ? [] : Object.keys(cube.measures)),
    ...(kind === 'measure' ? [] : Object.keys(cube.dimensions)),
  ];
  const near = nearest(name, names).map((each) => `${cubeName}.${each}`);
  return refuse(`'${name}' not found for path '${path}'`, near);
}

const refuse = (words: string, near: string[]): ApiError =>
  queryError(
    near.length === 0 ? words : `${words}; did you mean ${near.map((each) => `'${each}'`).join(', ')}?`,
  );

/** Returns names within a few edits of the given one, or that contain it, nearest first. */
function nearest(given: string, names: string[]): string[] {
  if (given.length > MAX_LENGTH) return [];
  const wanted = given.toLowerCase();
  const limit = Math.max(2, Math.ceil(wanted.length / 3));
  return names
    .slice(0, MAX_COMPARED)
    .map((name) => {
      const has = wanted.length > 2 && name.toLowerCase().includes(wanted);
      return { name, distance: has ? 1 : distanceOf(wanted, name.toLowerCase(), limit) };
    })
    .filter(({ distance }) => distance <= limit)
    .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .slice(0, MAX_SUGGESTIONS)
    .map(({ name }) => name);
}

/** Returns the Levenshtein distance, or only a lower bound of it if the lengths differ by more than the limit. */
function distanceOf(one: string, other: string, limit: number): number {
  const apart = Math.abs(one.length - other.length);
  if (apart > limit) return apart;
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1)
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + Number(one[i - 1] !== other[j - 1])));
    row = next;
  }
  return row[other.length]!;
}
