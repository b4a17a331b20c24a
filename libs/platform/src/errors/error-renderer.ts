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

/** What a refused request asked for, for hosts that also answer with pages. */
export interface Asked {
  /** Path and query as they came. */
  address: string;
  /** The headers. */
  accept?: string;
  acceptLanguage?: string;
}

/** How a host writes its errors. Nothing is known of what never became a request. */
export type ErrorRenderer = (error: DomainError, requestId: string, asked?: Asked) => RenderedError;

/** RFC 9457. */
export const renderProblem: ErrorRenderer = (error, requestId) => ({
  contentType: 'application/problem+json; charset=utf-8',
  body: JSON.stringify({
    // Where every host explains it.
    type: `/errors#${error.code}`,
    title: ERROR_CODES[error.code].title,
    status: error.status,
    detail: error.detail,
    code: error.code,
    requestId,
    ...(error.fields.length > 0 ? { errors: error.fields } : {}),
  }),
});

/** Longer ones help nobody. */
const MAX_DETAIL = 1_000;

/**
 * The code alone, as the specification has it for gift cards (section 7). What there is to say besides is in the header
 * `Perkway-Detail`.
 */
export const renderPlainCode: ErrorRenderer = ({ code, detail }) => ({
  contentType: 'text/plain; charset=utf-8',
  body: code,
  ...(detail === ERROR_CODES[code].title
    ? {}
    : { headers: { 'perkway-detail': detail.slice(0, MAX_DETAIL).replace(/[^ -~]/gu, '?') } }),
});

/** `{"error": string}`, as Cube clients expect it. */
export const renderCubeError: ErrorRenderer = (error) => ({
  contentType: 'application/json; charset=utf-8',
  body: JSON.stringify({ error: error.detail }),
});
