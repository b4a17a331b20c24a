/** A query as sent by clients of the Cube REST API, after validation. */
export interface Query {
  measures?: string[];
  dimensions?: string[];
  segments?: string[];
  filters?: Filter[];
  timeDimensions?: TimeDimension[];
  order?: Record<string, Direction> | [string, Direction][];
  limit?: number;
  offset?: number;
  total?: boolean | string;
  timezone?: string;
  ungrouped?: boolean;
  responseFormat?: ResponseFormat;
}

export type Direction = 'asc' | 'desc';
export type ResponseFormat = 'default' | 'compact' | 'columnar';

export type Filter = MemberFilter | { and: Filter[]; or?: undefined } | { or: Filter[]; and?: undefined };
export interface MemberFilter {
  member?: string;
  /** Former name of `member`. */
  dimension?: string;
  operator: Operator;
  values?: unknown[];
  and?: undefined;
  or?: undefined;
}

export interface TimeDimension {
  dimension: string;
  granularity?: string;
  dateRange?: string | string[];
  compareDateRange?: (string | string[])[];
}

export const OPERATORS = [
  'equals',
  'notEquals',
  'contains',
  'notContains',
  'startsWith',
  'notStartsWith',
  'endsWith',
  'notEndsWith',
  'in',
  'notIn',
  'gt',
  'gte',
  'lt',
  'lte',
  'set',
  'notSet',
  'inDateRange',
  'notInDateRange',
  'onTheDate',
  'beforeDate',
  'beforeOrOnDate',
  'afterDate',
  'afterOrOnDate',
  'measureFilter',
] as const;
export type Operator = (typeof OPERATORS)[number];

/** Local wall time in the query's time zone, `YYYY-MM-DDTHH:mm:ss.SSS`. */
export type LocalStamp = string;
export type LocalRange = [from: LocalStamp, to: LocalStamp];

export interface NormalizedFilter {
  member: string;
  operator: Operator;
  /** As strings; relative dates are resolved to local timestamps. */
  values?: (string | null)[];
}
export type NormalizedFilterTree =
  NormalizedFilter | { and: NormalizedFilterTree[] } | { or: NormalizedFilterTree[] };

export interface NormalizedTimeDimension {
  dimension: string;
  granularity?: string;
  dateRange?: LocalRange;
}

/** The query that `/v1/load` echoes, with members in this order. */
export interface NormalizedQuery {
  measures?: string[];
  dimensions: string[];
  segments?: string[];
  timeDimensions: NormalizedTimeDimension[];
  filters: NormalizedFilterTree[];
  order?: { id: string; desc: boolean }[];
  limit: number;
  rowLimit: number;
  offset?: number;
  timezone: string;
  total?: boolean | string;
  ungrouped?: boolean;
  responseFormat?: ResponseFormat;
}
