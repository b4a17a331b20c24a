import { describeGranularity } from './granularities.js';
import type { Cube, Dimension, Measure, Model, Segment } from './model.js';

/**
 * Returns the title that Cube would generate: `perk_views` -> `Perk Views`, `utm_source` -> `Utm Source`, and `id`
 * becomes `ID`.
 */
export const titleOf = (name: string): string =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .split('_')
    .filter(Boolean)
    .map((word) => word[0]!.toUpperCase() + word.slice(1).toLowerCase())
    .join(' ')
    .replace(/\bId(s?)\b/g, 'ID$1');

const titles = (cube: Cube, name: string) => ({
  title: `${titleOf(cube.name)} ${titleOf(name)}`,
  shortTitle: titleOf(name),
});

/** The fields that annotations and `/v1/meta` share. */
const common = (cube: Cube, name: string, type: string, { description }: { description?: string }) => ({
  ...titles(cube, name),
  ...(description ? { description } : {}),
  type,
});

const NUMBER_FORMAT = { name: 'number', specifier: ',.2f' };
const PERCENT = { format: 'percent' };

function drillMembersOf({ name, drillMembers }: Cube) {
  const dimensions = drillMembers.map((member) => `${name}.${member}`);
  return { drillMembers: dimensions, drillMembersGrouped: { measures: [], dimensions } };
}

export const annotateMeasure = (cube: Cube, name: string) => ({
  ...common(cube, name, 'number', cube.measures[name]!),
  ...(cube.measures[name]!.rate ? PERCENT : {}),
  ...drillMembersOf(cube),
});
export const annotateDimension = (cube: Cube, name: string, dimension: Dimension) =>
  common(cube, name, dimension.type, dimension);
export const annotateSegment = (cube: Cube, name: string) => ({
  ...titles(cube, name),
  description: cube.segments![name]!.description,
});

const SHOWN = { isVisible: true, public: true };

const metaMeasure = (cube: Cube, name: string, { aggType }: Measure) => ({
  name: `${cube.name}.${name}`,
  ...annotateMeasure(cube, name),
  formatDescription: NUMBER_FORMAT,
  cumulativeTotal: false,
  cumulative: false,
  aggType,
  ...SHOWN,
});

const metaDimension = (cube: Cube, name: string, dimension: Dimension, { granularities }: Model) => ({
  name: `${cube.name}.${name}`,
  ...annotateDimension(cube, name, dimension),
  suggestFilterValues: true,
  ...(dimension.type === 'number' ? { formatDescription: NUMBER_FORMAT } : {}),
  ...(dimension.type === 'time'
    ? {
        granularities: [...granularities.values()]
          .filter(({ isCustom }) => isCustom)
          .map(describeGranularity),
      }
    : {}),
  ...SHOWN,
  primaryKey: false,
});

const metaSegment = (cube: Cube, name: string) => ({
  name: `${cube.name}.${name}`,
  ...annotateSegment(cube, name),
  ...SHOWN,
});

/** The fields that Cube adds with `extended`, which show the SQL behind the model. */
const extension = {
  cube: ({ eventTypes, rows }: Cube) => ({
    sql: `select * from tracking_events e where e.type in ('${eventTypes.join("', '")}')${rows ? ` and ${rows}` : ''}`,
    fileName: 'cubes.ts',
    joins: [],
    preAggregations: [],
    refreshKey: null,
  }),
  measure: ({ sql, filter, rate }: Measure) => ({
    sql: rate ? `{${rate[0]}}::numeric / nullif({${rate[1]}}, 0)` : sql,
    filters: filter ? [{ sql: filter }] : [],
  }),
  member: ({ sql }: Dimension | Segment) => ({ sql }),
};

/**
 * Yields the JSON of `/v1/meta` in pieces, because there may be thousands of dimensions. No two cubes can be joined, so
 * each is a connected component of its own.
 * @param isExtended include the SQL of every member
 */
export function* metaPieces(model: Model, isExtended = false): Generator<string> {
  yield '{"cubes":[';
  for (const [index, cube] of model.cubes.entries()) {
    const own = {
      name: cube.name,
      type: 'cube',
      title: titleOf(cube.name),
      description: cube.description,
      ...SHOWN,
      connectedComponent: index + 1,
      ...(isExtended ? extension.cube(cube) : {}),
      measures: Object.entries(cube.measures).map(([name, measure]) => ({
        ...metaMeasure(cube, name, measure),
        ...(isExtended ? extension.measure(measure) : {}),
      })),
      segments: Object.entries(cube.segments ?? {}).map(([name, segment]) => ({
        ...metaSegment(cube, name),
        ...(isExtended ? extension.member(segment) : {}),
      })),
      hierarchies: [],
      folders: [],
      nestedFolders: [],
    };
    yield `${index > 0 ? ',' : ''}${JSON.stringify(own).slice(0, -1)},"dimensions":[`;
    let before = '';
    for (const [name, dimension] of Object.entries(cube.dimensions)) {
      yield (
        before +
        JSON.stringify({
          ...metaDimension(cube, name, dimension, model),
          ...(isExtended ? extension.member(dimension) : {}),
        })
      );
      before = ',';
    }
    yield ']}';
  }
  yield ']}';
}
