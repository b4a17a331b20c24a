import { EmptyResponseException } from '@nestjs/microservices/errors/empty-response.exception.js';
import { TimeoutError } from 'rxjs';

interface Failure {
  /** Nobody could answer now; else the owner answered that it cannot. */
  isAway: boolean;
  /** For the log: holds neither request nor reply. */
  cause: Error;
}

/** What the filter of the owner answers in place of a reply: a code of ERROR_CODES. */
export const refusal = (code: string) => ({ status: 'error', message: code });

const codeOf = (error: unknown): string | undefined =>
  typeof error === 'string' ? error : (error as Partial<ReturnType<typeof refusal>> | null)?.message;

/** True for what the broker's client throws when a message is larger than the broker takes. */
export const isTooLarge = (error: unknown): boolean =>
  error instanceof Error && error.message.includes('max_payload');

/** Why a question has no reply, from whatever Nest's client has thrown. */
export function failureOf(error: unknown, subject: string): Failure {
  const failure = (isAway: boolean, message: string): Failure => ({
    isAway,
    cause: new Error(`${subject}: ${message}`),
  });
  if (error instanceof TimeoutError) return failure(true, 'no answer in time');
  if (error instanceof EmptyResponseException) return failure(true, 'nobody is there to answer');
  if (isTooLarge(error)) return failure(false, 'the request is larger than a message may be');
  if (error instanceof Error) return { isAway: true, cause: error };
  const code = codeOf(error);
  return failure(code === 'DEPENDENCY_UNAVAILABLE', `its owner answered ${code}`);
}
