import { ERROR_CODES } from '@perkway/domain';
import type { AppName } from '@perkway/domain';
import type { HttpResponse, Silence } from './exchange.js';
import type { FuzzRequest } from './requests.js';

const isCode = (code: unknown): code is keyof typeof ERROR_CODES =>
  typeof code === 'string' && Object.hasOwn(ERROR_CODES, code);

/** Hosts with pages for browsers. */
const HAS_PAGES = new Set<AppName>(['links', 'boost', 'allocation-page', 'console']);

/** Internals that only a fault reveals. */
const LEAKS =
  /node_modules|\bat [\w.<>]+ \(|\bat file:|\.js:\d+|syntax error at or near|\bselect \w+ from\b|ECONNREFUSED|TypeError|QueryFailedError/i;

const typeOf = ({ headers }: HttpResponse): string =>
  (headers.get('content-type') ?? '').split(';')[0]!.trim();

function json(response: HttpResponse): unknown {
  try {
    return JSON.parse(response.body.toString()) as unknown;
  } catch {
    return undefined;
  }
}

/** Returns how an error response differs from the host's error format. */
function refusalProblem(
  app: AppName,
  { path, isSound }: FuzzRequest,
  response: HttpResponse,
): string | undefined {
  const type = typeOf(response);
  const text = response.body.toString();
  if (type === 'text/html' && HAS_PAGES.has(app))
    return /^<!doctype html>/i.test(text) ? undefined : 'the page is not HTML';
  const isProxied = app === 'console' && /^\/api\/(gift|query|perks|boost|token|events)\//.test(path);
  if (app === 'analytics-query' || (isProxied && type === 'application/json')) {
    const body = json(response) as { error?: unknown } | undefined;
    if (type !== 'application/json' || typeof body?.error !== 'string' || Object.keys(body).length !== 1)
      return 'the body is not {"error": string}';
    return undefined;
  }
  if ((app === 'gift-cards' || isProxied) && type === 'text/plain') {
    // If a request is unreadable, its path is unknown.
    if (app === 'gift-cards' && isSound && path.startsWith('/admin/'))
      return 'a plain-text error below /admin';
    if (!isCode(text)) return 'the text is not an error code';
    if (!response.headers.get('perkway-detail')) return `${text} without Perkway-Detail`;
    return ERROR_CODES[text].status === response.status ? undefined : `${text} has a different status`;
  }
  if (type !== 'application/problem+json') return `the content type is ${type || 'missing'}`;
  if (app === 'gift-cards' && isSound && /^\/(pool|reward-links|limits|statements)/.test(path))
    return 'problem details instead of a plain code';
  const body = json(response) as Record<string, unknown> | undefined;
  if (!isCode(body?.code)) return 'the problem has an unknown code';
  const { code, status, title, detail, type: link, requestId } = body;
  if (status !== response.status || ERROR_CODES[code].status !== response.status)
    return `${code} has a different status`;
  if (typeof title !== 'string' || typeof detail !== 'string' || link !== `/errors#${code}`)
    return 'the problem lacks members';
  if (requestId !== response.headers.get('x-request-id')) return 'the request id differs from the header';
  return undefined;
}

/** Returns what is wrong with a response in a few words, the same for the same fault; undefined if it is correct. */
export function judge(
  app: AppName,
  request: FuzzRequest,
  response: HttpResponse | Silence,
): string | undefined {
  const { operation, isSound, isHead } = request;
  if (response === 'late') return 'no response in time';
  if (response === 'closed') return isSound ? 'the connection closed without a response' : undefined;
  const { status, headers, body, trailing } = response;
  const type = typeOf(response);
  if (status >= 500) return `status ${status}`;
  if (status < 200) return `status ${status} as the final response`;
  if (trailing > 0 && isSound) return 'bytes after the response';
  if (!headers.has('x-request-id')) return `no x-request-id with ${status}`;
  if ((status === 429 || status === 503) && !headers.has('retry-after'))
    return `no retry-after with ${status}`;
  if (status === 405 && !headers.has('allow')) return 'no allow with 405';
  if (!isHead && status >= 400) {
    const problem = refusalProblem(app, request, response);
    if (problem) return `${status}: ${problem}`;
    if (LEAKS.test(body.toString())) return `${status}: it reveals internals`;
  }
  if (!operation?.responses) return undefined;
  const types = operation.responses.get(status);
  if (!types) return `status ${status} is not documented`;
  if (isHead || body.length === 0) return undefined;
  if (!types.includes(type)) return `${status} with ${type || 'no content type'} is not documented`;
  if (type === 'application/json' && json(response) === undefined) return `${status}: the body is not JSON`;
  return undefined;
}
