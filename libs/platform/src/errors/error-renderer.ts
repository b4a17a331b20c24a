import { ERROR_CODES, type ApiError } from '@perkway/domain';

export interface RenderedError {
  contentType: string;
  body: string;
  /** Replaces the body if the body is not a string. */
  bytes?: Buffer;
  /** Replaces the error's own status. */
  status?: number;
  headers?: Readonly<Record<string, string>>;
}

/** The rejected request, for hosts that also respond with pages. */
export interface RejectedRequest {
  /** Path and query, as received. */
  address: string;
  /** The request headers. */
  accept?: string;
  acceptLanguage?: string;
}

/** Formats the errors of a host. `requested` is absent if the input was not a valid request. */
export type ErrorRenderer = (
  error: ApiError,
  requestId: string,
  requested?: RejectedRequest,
) => RenderedError;

/** Renders RFC 9457 problem details. */
export const renderProblem: ErrorRenderer = (error, requestId) => ({
  contentType: 'application/problem+json; charset=utf-8',
  body: JSON.stringify({
    // Every host documents its codes there.
    type: `/errors#${error.code}`,
    title: ERROR_CODES[error.code].title,
    status: error.status,
    detail: error.detail,
    code: error.code,
    requestId,
    ...(error.fields.length > 0 ? { errors: error.fields } : {}),
  }),
});

/** Longer details are cut off. */
const MAX_DETAIL = 1_000;

/**
 * Renders the code alone, as the specification requires for gift cards (section 7). The header `Perkway-Detail`
 * explains it.
 */
export const renderPlainCode: ErrorRenderer = ({ code, detail }) => ({
  contentType: 'text/plain; charset=utf-8',
  body: code,
  headers: { 'perkway-detail': detail.slice(0, MAX_DETAIL).replace(/[^ -~]/gu, '?') },
});

/** Renders `{"error": string}`, which Cube clients expect. */
export const renderCubeError: ErrorRenderer = (error) => ({
  contentType: 'application/json; charset=utf-8',
  body: JSON.stringify({ error: error.detail }),
});
