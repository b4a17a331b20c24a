import createClient from 'openapi-fetch';
import type { Reply } from './call.js';
import { SYSTEM_CLOCK, type Clock } from './clock.js';
import { HEADERS, type Operation } from './operations.js';
import { PerkwayError, requestIdOf, toPerkwayError, unexpected } from './perkway-error.js';
import { VERSION } from './version.js';

const FIRST_PAUSE_MS = 200;
/** If `Retry-After` is longer, the call fails and the caller decides. */
const MAX_PAUSE_MS = 60_000;

export type Input = Readonly<Record<string, unknown>>;
/** Returns the credentials of a host; called for each attempt. */
export type Credentials = () => Promise<Record<string, string>> | Record<string, string>;

export interface CallOptions {
  /** Aborts the call and its retries. The call then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

export interface Settings {
  baseUrl: string;
  credentials: Credentials;
  fetch: typeof fetch;
  timeoutMs: number;
  /** Maximum attempts of a repeatable request. */
  tries: number;
  clock?: Clock;
}

interface Raw {
  request(
    method: string,
    path: string,
    options: object,
  ): Promise<{ data?: Blob; error?: unknown; response: Response }>;
}

/**
 * Returns a function that sends one operation and retries it if possible. @throws PerkwayError, or the signal's reason
 */
export function sender({ baseUrl, credentials, fetch, timeoutMs, tries, clock = SYSTEM_CLOCK }: Settings) {
  const client = createClient({ baseUrl, fetch }) as unknown as Raw;

  const trySend = async (operation: Operation, input: Input, signal: AbortSignal | undefined) => {
    const { params, body, headers } = split(operation, input);
    const credential = await unlessAborted(Promise.resolve(credentials()), signal);
    // Not AbortSignal.timeout(): Node 20 collects it as garbage while it is only part of another signal.
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(new DOMException('Timed out', 'TimeoutError')), timeoutMs);
    try {
      return await client.request(operation.method.toLowerCase(), operation.path, {
        params,
        body,
        headers: { 'User-Agent': `perkway-client/${VERSION}`, ...headers, ...credential },
        // Read the whole body here, so that an interrupted response is retried like any broken connection.
        parseAs: 'blob',
        redirect: 'manual',
        signal: signal ? AbortSignal.any([signal, late.signal]) : late.signal,
        ...(operation.isRaw ? { bodySerializer: (given: unknown) => given, duplex: 'half' } : {}),
      });
    } finally {
      clearTimeout(timer);
    }
  };

  return async (
    operation: Operation,
    input: Input,
    mayRepeat: boolean,
    { signal }: CallOptions = {},
  ): Promise<Reply> => {
    for (let attempt = 1; ; attempt += 1) {
      signal?.throwIfAborted();
      const isLast = !mayRepeat || attempt === tries;
      let wait: number | undefined;
      try {
        const { response, data, error } = await trySend(operation, input, signal);
        const isBusy = response.status === 429 || response.status === 503;
        wait = isBusy && !isLast ? retryAfter(response, attempt, clock.now()) : undefined;
        if (wait === undefined || wait > MAX_PAUSE_MS) return await read(response, data, error);
      } catch (error) {
        if (signal?.aborted) throw signal.reason;
        // An error response, or an error of the credentials, whose request was already retried.
        if (error instanceof PerkwayError) throw error;
        if (!isConnectionFailure(error))
          throw new PerkwayError('REQUEST_INVALID', 'The request is invalid and cannot be sent', {
            cause: error,
          });
        if (isLast)
          throw new PerkwayError('CONNECTION_FAILED', `No response from ${baseUrl}`, { cause: error });
        wait = backOff(attempt);
      }
      await clock.sleep(wait, signal);
    }
  };
}

/**
 * Distinguishes a broken connection, which can be retried, from a request that can never be sent. `fetch` throws a
 * TypeError for both, but only the former has a cause other than an invalid argument. Compares names, because
 * `instanceof` fails across realms under Jest.
 */
function isConnectionFailure(error: unknown): boolean {
  const { name, cause } = error as { name?: string; cause?: { code?: unknown } };
  if (name === 'URIError') return false;
  if (name !== 'TypeError') return true;
  return cause !== undefined && !/^(?:UND_)?ERR_INVALID_/.test(String(cause.code));
}

/**
 * Settles like the promise, or rejects when the signal aborts. The promise itself continues, because other calls may
 * wait for it.
 */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** Puts each member into path, header or query as the operation requires, and all others into the body. */
function split({ method, inPath, inQuery, isRaw }: Operation, input: Input) {
  const path: Record<string, unknown> = {};
  const query: Record<string, unknown> = {};
  const headers: Record<string, string> = {};
  const rest: Record<string, unknown> = {};
  const hasBody = method === 'POST' || method === 'PUT';
  for (const [name, value] of Object.entries(input)) {
    if (value === undefined) continue;
    if (inPath.includes(name)) path[name] = value;
    else if (name in HEADERS && !inQuery.includes(name))
      headers[HEADERS[name as keyof typeof HEADERS]] = utf8(value);
    else if (!hasBody || inQuery.includes(name) || /^(?:cmeta|utm)_/.test(name)) query[name] = asText(value);
    else rest[name] = value;
  }
  const body = isRaw ? rest.body : Object.keys(rest).length > 0 ? rest : undefined;
  if (isRaw) headers['Content-Type'] = String(rest.contentType);
  return { params: { path, query }, body, headers };
}

/** Objects, such as an analytics query, become JSON; arrays become repeated parameters. */
const asText = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? JSON.stringify(value) : value;

/** Encodes the value as UTF-8 with one character per byte, since `fetch` accepts nothing else in a header. */
const utf8 = (value: unknown): string => String.fromCharCode(...new TextEncoder().encode(String(value)));

async function read(response: Response, body: Blob | undefined, error: unknown): Promise<Reply> {
  const { status, headers } = response;
  return { data: await dataOf(response, body, error), status, headers, requestId: requestIdOf(response) };
}

async function dataOf(response: Response, body: Blob | undefined, error: unknown): Promise<unknown> {
  const { status, headers } = response;
  if (status >= 300 && status < 400) {
    const location = headers.get('location');
    if (location === null) throw unexpected(response);
    return { location };
  }
  if (!response.ok) throw toPerkwayError(response, error);
  const type = headers.get('content-type') ?? '';
  if (status === 204 || (type === '' && !body?.size)) return undefined;
  if (type.startsWith('image/')) return body;
  if (type.startsWith('application/jose')) return body?.text();
  if (!type.startsWith('application/json') || !body) throw unexpected(response);
  try {
    return JSON.parse(await body.text());
  } catch (cause) {
    throw unexpected(response, cause);
  }
}

/** Returns a delay that grows with each attempt, with jitter so that clients do not retry in step. */
const backOff = (attempt: number): number => FIRST_PAUSE_MS * 2 ** (attempt - 1) * (0.5 + Math.random() / 2);

/** Returns milliseconds. `Retry-After` is either seconds or a date. */
function retryAfter({ headers }: Response, attempt: number, now: number): number {
  const given = headers.get('retry-after');
  if (!given) return backOff(attempt);
  const ms = /^\d+$/.test(given) ? Number(given) * 1000 : Date.parse(given) - now;
  return Number.isNaN(ms) ? backOff(attempt) : Math.max(0, ms);
}
