import { texts } from '../texts';

/** A response other than 2xx, or no response at all (status 0). */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly requestId?: string,
    readonly retryAfterSeconds?: number,
    readonly fields: readonly { field: string; message: string }[] = [],
    /** The server's own message, with details that the general text for the code lacks. */
    readonly detail?: string,
  ) {
    super(message);
  }

  /** Whether a retry may succeed without any change by the user. */
  get isTransient(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

interface Problem {
  code?: string;
  detail?: string;
  title?: string;
  error?: string;
  requestId?: string;
  errors?: { field: string; message: string }[];
}

export interface Call {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  query?: Record<string, string | number | undefined>;
  /** An object is sent as JSON, a file as is. */
  body?: object | Blob;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /** Timeout for the complete response. */
  timeoutMs?: number;
}

export interface HttpResponse<T> {
  body: T;
  etag: string | null;
  headers: Headers;
}

type Listener = () => void;
let onSignedOut: Listener = () => undefined;
/** Registers the listener for responses that say the session does not exist or has ended. */
export function whenSignedOut(listener: Listener): void {
  onSignedOut = listener;
}
export const reportSignedOut = () => onSignedOut();

const TIMEOUT_MS = 60_000;
/** For files, which may be large and use slow connections. */
export const FILE_TIMEOUT_MS = 30 * 60_000;

export async function send(path: string, call: Call = {}): Promise<Response> {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(call.query ?? {}))
    if (value !== undefined && value !== '') query.set(name, String(value));
  const isFile = call.body instanceof Blob;
  const timeout = AbortSignal.timeout(call.timeoutMs ?? (isFile ? FILE_TIMEOUT_MS : TIMEOUT_MS));
  let response: Response;
  try {
    response = await fetch(query.size ? `${path}?${query}` : path, {
      method: call.method ?? 'GET',
      headers: { ...(call.body && !isFile && { 'content-type': 'application/json' }), ...call.headers },
      body: call.body instanceof Blob ? call.body : call.body && JSON.stringify(call.body),
      signal: call.signal ? AbortSignal.any([call.signal, timeout]) : timeout,
      credentials: 'same-origin',
      redirect: 'error',
    });
  } catch (error) {
    if (call.signal?.aborted) throw error;
    throw new ApiError(0, 'NO_RESPONSE', texts.errors.noResponse);
  }
  if (response.ok) return response;
  const refusal = await readApiError(response);
  if (refusal.status === 401 && path !== '/api/session') reportSignedOut();
  throw refusal;
}

/** Reads an error: a problem document of most hosts, `{"error"}` of the query host, or a bare code (gift cards). */
async function readApiError(response: Response): Promise<ApiError> {
  const text = await response.text().catch(() => '');
  let problem: Problem = {};
  if (/^[A-Z_]{3,60}$/.test(text)) problem = { code: text };
  else
    try {
      problem = JSON.parse(text) as Problem;
    } catch {
      // An error of an intermediary, whose text is not for users.
    }
  const code = problem.code ?? 'UNEXPECTED_ANSWER';
  const known: Record<string, string> = texts.errors.byCode;
  return new ApiError(
    response.status,
    code,
    known[code] ??
      problem.detail ??
      problem.error ??
      problem.title ??
      texts.errors.unexpected(response.status),
    problem.requestId ?? response.headers.get('x-request-id') ?? undefined,
    Number(response.headers.get('retry-after')) || undefined,
    problem.errors,
    problem.detail,
  );
}

export async function sendRequest<T>(path: string, call?: Call): Promise<HttpResponse<T>> {
  const response = await send(path, call);
  const text = await response.text();
  const body: unknown = text === '' ? undefined : JSON.parse(text);
  return { body: body as T, etag: response.headers.get('etag'), headers: response.headers };
}

/** Returns the body alone. */
export const get = async <T>(path: string, query?: Call['query'], signal?: AbortSignal): Promise<T> =>
  (await sendRequest<T>(path, { query, signal })).body;

export interface Page<T> {
  data: T[];
  next_cursor: string | null;
}

/** Reads all pages of a list, up to as many items as a screen can show. */
export async function all<T>(path: string, query: Call['query'] = {}, atMost = 2_000): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | undefined;
  do {
    const page: Page<T> = await get(path, { limit: 200, ...query, cursor });
    items.push(...page.data);
    cursor = page.next_cursor ?? undefined;
  } while (cursor && items.length < atMost);
  return items;
}

/** Saves a blob as a file. */
export function saveFile(name: string, content: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

export async function download(path: string, name: string, call?: Call): Promise<void> {
  saveFile(name, await (await send(path, { ...call, timeoutMs: FILE_TIMEOUT_MS })).blob());
}
