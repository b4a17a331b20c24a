import { CUBES, type Cube, type Dimension, type Measure } from './cubes.js';

export type { Cube, Dimension, Join, Measure } from './cubes.js';

export type Member = { cube: Cube; name: string } & (
  { kind: 'dimension'; definition: Dimension } | { kind: 'measure'; definition: Measure }
);

/** The model as one account sees it: the table of cubes, and a dimension for each attribute name that it has used. */
export interface Model {
  cubes: readonly Cube[];
  /** Finds `cube.member`; undefined where either does not exist. */
  find(path: string): Member | undefined;
  cube(name: string): Cube | undefined;
}

const CMETA_PREFIX = 'cmeta_';

/** `-` cannot stand in a member name. */
export const dimensionOfAttribute = (name: string): string => CMETA_PREFIX + name.replaceAll('-', '_');

/** True for what can only be a dimension made from an attribute name, whether or not the name was ever used. */
export const isAttributeMember = (path: string): boolean =>
  path.split('.')[1]?.startsWith(CMETA_PREFIX) ?? false;

/** Attribute names are `[A-Za-z0-9_-]+`; the check stands here because they become part of the SQL. */
const ATTRIBUTE_NAME = /^[A-Za-z0-9_-]+$/;

/** Several names can fold onto one dimension (`a-b`, `a_b`): it reads whichever the event carries. */
function attributeDimensions(names: readonly string[]): Record<string, Dimension> {
  const byDimension = new Map<string, string[]>();
  for (const name of [...names].sort()) {
    if (!ATTRIBUTE_NAME.test(name)) continue;
    const dimension = dimensionOfAttribute(name);
    byDimension.set(dimension, [...(byDimension.get(dimension) ?? []), name]);
  }
  return Object.fromEntries(
    [...byDimension].map(([dimension, sources]) => {
      const values = sources.map((name) => `e.cmeta->>'${name}'`);
      return [
        dimension,
        { type: 'string', sql: values.length === 1 ? `(${values[0]})` : `coalesce(${values.join(', ')})` },
      ];
    }),
  );
}

export function modelFor(attributeNames: readonly string[]): Model {
  const attributes = attributeDimensions(attributeNames);
  const cubes = CUBES.map((cube) =>
    cube.tagged ? { ...cube, dimensions: { ...cube.dimensions, ...attributes } } : cube,
  );
  const byName = new Map(cubes.map((cube) => [cube.name, cube]));
  return {
    cubes,
    cube: (name) => byName.get(name),
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
