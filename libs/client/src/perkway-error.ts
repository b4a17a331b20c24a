import type { ErrorCode } from '@perkway/client/documents';

/** Codes that the client makes itself, and any that a newer service may have. */
export type PerkwayErrorCode =
  ErrorCode | 'UNEXPECTED_ANSWER' | 'CONNECTION_FAILED' | 'QUERY_FAILED' | (string & {});

/** What is wrong with one field of a request. */
export interface FieldProblem {
  field: string;
  message: string;
}

/** A refusal, or no usable answer: `code` says which. */
export class PerkwayError extends Error {
  override readonly name = 'PerkwayError';

  constructor(
    readonly code: PerkwayErrorCode,
    message: string,
    /** Undefined without an answer. */
    readonly status?: number,
    /** Of the answer: for whoever asks the people of Perkway. */
    readonly requestId?: string,
    readonly errors: readonly FieldProblem[] = [],
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** A host's refusal as it writes it: a problem, a code alone, or the query host's `{"error"}`. */
export function toPerkwayError(response: Response, body: unknown): PerkwayError {
  const { status, headers } = response;
  const requestId = headers.get('x-request-id') ?? undefined;
  if (typeof body === 'string' && /^[A-Z][A-Z_]{2,63}$/.test(body))
    return new PerkwayError(body, headers.get('perkway-detail') ?? body, status, requestId);
  const {
    code,
    detail,
    title,
    requestId: id,
    errors,
    error,
  } = (body ?? {}) as Partial<Record<string, unknown>>;
  if (typeof code === 'string')
    return new PerkwayError(
      code,
      [detail, title, code].find((text) => typeof text === 'string') as string,
      status,
      typeof id === 'string' ? id : requestId,
      Array.isArray(errors) ? (errors as FieldProblem[]) : [],
    );
  if (typeof error === 'string') return new PerkwayError('QUERY_FAILED', error, status, requestId);
  return unexpected(response);
}

export const unexpected = ({ status, headers }: Response): PerkwayError =>
  new PerkwayError(
    'UNEXPECTED_ANSWER',
    `The answer (${status}) is none of Perkway's`,
    status,
    headers.get('x-request-id') ?? undefined,
  );
