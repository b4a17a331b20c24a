import { ERROR_CODES, type DomainError } from '@perkway/domain';

export interface RenderedError {
  contentType: string;
  body: string;
  /** In place of the body, where that is no text. */
  bytes?: Buffer;
  /** In place of the error's own status. */
  status?: number;
  headers?: Readonly<Record<string, string>>;
}

/**
 * How a host writes its errors. For hosts that also answer with pages: `address` is path and query as they came,
 * `accept` the header.
 */
export type ErrorRenderer = (
  error: DomainError,
  requestId: string,
  address?: string,
  accept?: string,
) => RenderedError;

/** RFC 9457. */
export const renderProblem: ErrorRenderer = (error, requestId) => ({
  contentType: 'application/problem+json; charset=utf-8',
  body: JSON.stringify({
    type: `urn:perkway:error:${error.code.toLowerCase().replaceAll('_', '-')}`,
    title: ERROR_CODES[error.code].title,
    status: error.status,
    detail: error.detail,
    code: error.code,
    requestId,
    ...(error.fields.length > 0 ? { errors: error.fields } : {}),
  }),
});

/** The code alone, as the specification has it for gift cards (section 7). */
export const renderPlainCode: ErrorRenderer = (error) => ({
  contentType: 'text/plain; charset=utf-8',
  body: error.code,
});

/** `{"error": string}`, as Cube clients expect it. */
export const renderCubeError: ErrorRenderer = (error) => ({
  contentType: 'application/json; charset=utf-8',
  body: JSON.stringify({ error: error.detail }),
});
