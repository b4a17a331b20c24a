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

/** Explains an error whose body does not. */
const detailHeader = ({ detail }: ApiError) => ({
  'perkway-detail': detail.slice(0, MAX_DETAIL).replace(/[^ -~]/gu, '?'),
});

/**
 * Renders the code alone, as the specification requires for gift cards (section 7). The header `Perkway-Detail`
 * explains it.
 */
export const renderPlainCode: ErrorRenderer = (error) => ({
  contentType: 'text/plain; charset=utf-8',
  body: error.code,
  headers: detailHeader(error),
});

/** Renders `{"error": string}`, which Cube clients expect. As in Cube, the body of a 401 is always the same. */
export const renderCubeError: ErrorRenderer = (error) => {
  const isTokenError = error.code === 'API_KEY_INVALID';
  return {
    contentType: 'application/json; charset=utf-8',
    body: JSON.stringify({ error: isTokenError ? 'Invalid token' : error.detail }),
    ...(isTokenError && { headers: detailHeader(error) }),
  };
};
