import type { Cube, Granularity, Member } from '../model/model.js';
import type { NormalizedFilterTree, NormalizedQuery } from './query.js';
import type { RollupWatermark } from './rollup-watermark.js';

/** One column of the result. */
export interface Column {
  /** `cube.member`, or `cube.time.granularity`. */
  key: string;
  /** Its name in the statement. */
  alias: string;
  kind: 'dimension' | 'timeDimension' | 'measure';
  cube: Cube;
  name: string;
  granularity?: Granularity;
}

export interface CompileOptions {
  /** Without it, only raw rows are read. */
  watermark?: RollupWatermark;
  /** Events before this time are excluded; epoch milliseconds. */
  keptFrom?: number;
}

/** A query whose members exist and belong to one cube. */
export interface ResolvedQuery {
  query: NormalizedQuery;
  account: string;
  cube: Cube;
  columns: Column[];
  resolve: (path: string) => Member;
  /** Names of the query's segments; rows must be in all of them. */
  segments: string[];
  /** Filters on rows. */
  where: NormalizedFilterTree[];
  /** Filters on groups. */
  having: NormalizedFilterTree[];
}
