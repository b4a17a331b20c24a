import { HttpException } from '@nestjs/common';
import { DomainError, ERROR_CODES, unavailable, type ErrorCode } from '@perkway/domain';

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

/** What Fastify refuses by itself. */
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
/** Server shutting down or starting, connection slots used up, statement or lock timeout, deadlock, read-only standby. */
const DATABASE_AWAY = /^(08|57P|53|57014|55P03|40001|40P01|25006)/;
/** Text that Postgres cannot store (NUL, broken encoding). */
const UNSTORABLE_TEXT = new Set(['22021', '22P05']);
/** The last is TypeORM's: it gives back a connection that broke, and the transaction on it goes on for a statement. */
const CONNECTION_MESSAGES =
  /Connection terminated|timeout exceeded when trying to connect|Query read timeout|timeout expired|Client has encountered a connection error|Driver not Connected|not connected|pool after calling end|query runner .*already released/i;

interface DriverError {
  code?: string;
  message?: string;
  driverError?: DriverError;
}

/** True if the database or the way to it is away, rather than the statement wrong. */
export function isDatabaseAway(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isDatabaseAway);
  const { code, message, driverError } = (error ?? {}) as DriverError;
  if (driverError && driverError !== error && isDatabaseAway(driverError)) return true;
  if (typeof code === 'string' && (CONNECTION_LOST.has(code) || DATABASE_AWAY.test(code))) return true;
  return typeof message === 'string' && CONNECTION_MESSAGES.test(message);
}

/** Shutting down, broken off, read-only. */
const SERVER_GONE = /^(08|57P0|25006)/;
const CONNECTION_BROKEN = /Connection terminated unexpectedly|Client has encountered a connection error/;

/** True if the server that was there has ended or can no longer be reached, rather than being late or having much to do. */
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

/** Every thrown thing as an entry of the table of codes; what is not expected becomes INTERNAL_ERROR. */
export function toDomainError(error: unknown): DomainError {
  if (error instanceof DomainError) return error;
  if (error instanceof HttpException) {
    const status = error.getStatus();
    const code = BY_STATUS[status] ?? (status >= 400 && status < 500 ? 'VALIDATION_FAILED' : undefined);
    if (code) return new DomainError(code, FRAMEWORK_DETAILS[code]);
  }
  if (isDatabaseAway(error)) return unavailable('The database');
  if (isUnstorable(error))
    return new DomainError('VALIDATION_FAILED', 'A text has a character that cannot be stored');
  const { statusCode, code } = (error ?? {}) as { statusCode?: number; code?: string };
  if (typeof statusCode === 'number' && typeof code === 'string' && code.startsWith('FST_')) {
    const known = BY_STATUS[statusCode];
    if (known) return new DomainError(known, FRAMEWORK_DETAILS[known]);
  }
  return new DomainError('INTERNAL_ERROR', ERROR_CODES.INTERNAL_ERROR.title);
}
