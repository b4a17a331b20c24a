import { CUBES, type Cube, type Dimension, type Measure } from './cubes.js';
import { granularitiesFor, type Granularity } from './granularities.js';

export { NAMES } from './cubes.js';
export type { Cube, Dimension, Join, Measure, NameTable, Segment } from './cubes.js';
export type { Granularity } from './granularities.js';

export type Member = { cube: Cube; name: string } & (
  { kind: 'dimension'; definition: Dimension } | { kind: 'measure'; definition: Measure }
);

/** The cubes that an account can query, with dimensions for the attribute names that were given to `modelFor`. */
export interface Model {
  cubes: readonly Cube[];
  /** Finds `cube.member`; undefined if either is unknown. */
  find(path: string): Member | undefined;
  cube(name: string): Cube | undefined;
  /** By name; the same for every time dimension. */
  granularities: ReadonlyMap<string, Granularity>;
}

const CMETA_PREFIX = 'cmeta_';

/** A member name cannot contain `-`. */
export const dimensionOfAttribute = (name: string): string => CMETA_PREFIX + name.replaceAll('-', '_');

/** Returns the part after `cmeta_` of an attribute dimension, whether or not the attribute was ever used. */
export const attributeOfMember = (path: string): string | undefined => {
  const name = path.split('.')[1];
  return name?.startsWith(CMETA_PREFIX) ? name.slice(CMETA_PREFIX.length) : undefined;
};

const TIME_MEMBERS: ReadonlySet<string> = new Set(
  CUBES.flatMap(({ name: cube, dimensions }) =>
    Object.entries(dimensions).flatMap(([name, { type }]) => (type === 'time' ? [`${cube}.${name}`] : [])),
  ),
);
/** The same for all accounts, because attributes are never times. */
export const isTimeMember = (path: string): boolean => TIME_MEMBERS.has(path);

/** The name of a custom attribute. `isFolded`: each `_` stands for `_` or `-`, as in the name of a dimension. */
export interface AttributeName {
  name: string;
  isFolded?: boolean;
}

/** Attribute names are `[A-Za-z0-9_-]+`. Checked here because they become part of the SQL. */
const ATTRIBUTE_NAME = /^[A-Za-z0-9_-]+$/;

/** Up to this many names of one dimension are read one by one; more would make the SQL too long. */
const MAX_SOURCES = 4;

const attributeSql = ({ name, isFolded }: AttributeName): string =>
  isFolded && name.includes('_')
    ? `(select a.value from jsonb_each_text(e.cmeta) a where replace(a.key, '-', '_') = '${name}' order by a.key limit 1)`
    : `e.cmeta->>'${name}'`;

/** Several names can fold onto one dimension (`a-b`, `a_b`), which then reads the one that the event has. */
function attributeDimensions(names: readonly AttributeName[]): Record<string, Dimension> {
  const byDimension = new Map<string, AttributeName[]>();
  for (const attribute of [...names].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (!ATTRIBUTE_NAME.test(attribute.name)) continue;
    const dimension = dimensionOfAttribute(attribute.name);
    byDimension.set(dimension, [...(byDimension.get(dimension) ?? []), attribute]);
  }
  return Object.fromEntries(
    [...byDimension].map(([dimension, sources]) => {
      const values = (
        sources.length > MAX_SOURCES
          ? [{ name: sources[0]!.name.replaceAll('-', '_'), isFolded: true }]
          : sources
      ).map(attributeSql);
      return [
        dimension,
        { type: 'string', sql: values.length === 1 ? `(${values[0]})` : `coalesce(${values.join(', ')})` },
      ];
    }),
  );
}

/** @param fiscalYearStart first month of the fiscal year, 1 to 12 */
export function modelFor(attributeNames: readonly AttributeName[], fiscalYearStart = 1): Model {
  const attributes = attributeDimensions(attributeNames);
  const cubes = CUBES.map((cube) => ({ ...cube, dimensions: { ...cube.dimensions, ...attributes } }));
  const byName = new Map(cubes.map((cube) => [cube.name, cube]));
  return {
    cubes,
    cube: (name) => byName.get(name),
    granularities: granularitiesFor(fiscalYearStart),
    find(path) {
      const [cubeName = '', name = ''] = path.split('.');
      const cube = byName.get(cubeName);
      if (!cube) return undefined;
      if (Object.hasOwn(cube.dimensions, name))
        return { cube, name, kind: 'dimension', definition: cube.dimensions[name]! };
      if (Object.hasOwn(cube.measures, name))
        return { cube, name, kind: 'measure', definition: cube.measures[name]! };
      return undefined;
    },
  };
}
