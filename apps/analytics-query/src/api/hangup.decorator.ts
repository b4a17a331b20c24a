import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyReply } from 'fastify';

/** Given as the reason, because one that is made for each request would take its stack each time. */
const GONE = new Error('the client has gone');

export function hangupOf(context: ExecutionContext): AbortSignal {
  const { raw } = context.switchToHttp().getResponse<FastifyReply>();
  const gone = new AbortController();
  // Also after the whole answer, when there is nothing left to end.
  raw.once('close', () => gone.abort(GONE));
  return gone.signal;
}

/** A signal that comes when the client has gone, so that nothing is computed for nobody. */
export const Hangup = createParamDecorator((_data: unknown, context: ExecutionContext) => hangupOf(context));
