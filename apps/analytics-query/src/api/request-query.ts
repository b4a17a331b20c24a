import { isRecord, lastOf } from '@perkway/domain';
import { queryError } from '../query/query-error.js';

/** What a request to the API carries, in the address of a GET or in the body of a POST. */
export interface RequestFields {
  query?: unknown;
  queryType?: unknown;
}

/** From a query string: `query` is JSON text. */
export function readGet(params: Record<string, unknown>): { query: unknown; isMulti: boolean } {
  const text = lastOf(params.query);
  if (typeof text !== 'string' || text === '') throw queryError('Query param is required');
  return { query: parse(text), isMulti: lastOf(params.queryType) === 'multi' };
}

/** From a JSON body: `query` is an object, a list of objects, or JSON text. */
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
