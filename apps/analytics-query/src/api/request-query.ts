import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { isRecord, lastOf } from '@perkway/domain';
import { parseBody } from '@perkway/platform';
import type { FastifyRequest } from 'fastify';
import { queryError } from '../query/query-error.js';

/** Fields of an API request, in the query string of a GET or the body of a POST. */
export interface RequestFields {
  query?: unknown;
  queryType?: unknown;
}

/** The query of a request, and whether the client accepts several results. */
interface RequestQuery {
  query: unknown;
  isMulti: boolean;
}

/**
 * Parses and reads the query of a request.
 *
 * @throws ApiError 400 if it is missing or not valid JSON
 */
export type ReadQuery = () => RequestQuery;

/** Injects a `ReadQuery`: parsing a large query takes milliseconds, which count towards the account's share of the CPU. */
export const QueryReader = createParamDecorator((_data: unknown, context: ExecutionContext): ReadQuery => {
  const request = context.switchToHttp().getRequest<FastifyRequest>();
  return () =>
    request.method === 'POST'
      ? readPost(parseBody(request))
      : readGet(request.query as Record<string, unknown>);
});

/** Reads a query string: `query` is a JSON string. */
function readGet(params: Record<string, unknown>): RequestQuery {
  const text = lastOf(params.query);
  if (typeof text !== 'string' || text === '') throw queryError('Query param is required');
  return { query: parse(text), isMulti: lastOf(params.queryType) === 'multi' };
}

/** Reads a JSON body: `query` is an object, an array of objects, or a JSON string. */
function readPost(body: unknown): RequestQuery {
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
