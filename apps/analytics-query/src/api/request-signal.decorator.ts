import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyReply } from 'fastify';

/** One shared reason, because creating an Error for each request would capture a stack trace each time. */
const GONE = new Error('the client closed the connection');

export function requestSignalOf(context: ExecutionContext): AbortSignal {
  const { raw } = context.switchToHttp().getResponse<FastifyReply>();
  const gone = new AbortController();
  // Also fires after a complete response, when there is nothing left to abort.
  raw.once('close', () => gone.abort(GONE));
  return gone.signal;
}

/** Injects a signal that aborts when the client disconnects, so that abandoned queries stop. */
export const RequestSignal = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  requestSignalOf(context),
);
