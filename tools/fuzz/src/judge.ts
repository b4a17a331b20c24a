import { ERROR_CODES } from '@perkway/domain';
import type { AppName } from '@perkway/domain';
import type { Answer, Silence } from './exchange.js';
import type { FuzzRequest } from './requests.js';

const isCode = (code: unknown): code is keyof typeof ERROR_CODES =>
  typeof code === 'string' && Object.hasOwn(ERROR_CODES, code);

/** Hosts that people open in a browser. */
const HAS_PAGES = new Set<AppName>(['links', 'boost', 'allocation-page', 'console']);

/** What only a fault brings out. */
const LEAKS =
  /node_modules|\bat [\w.<>]+ \(|\bat file:|\.js:\d+|syntax error at or near|\bselect \w+ from\b|ECONNREFUSED|TypeError|QueryFailedError/i;

const typeOf = ({ headers }: Answer): string => (headers.get('content-type') ?? '').split(';')[0]!.trim();

function json(answer: Answer): unknown {
  try {
    return JSON.parse(answer.body.toString()) as unknown;
  } catch {
    return undefined;
  }
}

/** What of a refusal is not as the host writes refusals (design section 3). */
function refusalProblem(app: AppName, { path, isSound }: FuzzRequest, answer: Answer): string | undefined {
  const type = typeOf(answer);
  const text = answer.body.toString();
  if (type === 'text/html' && HAS_PAGES.has(app))
    return /^<!doctype html>/i.test(text) ? undefined : 'the page is none';
  const isProxied = app === 'console' && /^\/api\/(gift|query|perks|boost|token)\//.test(path);
  if (app === 'analytics-query' || (isProxied && type === 'application/json')) {
    const body = json(answer) as { error?: unknown } | undefined;
    if (type !== 'application/json' || typeof body?.error !== 'string' || Object.keys(body).length !== 1)
      return 'the body is not {"error": text}';
    return undefined;
  }
  if ((app === 'gift-cards' || isProxied) && type === 'text/plain') {
    // Of what cannot be read nobody knows where it was to go.
    if (app === 'gift-cards' && isSound && path.startsWith('/admin/')) return 'a text below /admin';
    if (!isCode(text)) return 'the text is no error code';
    return ERROR_CODES[text].status === answer.status ? undefined : `${text} has another status`;
  }
  if (type !== 'application/problem+json') return `the type is ${type || 'missing'}`;
  if (app === 'gift-cards' && isSound && /^\/(pool|reward-links)/.test(path))
    return 'problem details where a code alone is due';
  const body = json(answer) as Record<string, unknown> | undefined;
  if (!isCode(body?.code)) return 'the code of the problem is not known';
  const { code, status, title, detail, type: link, requestId } = body;
  if (status !== answer.status || ERROR_CODES[code].status !== answer.status)
    return `${code} has another status`;
  if (typeof title !== 'string' || typeof detail !== 'string' || link !== `/errors#${code}`)
    return 'the problem lacks members';
  if (requestId !== answer.headers.get('x-request-id')) return 'the request id is another one';
  return undefined;
}

/** What is wrong with an answer, in a few words that are the same for the same fault; undefined: nothing. */
export function judge(app: AppName, request: FuzzRequest, answer: Answer | Silence): string | undefined {
  const { operation, isSound, isHead } = request;
  if (answer === 'late') return 'no answer in time';
  if (answer === 'closed') return isSound ? 'the connection closed without an answer' : undefined;
  const { status, headers, body, trailing } = answer;
  const type = typeOf(answer);
  if (status >= 500) return `status ${status}`;
  if (status < 200) return `status ${status} as the answer`;
  if (trailing > 0 && isSound) return 'more bytes than one answer';
  if (!headers.has('x-request-id')) return `no x-request-id with ${status}`;
  if ((status === 429 || status === 503) && !headers.has('retry-after'))
    return `no retry-after with ${status}`;
  if (status === 405 && !headers.has('allow')) return 'no allow with 405';
  if (!isHead && status >= 400) {
    const problem = refusalProblem(app, request, answer);
    if (problem) return `${status}: ${problem}`;
    if (LEAKS.test(body.toString())) return `${status}: it tells what is inside`;
  }
  if (!operation?.responses) return undefined;
  const types = operation.responses.get(status);
  if (!types) return `status ${status} is not documented`;
  if (isHead || body.length === 0) return undefined;
  if (!types.includes(type)) return `${status} with ${type || 'no type'} is not documented`;
  if (type === 'application/json' && json(answer) === undefined) return `${status}: the body is no JSON`;
  return undefined;
}
