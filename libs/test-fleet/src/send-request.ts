import { request, type IncomingHttpHeaders, type RequestOptions } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AppName } from '@perkway/domain';

const RESPONSE_TIMEOUT_MS = 5_000;
const ADMIN_TIMEOUT_MS = 60_000;
const ADMIN_ATTEMPTS = 20;

export interface HttpResponse {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}
export interface Request {
  method?: string;
  headers?: Record<string, string>;
  body?: object;
}

/** Sends a request, by default over a new connection. */
export const sendRequest = (
  url: string,
  { method = 'GET', headers = {}, body }: Request = {},
  { timeout = RESPONSE_TIMEOUT_MS, ...connection }: RequestOptions = {},
): Promise<HttpResponse> =>
  new Promise((resolve, reject) => {
    const text = body && JSON.stringify(body);
    const sent = request(url, {
      method,
      agent: false,
      headers: { ...(text ? { 'content-type': 'application/json' } : {}), ...headers },
      signal: AbortSignal.timeout(timeout),
      ...connection,
    });
    sent.on('error', reject);
    sent.on('response', (response) => {
      buffer(response).then(
        (bytes) =>
          resolve({ status: response.statusCode!, headers: response.headers, text: bytes.toString() }),
        reject,
      );
    });
    sent.end(text);
  });

/** Calls the management API of an app with an ADMIN key and returns the JSON body. */
export type Admin = <Body>(
  app: AppName,
  method: string,
  path: string,
  body?: object | string,
  contentType?: string,
) => Promise<Body>;

/**
 * Calls a management API and returns the JSON body. Waits if the key's rate limit is used up or the machine is
 * overloaded, and throws on any other status but 2xx.
 */
export async function callAdmin<Body>(
  url: string,
  key: string,
  method: string,
  body?: object | string,
  contentType = 'application/json',
  attempts = ADMIN_ATTEMPTS,
): Promise<Body> {
  const response = await fetch(url, {
    method,
    headers: { 'x-api-key': key, ...(body === undefined ? {} : { 'content-type': contentType }) },
    body: typeof body === 'object' ? JSON.stringify(body) : body,
    signal: AbortSignal.timeout(ADMIN_TIMEOUT_MS),
  });
  if ((response.status === 429 || response.status === 503) && attempts > 1) {
    await sleep(Number(response.headers.get('retry-after')) * 1_000);
    return callAdmin(url, key, method, body, contentType, attempts - 1);
  }
  if (!response.ok) throw new Error(`${method} ${url} returned ${response.status}: ${await response.text()}`);
  return (await response.json()) as Body;
}
