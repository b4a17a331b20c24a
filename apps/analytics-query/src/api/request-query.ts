import { isRecord, lastOf } from '@perkway/domain';
import { queryError } from '../query/query-error.js';

/** Fields of an API request, in the query string of a GET or the body of a POST. */
export interface RequestFields {
  query?: unknown;
  queryType?: unknown;
}

/** Reads a query string: `query` is a JSON string. */
export function readGet(params: Record<string, unknown>): { query: unknown; isMulti: boolean } {
  const text = lastOf(params.query);
  if (typeof text !== 'string' || text === '') throw queryError('Query param is required');
  return { query: parse(text), isMulti: lastOf(params.queryType) === 'multi' };
}

/** Reads a JSON body: `query` is an object, an array of objects, or a JSON string. */
export function readPost(body: unknown): { query: unknown; isMulti: boolean } {
  if (!isRecord(body)) throw queryError('Query param is required');
  const { query, queryType }: RequestFields = body;
  if (query === undefined || query === null || query === '') throw queryError('Query param is required');
  return { query: typeof query === 'string' ? parse(query) : query, isMulti: queryType === 'multi' };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw queryError(`Unable to decode query param as JSON, error: ${(error as Error).message}`);
  }
}
