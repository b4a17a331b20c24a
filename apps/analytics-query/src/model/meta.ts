import type { Cube, Dimension, Measure, Model } from './model.js';

/**
 * Titles as Cube makes them: `perk_views` -> `Perk Views`, `utm_source` -> `Utm Source`, and an id is an `ID`.
 */
export const titleOf = (name: string): string =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .split('_')
    .filter(Boolean)
    .map((word) => word[0]!.toUpperCase() + word.slice(1).toLowerCase())
    .join(' ')
    .replace(/\bId(s?)\b/g, 'ID$1');

/** What annotations and `/v1/meta` share. */
const common = (cube: Cube, name: string, type: string) => ({
  title: `${titleOf(cube.name)} ${titleOf(name)}`,
  shortTitle: titleOf(name),
  type,
});

const NUMBER_FORMAT = { name: 'number', specifier: ',.2f' };
const NO_DRILL_MEMBERS = { drillMembers: [], drillMembersGrouped: { measures: [], dimensions: [] } };

export const annotateMeasure = (cube: Cube, name: string) => ({
  ...common(cube, name, 'number'),
  ...NO_DRILL_MEMBERS,
});
export const annotateDimension = (cube: Cube, name: string, { type }: Dimension) => common(cube, name, type);

const metaMeasure = (cube: Cube, name: string, { aggType }: Measure) => ({
  name: `${cube.name}.${name}`,
  ...common(cube, name, 'number'),
  formatDescription: NUMBER_FORMAT,
  cumulativeTotal: false,
  cumulative: false,
  aggType,
  ...NO_DRILL_MEMBERS,
  isVisible: true,
  public: true,
});

const metaDimension = (cube: Cube, name: string, { type }: Dimension) => ({
  name: `${cube.name}.${name}`,
  ...common(cube, name, type),
  suggestFilterValues: true,
  ...(type === 'number' ? { formatDescription: NUMBER_FORMAT } : {}),
  isVisible: true,
  public: true,
  primaryKey: false,
});

/** The body of `/v1/meta`. No two cubes join, so each is a connected component of its own. */
export const metaOf = (model: Model) => ({
  cubes: model.cubes.map((cube, index) => ({
    name: cube.name,
    type: 'cube',
    title: titleOf(cube.name),
    isVisible: true,
    public: true,
    connectedComponent: index + 1,
    measures: Object.entries(cube.measures).map(([name, measure]) => metaMeasure(cube, name, measure)),
    dimensions: Object.entries(cube.dimensions).map(([name, dimension]) =>
      metaDimension(cube, name, dimension),
    ),
    segments: [],
    hierarchies: [],
    folders: [],
    nestedFolders: [],
  })),
});
