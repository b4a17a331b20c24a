import type { ErrorCode } from '@perkway/client/documents';

/** Includes codes of the client itself, and any code that a newer service may add. */
export type PerkwayErrorCode =
  ErrorCode | 'UNEXPECTED_ANSWER' | 'CONNECTION_FAILED' | 'REQUEST_INVALID' | 'QUERY_FAILED' | (string & {});

/** What is wrong with one field of a request. */
export interface FieldProblem {
  field: string;
  message: string;
}

interface Details {
  status?: number;
  requestId?: string | undefined;
  headers?: Headers;
  errors?: readonly FieldProblem[];
  cause?: unknown;
}

/** An error response, or no usable response; `code` tells which. */
export class PerkwayError extends Error {
  override readonly name = 'PerkwayError';
  /** Undefined if there was no response. */
  readonly status: number | undefined;
  /** Id under which the service logged the request. */
  readonly requestId: string | undefined;
  /** Response headers; undefined if there was no response. */
  readonly headers: Headers | undefined;
  /** The invalid fields. */
  readonly errors: readonly FieldProblem[];

  constructor(
    readonly code: PerkwayErrorCode,
    message: string,
    { status, requestId, headers, errors = [], cause }: Details = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
    this.requestId = requestId;
    this.headers = headers;
    this.errors = errors;
  }
}

export const requestIdOf = ({ headers }: Response): string | undefined =>
  headers.get('x-request-id') ?? undefined;

/** Converts an error response: problem details, a plain code, or the query host's `{"error"}`. */
export function toPerkwayError(response: Response, body: unknown): PerkwayError {
  const { status, headers } = response;
  const requestId = requestIdOf(response);
  if (typeof body === 'string' && /^[A-Z][A-Z_]{2,63}$/.test(body))
    return new PerkwayError(body, headers.get('perkway-detail') ?? body, { status, requestId, headers });
  const {
    code,
    detail,
    title,
    requestId: id,
    errors,
    error,
  } = (body ?? {}) as Partial<Record<string, unknown>>;
  if (typeof code === 'string')
    return new PerkwayError(code, [detail, title, code].find((text) => typeof text === 'string') as string, {
      status,
      requestId: typeof id === 'string' ? id : requestId,
      headers,
      errors: Array.isArray(errors) ? (errors as FieldProblem[]) : [],
    });
  if (typeof error === 'string')
    return new PerkwayError('QUERY_FAILED', error, { status, requestId, headers });
  return unexpected(response);
}

export const unexpected = (response: Response, cause?: unknown): PerkwayError =>
  new PerkwayError(
    'UNEXPECTED_ANSWER',
    `The response (status ${response.status}) does not come from Perkway`,
    {
      status: response.status,
      requestId: requestIdOf(response),
      headers: response.headers,
      cause,
    },
  );
