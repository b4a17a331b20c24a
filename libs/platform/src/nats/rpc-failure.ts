import { EmptyResponseException } from '@nestjs/microservices/errors/empty-response.exception.js';
import { TimeoutError } from 'rxjs';

interface Failure {
  /** True if a retry may help: nobody responded, or the owner lacks a dependency. */
  mayRetry: boolean;
  /** For the log; contains neither request nor reply. */
  cause: Error;
}

/** Builds the error reply of the owner: a code of ERROR_CODES. */
export const refusal = (code: string) => ({ status: 'error', message: code });

const codeOf = (error: unknown): string | undefined =>
  typeof error === 'string' ? error : (error as Partial<ReturnType<typeof refusal>> | null)?.message;

/** Returns true if the NATS client rejected a message that is larger than the broker accepts. */
export const isTooLarge = (error: unknown): boolean =>
  error instanceof Error && error.message.includes('max_payload');

/** Explains why a request has no reply, from the value that Nest's client has thrown. */
export function failureOf(error: unknown, subject: string): Failure {
  const failure = (mayRetry: boolean, message: string): Failure => ({
    mayRetry,
    cause: new Error(`${subject}: ${message}`),
  });
  if (error instanceof TimeoutError) return failure(true, 'no response in time');
  if (error instanceof EmptyResponseException) return failure(true, 'no responders');
  if (isTooLarge(error)) return failure(false, 'the request is too large for a message');
  if (error instanceof Error) return { mayRetry: true, cause: error };
  const code = codeOf(error);
  return failure(code === 'DEPENDENCY_UNAVAILABLE', `its owner responded with ${code}`);
}
