import createClient from 'openapi-fetch';
import { HEADERS, type Operation } from './operations.js';
import { PerkwayError, toPerkwayError, unexpected } from './perkway-error.js';

const FIRST_PAUSE_MS = 200;
/** Nobody waits longer than this for another try. */
const LONGEST_PAUSE_MS = 60_000;

export type Input = Readonly<Record<string, unknown>>;
/** The credential of a host, anew for each try. */
export type Credentials = () => Promise<Record<string, string>> | Record<string, string>;

export interface Settings {
  baseUrl: string;
  credentials: Credentials;
  fetch: typeof fetch;
  timeoutMs: number;
  /** Of what may be repeated. */
  tries: number;
}

interface Raw {
  request(
    method: string,
    path: string,
    options: object,
  ): Promise<{ data?: unknown; error?: unknown; response: Response }>;
}

/** Sends one operation, as often as it may be sent, until there is an answer. @throws PerkwayError */
export function sender({ baseUrl, credentials, fetch, timeoutMs, tries }: Settings) {
  const client = createClient({ baseUrl, fetch }) as unknown as Raw;
  return async (operation: Operation, input: Input, mayRepeat: boolean): Promise<unknown> => {
    const { params, body, headers } = split(operation, input);
    for (let attempt = 1; ; attempt += 1) {
      const isLast = !mayRepeat || attempt === tries;
      let answered: Awaited<ReturnType<Raw['request']>>;
      try {
        answered = await client.request(operation.method.toLowerCase(), operation.path, {
          params,
          body,
          headers: { ...headers, ...(await credentials()) },
          parseAs: 'stream',
          redirect: 'manual',
          signal: AbortSignal.timeout(timeoutMs),
          ...(operation.isRaw ? { bodySerializer: (given: unknown) => given, duplex: 'half' } : {}),
        });
      } catch (error) {
        // Of the credentials: it says already what there is to say.
        if (error instanceof PerkwayError) throw error;
        if (isLast)
          throw new PerkwayError(
            'CONNECTION_FAILED',
            `There is no answer from ${baseUrl}`,
            undefined,
            undefined,
            [],
            {
              cause: error,
            },
          );
        await pause(backOff(attempt));
        continue;
      }
      const { response, error } = answered;
      const isBusy = response.status === 429 || response.status === 503;
      const wait = isBusy && !isLast ? retryAfter(response, attempt) : undefined;
      if (wait === undefined || wait > LONGEST_PAUSE_MS) return read(answered.response, error);
      await pause(wait);
    }
  };
}

/** Each member where the operation has it; what is nowhere else is the body's. */
function split({ method, inPath, inQuery, isRaw }: Operation, input: Input) {
  const path: Record<string, unknown> = {};
  const query: Record<string, unknown> = {};
  const headers: Record<string, string> = {};
  const rest: Record<string, unknown> = {};
  const hasBody = method === 'POST' || method === 'PUT';
  for (const [name, value] of Object.entries(input)) {
    if (value === undefined) continue;
    if (inPath.includes(name)) path[name] = value;
    else if (name in HEADERS) headers[HEADERS[name as keyof typeof HEADERS]] = String(value);
    else if (!hasBody || inQuery.includes(name) || /^(?:cmeta|utm)_/.test(name)) query[name] = asText(value);
    else rest[name] = value;
  }
  const body = isRaw ? rest.body : Object.keys(rest).length > 0 ? rest : undefined;
  if (isRaw) headers['Content-Type'] = String(rest.contentType);
  return { params: { path, query }, body, headers };
}

/** A query of analytics is JSON in the query; lists are repeated parameters. */
const asText = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? JSON.stringify(value) : value;

async function read(response: Response, error: unknown): Promise<unknown> {
  const { status } = response;
  if (status >= 300 && status < 400) {
    const location = response.headers.get('location');
    if (location === null) throw unexpected(response);
    return { location };
  }
  if (!response.ok) throw toPerkwayError(response, error);
  const type = response.headers.get('content-type') ?? '';
  if (status === 204 || (type === '' && response.headers.get('content-length') === '0')) return undefined;
  try {
    if (type.startsWith('image/')) return await response.blob();
    if (type.startsWith('application/json')) return await response.json();
  } catch (cause) {
    const { message, code } = unexpected(response);
    throw new PerkwayError(code, message, status, undefined, [], { cause });
  }
  throw unexpected(response);
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Longer each time, and never for two clients the same. */
const backOff = (attempt: number): number => FIRST_PAUSE_MS * 2 ** (attempt - 1) * (0.5 + Math.random() / 2);

function retryAfter({ headers }: Response, attempt: number): number {
  const given = headers.get('retry-after');
  if (given === null) return backOff(attempt);
  const seconds = Number(given);
  const ms = Number.isNaN(seconds) ? Date.parse(given) - Date.now() : seconds * 1000;
  return Number.isNaN(ms) ? backOff(attempt) : Math.max(0, ms);
}
