import { ApiProperty, ApiPropertyOptional, ApiSchema, getSchemaPath } from '@nestjs/swagger';
import { OPERATORS } from '../query/query.js';

// For the OpenAPI document only: queries are validated with Cube's own error messages (../query/check-form.ts), and
// responses are plain objects. Responses may gain members at any time, as in Cube.

const object = { type: 'object', additionalProperties: true } as const;
const strings = { type: 'array', items: { type: 'string' } } as const;
const range = {
  description:
    'From and to, one day, or a phrase such as `today` or `from 6 days ago to now` (`last 7 days` ends yesterday)',
  oneOf: [{ type: 'string' }, { ...strings, minItems: 1, maxItems: 2 }],
};

@ApiSchema({
  name: 'Filter',
  description: 'Either an operator on a member, or `and` or `or` with a list of filters',
})
export class FilterSchema {
  @ApiPropertyOptional()
  member: string;
  @ApiPropertyOptional({ description: 'Former name of `member`' })
  dimension: string;
  @ApiPropertyOptional({ enum: OPERATORS })
  operator: string;
  @ApiPropertyOptional({
    type: 'array',
    items: { oneOf: [{ type: 'string', nullable: true }, { type: 'number' }, { type: 'boolean' }] },
  })
  values: unknown[];
  @ApiPropertyOptional({ type: () => [FilterSchema] })
  and: FilterSchema[];
  @ApiPropertyOptional({ type: () => [FilterSchema] })
  or: FilterSchema[];
}

@ApiSchema({ name: 'TimeDimension' })
export class TimeDimensionSchema {
  @ApiProperty()
  dimension: string;
  @ApiPropertyOptional({ description: '`second` to `year`, or one of the `granularities` that `meta` lists' })
  granularity: string;
  @ApiPropertyOptional(range)
  dateRange: unknown;
  @ApiPropertyOptional({
    type: 'array',
    items: range,
    description: 'Instead of `dateRange`: one result per range',
  })
  compareDateRange: unknown[];
}

const direction = { type: 'string', enum: ['asc', 'desc'] };

@ApiSchema({ name: 'Query' })
export class QuerySchema {
  @ApiPropertyOptional(strings)
  measures: string[];
  @ApiPropertyOptional(strings)
  dimensions: string[];
  @ApiPropertyOptional(strings)
  segments: string[];
  @ApiPropertyOptional({ type: [FilterSchema] })
  filters: FilterSchema[];
  @ApiPropertyOptional({ type: [TimeDimensionSchema] })
  timeDimensions: TimeDimensionSchema[];
  @ApiPropertyOptional({
    description: 'An object of member and direction, or an array of [member, direction] pairs',
    oneOf: [
      { type: 'object', additionalProperties: direction },
      { type: 'array', items: { ...strings, minItems: 2, maxItems: 2 } },
    ],
  })
  order: unknown;
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    maximum: 50_000,
    description: 'Default: 10,000; above the maximum: 500',
  })
  limit: number;
  @ApiPropertyOptional({ type: 'integer', minimum: 0 })
  offset: number;
  @ApiPropertyOptional({ description: 'Also return the number of rows without `limit` and `offset`' })
  total: boolean;
  @ApiPropertyOptional({ description: 'IANA time zone. Default: UTC' })
  timezone: string;
  @ApiPropertyOptional()
  ungrouped: boolean;
  @ApiPropertyOptional({ enum: ['default', 'compact', 'columnar'] })
  responseFormat: string;
}

@ApiSchema({ name: 'QueryRequest' })
export class QueryRequest {
  @ApiProperty({
    description: 'A query, an array of queries to blend, or either as a JSON string',
    oneOf: [
      { $ref: getSchemaPath('Query') },
      { type: 'array', items: { $ref: getSchemaPath('Query') } },
      { type: 'string' },
    ],
  })
  query: unknown;
  @ApiPropertyOptional({
    enum: ['multi'],
    description: 'Set if the client accepts several results (compared date ranges, blended queries)',
  })
  queryType: string;
}

@ApiSchema({ name: 'LoadResult' })
export class LoadResult {
  @ApiProperty({ ...object, description: 'The query with all defaults filled in' })
  query: object;
  @ApiProperty({ format: 'date-time' })
  lastRefreshTime: string;
  @ApiProperty({ ...object, description: 'Titles and types of the members in the rows' })
  annotation: object;
  @ApiProperty()
  dataSource: string;
  @ApiProperty()
  dbType: string;
  @ApiProperty()
  external: boolean;
  @ApiProperty()
  slowQuery: boolean;
  @ApiPropertyOptional({ type: 'integer', description: 'Present if the query asked for it' })
  total: number;
  @ApiProperty({
    description: 'Rows as objects, or `members` with `dataset` or `columns`, depending on `responseFormat`',
    oneOf: [{ type: 'array', items: object }, object],
  })
  data: unknown;
}

@ApiSchema({ name: 'LoadResults', description: 'With `queryType=multi`' })
export class LoadResults {
  @ApiProperty({ enum: ['regularQuery', 'compareDateRangeQuery', 'blendingQuery'] })
  queryType: string;
  @ApiProperty({ type: [LoadResult] })
  results: LoadResult[];
  @ApiProperty({ ...object, description: 'The query to pivot the results by' })
  pivotQuery: object;
  @ApiProperty()
  slowQuery: boolean;
}

@ApiSchema({ name: 'SqlResult' })
export class SqlResult {
  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    required: ['sql'],
    properties: {
      sql: {
        type: 'array',
        items: {},
        description: 'An array of the statement and the array of its parameters',
      },
    },
  })
  sql: object;
  @ApiProperty()
  dataSource: string;
}

@ApiSchema({ name: 'DryRunResult' })
export class DryRunResult {
  @ApiProperty({ enum: ['regularQuery', 'compareDateRangeQuery', 'blendingQuery'] })
  queryType: string;
  @ApiProperty({ type: 'array', items: object })
  normalizedQueries: object[];
  @ApiProperty({ type: 'array', items: { type: 'object', additionalProperties: direction } })
  queryOrder: object[];
  @ApiProperty({ type: 'array', items: object })
  transformedQueries: object[];
  @ApiProperty(object)
  pivotQuery: object;
}

const extended = (schema: object) => ApiPropertyOptional({ ...schema, description: 'With `extended`' });

class MemberSchema {
  @ApiProperty({ description: '`cube.member`' })
  name: string;
  @ApiProperty()
  title: string;
  @ApiProperty()
  shortTitle: string;
  @ApiPropertyOptional({ description: 'Left out if the name says it all' })
  description: string;
  @ApiProperty({ enum: ['string', 'number', 'time', 'boolean'] })
  type: string;
  @ApiPropertyOptional({ ...object, description: 'For numbers' })
  formatDescription: object;
  @extended({ type: 'string' })
  sql: string;
  @ApiProperty()
  isVisible: boolean;
  @ApiProperty()
  public: boolean;
}

@ApiSchema({ name: 'Measure' })
export class MeasureSchema extends MemberSchema {
  @ApiProperty()
  aggType: string;
  @ApiProperty()
  cumulative: boolean;
  @ApiProperty()
  cumulativeTotal: boolean;
  @ApiProperty(strings)
  drillMembers: string[];
  @ApiProperty(object)
  drillMembersGrouped: object;
  @ApiPropertyOptional({ enum: ['percent'] })
  format: string;
  @extended({ type: 'array', items: object })
  filters: object[];
}

@ApiSchema({ name: 'Dimension' })
export class DimensionSchema extends MemberSchema {
  @ApiProperty()
  suggestFilterValues: boolean;
  @ApiPropertyOptional({
    type: 'array',
    items: object,
    description: 'For times: granularities other than `second` to `year`',
  })
  granularities: object[];
  @ApiProperty()
  primaryKey: boolean;
}

@ApiSchema({ name: 'Cube' })
export class CubeSchema {
  @ApiProperty()
  name: string;
  @ApiProperty({ enum: ['cube', 'view'] })
  type: string;
  @ApiProperty()
  title: string;
  @ApiProperty()
  isVisible: boolean;
  @ApiProperty()
  public: boolean;
  @ApiProperty()
  description: string;
  @ApiProperty({ type: 'integer' })
  connectedComponent: number;
  @extended({ type: 'string' })
  sql: string;
  @extended({ type: 'string' })
  fileName: string;
  @extended({ type: 'array', items: object })
  joins: object[];
  @extended({ type: 'array', items: object })
  preAggregations: object[];
  @extended({ ...object, nullable: true })
  refreshKey: object | null;
  @ApiProperty({ type: [MeasureSchema] })
  measures: MeasureSchema[];
  @ApiProperty({ type: [DimensionSchema] })
  dimensions: DimensionSchema[];
  @ApiProperty({ type: 'array', items: object })
  segments: object[];
  @ApiProperty({ type: 'array', items: object })
  hierarchies: object[];
  @ApiProperty({ type: 'array', items: object })
  folders: object[];
  @ApiProperty({ type: 'array', items: object })
  nestedFolders: object[];
}

@ApiSchema({ name: 'Meta' })
export class MetaResult {
  @ApiProperty({ type: [CubeSchema] })
  cubes: CubeSchema[];
}
