import { setImmediate as otherWork } from 'node:timers/promises';
import type { Model } from '../model/model.js';
import type { DescribedQuery } from './response.js';
import { compile } from './compile.js';
import type { NormalizedQuery } from './query.js';
import type { CompileOptions } from './resolved-query.js';
import { queryError } from './query-error.js';

/** Yields to other requests after this time. */
const SLICE_MS = 10;
const MAX_MS = 1_000;
const MAX_SQL_CHARACTERS = 4_000_000;

/** Compiles the queries of one request, and lets other requests run in between. */
export async function compileAll(
  queries: readonly NormalizedQuery[],
  model: Model,
  account: string,
  options: CompileOptions,
): Promise<DescribedQuery[]> {
  const described: DescribedQuery[] = [];
  let characters = 0;
  let spentMs = 0;
  let sliceFrom = performance.now();
  for (const query of queries) {
    const compiled = compile(query, model, account, options);
    described.push({ query, compiled });
    characters += compiled.text.length + (compiled.total?.text.length ?? 0);
    if (characters > MAX_SQL_CHARACTERS)
      throw queryError('The SQL of the queries of one request would be too long: name fewer members');
    const sliceMs = performance.now() - sliceFrom;
    if (sliceMs < SLICE_MS) continue;
    if ((spentMs += sliceMs) > MAX_MS)
      throw queryError('The queries of one request take too long to compile: send fewer queries');
    await otherWork();
    sliceFrom = performance.now();
  }
  return described;
}
