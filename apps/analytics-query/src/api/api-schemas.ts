import { ApiProperty, ApiPropertyOptional, ApiSchema, getSchemaPath } from '@nestjs/swagger';
import { OPERATORS } from '../query/query.js';

// Only documented here: the form of a query is checked in Cube's own words (../query/check-form.ts), and answers are
// plain objects. Members may come to answers at any time, as in Cube.

const object = { type: 'object', additionalProperties: true } as const;
const strings = { type: 'array', items: { type: 'string' } } as const;
const range = {
  description:
    'From and to, one day, or words such as `today` or `from 6 days ago to now` (`last 7 days` ends yesterday)',
  oneOf: [{ type: 'string' }, { ...strings, minItems: 1, maxItems: 2 }],
};

@ApiSchema({
  name: 'Filter',
  description: 'Either an operator on a member, or `and` or `or` of other filters',
})
export class FilterSchema {
  @ApiPropertyOptional()
  member: string;
  @ApiPropertyOptional({ description: 'The older name of `member`' })
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
  @ApiPropertyOptional({ description: '`second` to `year`' })
  granularity: string;
  @ApiPropertyOptional(range)
  dateRange: unknown;
  @ApiPropertyOptional({
    type: 'array',
    items: range,
    description: 'In place of `dateRange`: a result for each',
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
    description: 'By member, or pairs of member and direction',
    oneOf: [
      { type: 'object', additionalProperties: direction },
      { type: 'array', items: { ...strings, minItems: 2, maxItems: 2 } },
    ],
  })
  order: unknown;
  @ApiPropertyOptional({ type: 'integer', minimum: 0, maximum: 50_000, description: '10,000, if left out' })
  limit: number;
  @ApiPropertyOptional({ type: 'integer', minimum: 0 })
  offset: number;
  @ApiPropertyOptional({ description: 'Also tell how many rows there are without `limit`' })
  total: boolean;
  @ApiPropertyOptional({ description: 'IANA time zone; UTC, if left out' })
  timezone: string;
  @ApiPropertyOptional()
  ungrouped: boolean;
  @ApiPropertyOptional({ enum: ['default', 'compact', 'columnar'] })
  responseFormat: string;
}

@ApiSchema({ name: 'QueryRequest' })
export class QueryRequest {
  @ApiProperty({
    description: 'A query, a list of queries to blend, or either as JSON text',
    oneOf: [
      { $ref: getSchemaPath('Query') },
      { type: 'array', items: { $ref: getSchemaPath('Query') } },
      { type: 'string' },
    ],
  })
  query: unknown;
  @ApiPropertyOptional({
    enum: ['multi'],
    description: 'The client takes several results (compared date ranges, blended queries)',
  })
  queryType: string;
}

@ApiSchema({ name: 'LoadResult' })
export class LoadResult {
  @ApiProperty({ ...object, description: 'The query with everything that was left out filled in' })
  query: object;
  @ApiProperty({ format: 'date-time' })
  lastRefreshTime: string;
  @ApiProperty({ ...object, description: 'Titles and types of the members of the rows' })
  annotation: object;
  @ApiProperty()
  dataSource: string;
  @ApiProperty()
  dbType: string;
  @ApiProperty()
  external: boolean;
  @ApiProperty()
  slowQuery: boolean;
  @ApiPropertyOptional({ type: 'integer', description: 'Where the query asks for it' })
  total: number;
  @ApiProperty({
    description: 'Rows by member, or `members` with `dataset` or `columns`, as `responseFormat` says',
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
  @ApiProperty({ ...object, description: 'What a pivot of the results is made from' })
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
      sql: { type: 'array', items: {}, description: 'The statement, and its parameters as a list' },
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
  @ApiPropertyOptional({ description: 'Where the name does not say it' })
  description: string;
  @ApiProperty({ enum: ['string', 'number', 'time', 'boolean'] })
  type: string;
  @ApiPropertyOptional({ ...object, description: 'Of numbers' })
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
    description: 'Of times: granularities beyond `second` to `year`',
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
