import { ApiError, ERROR_CODES, type ErrorCode, type FieldProblem } from '@perkway/domain';
import type { ErrorRenderer } from '../errors/error-renderer.js';
import type { Response, Schema } from './types.js';

/** Schemas of error bodies, for `components.schemas`. */
export const ERROR_SCHEMAS: Record<string, Schema> = {
  Problem: {
    type: 'object',
    description: 'An error (RFC 9457)',
    required: ['type', 'title', 'status', 'detail', 'code', 'requestId'],
    properties: {
      type: { type: 'string', format: 'uri-reference', description: 'URL of the explanation of the code' },
      title: { type: 'string', description: 'What the code means' },
      status: { type: 'integer' },
      detail: { type: 'string', description: 'What is wrong with this request' },
      code: { type: 'string', enum: Object.keys(ERROR_CODES), description: 'Stable identifier for programs' },
      requestId: { type: 'string', description: 'The `X-Request-Id` of the response' },
      errors: {
        type: 'array',
        description: 'Present if fields are invalid',
        items: {
          type: 'object',
          required: ['field', 'message'],
          properties: {
            field: {
              type: 'string',
              description: 'Name as in the request; nested fields are written like `groups.0.name`',
            },
            message: { type: 'string' },
          },
        },
      },
    },
  },
  QueryError: {
    type: 'object',
    description: 'An error, as Cube clients expect it',
    required: ['error'],
    properties: { error: { type: 'string' } },
  },
};

const bodySchema = (mediaType: string, codes: string[]): Schema => {
  if (mediaType === 'application/problem+json') return { $ref: '#/components/schemas/Problem' };
  if (mediaType === 'application/json') return { $ref: '#/components/schemas/QueryError' };
  return mediaType === 'text/plain' ? { type: 'string', enum: codes } : { type: 'string' };
};

const EXAMPLE_REQUEST_ID = '8d1c3c2e-5d5b-4f9e-9a53-0f6d3d1c2b7a';
const RETRY_AFTER = { description: 'Seconds', schema: { type: 'integer' }, example: 2 };
const DETAIL = {
  description: 'What is wrong, unless the code says it all',
  schema: { type: 'string' },
};
/** The `Accept` headers of programs and browsers: some errors are data for programs and pages for browsers. */
const ACCEPTS = ['*/*', 'text/html'];

/**
 * Returns the error responses of one operation by status, written by the host's own renderer.
 *
 * @param address path of the operation, by which some hosts choose the format
 * @param wrong the invalid field in the example of `VALIDATION_FAILED`
 */
export function describeProblems(
  codes: Iterable<ErrorCode>,
  render: ErrorRenderer,
  address: string,
  wrong: FieldProblem | undefined,
): Record<string, Response> {
  const responses: Record<string, Response> = {};
  for (const code of new Set(codes)) {
    const { title } = ERROR_CODES[code];
    const error =
      code === 'VALIDATION_FAILED' && wrong
        ? new ApiError(code, `${wrong.field} ${wrong.message}`, [wrong])
        : new ApiError(code);
    for (const accept of ACCEPTS) {
      const {
        status = error.status,
        contentType,
        body,
        headers = {},
      } = render(error, EXAMPLE_REQUEST_ID, { address, accept });
      const { content, ...response } = (responses[status] ??= { description: '', content: {} });
      const mediaType = contentType.split(';')[0]!;
      const examples = (content![mediaType]?.examples ?? {}) as Record<string, object>;
      examples[code] = { summary: title, value: mediaType.endsWith('json') ? JSON.parse(body) : body };
      responses[status] = {
        ...response,
        description: describeCodes(response.description, `\`${code}\`: ${title}`),
        ...headersOf(status, 'perkway-detail' in headers),
        content: {
          ...content,
          [mediaType]: { schema: bodySchema(mediaType, Object.keys(examples)), examples },
        },
      };
    }
  }
  return responses;
}

function headersOf(status: number, hasDetail: boolean): Pick<Response, 'headers'> {
  const headers = {
    ...(status === 429 || status === 503 ? { 'Retry-After': RETRY_AFTER } : {}),
    ...(hasDetail ? { 'Perkway-Detail': DETAIL } : {}),
  };
  return Object.keys(headers).length > 0 ? { headers } : {};
}

const describeCodes = (before: string, line: string): string =>
  before.includes(line) ? before : before ? `${before}. ${line}` : line;
