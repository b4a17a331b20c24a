import { HttpException } from '@nestjs/common';
import { ApiError, ERROR_CODES, unavailable, type ErrorCode } from '@perkway/domain';

const BY_STATUS: Readonly<Record<number, ErrorCode>> = {
  400: 'VALIDATION_FAILED',
  401: 'API_KEY_INVALID',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  413: 'PAYLOAD_TOO_LARGE',
  414: 'URI_TOO_LONG',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  429: 'TOO_MANY_REQUESTS',
  503: 'DEPENDENCY_UNAVAILABLE',
};

/** Details of errors that Nest or Fastify throws. */
const FRAMEWORK_DETAILS: Partial<Record<ErrorCode, string>> = {
  VALIDATION_FAILED: 'The request cannot be read',
  UNSUPPORTED_MEDIA_TYPE: 'Use the content type application/json',
};

const CONNECTION_LOST = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ETIMEDOUT',
  'EPIPE',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'EAI_AGAIN',
]);
/**
 * Connection lost, server starting or shutting down, out of resources, statement or lock timeout, serialization
 * failure, deadlock, read-only server, transaction ended because it was idle or took too long.
 */
const DATABASE_UNAVAILABLE = /^(08|57P|53|57014|55P03|40001|40P01|25006|25P0[34])/;
/** A string that Postgres cannot store (NUL, invalid encoding). */
const UNSTORABLE_TEXT = new Set(['22021', '22P05']);
/** TypeORM throws the last one for the next statement of a transaction whose connection has broken. */
const CONNECTION_MESSAGES =
  /Connection terminated|timeout exceeded when trying to connect|Query read timeout|timeout expired|Client has encountered a connection error|Driver not Connected|not connected|pool after calling end|query runner .*already released/i;

interface DriverError {
  code?: string;
  message?: string;
  driverError?: DriverError;
}

/** Returns true if the database is unavailable, rather than the statement wrong. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isDatabaseUnavailable);
  const { code, message, driverError } = (error ?? {}) as DriverError;
  if (driverError && driverError !== error && isDatabaseUnavailable(driverError)) return true;
  if (typeof code === 'string' && (CONNECTION_LOST.has(code) || DATABASE_UNAVAILABLE.test(code))) return true;
  return typeof message === 'string' && CONNECTION_MESSAGES.test(message);
}

/** Returns the code that the database gave for an error; '' if it gave none. */
export function sqlStateOf(error: unknown): string {
  const { code, driverError } = (error ?? {}) as DriverError;
  return driverError?.code ?? code ?? '';
}

/** Data exceptions, violated constraints, limits such as the size of an index row. */
const ROW_REFUSED = /^(22|23|54)/;

/** Returns true if the database rejects the values of a row, so that a retry would fail, too. */
export const isRowRefused = (error: unknown): boolean =>
  !isDatabaseUnavailable(error) && ROW_REFUSED.test(sqlStateOf(error));

/** Syntax, missing rights, a table in the way, limits. */
const DEFINITION_REFUSED = /^(22|42|54)/;

/** Returns true if the database rejects a definition, such as that of a table, so that a retry would fail, too. */
export const isDefinitionRefused = (error: unknown): boolean => DEFINITION_REFUSED.test(sqlStateOf(error));

/** Shutting down, connection lost, read-only. */
const SERVER_GONE = /^(08|57P0|25006)/;
const CONNECTION_BROKEN = /Connection terminated unexpectedly|Client has encountered a connection error/;

/** Returns true if the server is gone or unreachable, rather than slow. */
export function isDatabaseGone(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isDatabaseGone);
  const { code, message } = (error ?? {}) as DriverError;
  if (typeof code === 'string' && (CONNECTION_LOST.has(code) || SERVER_GONE.test(code))) return true;
  return typeof message === 'string' && CONNECTION_BROKEN.test(message);
}

const isUnstorable = (error: unknown): boolean => {
  const { code, driverError } = (error ?? {}) as DriverError;
  return UNSTORABLE_TEXT.has(code ?? '') || UNSTORABLE_TEXT.has(driverError?.code ?? '');
};

/** Maps any thrown value to an entry of the error table. Unexpected values become INTERNAL_ERROR. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof HttpException) {
    const status = error.getStatus();
    const code = BY_STATUS[status] ?? (status >= 400 && status < 500 ? 'VALIDATION_FAILED' : undefined);
    if (code) return new ApiError(code, FRAMEWORK_DETAILS[code]);
  }
  if (isDatabaseUnavailable(error)) return unavailable('The database');
  if (isUnstorable(error))
    return new ApiError('VALIDATION_FAILED', 'A string contains a character that cannot be stored');
  const { statusCode, code } = (error ?? {}) as { statusCode?: number; code?: string };
  if (typeof statusCode === 'number' && typeof code === 'string' && code.startsWith('FST_')) {
    const known = BY_STATUS[statusCode];
    if (known) return new ApiError(known, FRAMEWORK_DETAILS[known]);
  }
  return new ApiError('INTERNAL_ERROR', ERROR_CODES.INTERNAL_ERROR.title);
}
