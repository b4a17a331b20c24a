import { once } from 'node:events';
import {
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
} from 'node:http';
import { buffer } from 'node:stream/consumers';
import request from 'supertest';
import type { TestKey } from './fake-accounts.js';

/** The key, or other headers, that every request of a test sends. */
export type Caller = Pick<TestKey, 'key'> | Record<string, string>;

/** Returns an HTTP client for an app, with or without a caller: `http(app, user).get('/perks').expect(200)`. */
export function http({ url }: { url: string }, caller: Caller = {}): ReturnType<typeof request.agent> {
  const headers = typeof caller.key === 'string' ? { 'x-api-key': caller.key } : caller;
  return request.agent(url).set(headers);
}

export interface AsIs {
  /** Path and query. */
  path: string;
  method?: string;
  headers?: OutgoingHttpHeaders;
  body?: string | Buffer;
}

/** Sends a request byte for byte where a client library would normalize it (dot segments, fragments, odd headers). */
export async function sendAsIs(
  { url }: { url: string },
  { body, ...options }: AsIs,
): Promise<{ status: number; headers: IncomingHttpHeaders; bytes: Buffer; text: string }> {
  const { hostname, port } = new URL(url);
  const request = httpRequest({ hostname, port, ...options }).end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const bytes = await buffer(response);
  return { status: response.statusCode!, headers: response.headers, bytes, text: bytes.toString() };
}
