import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { wantsCsv } from '@perkway/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { requestSignalOf } from './request-signal.decorator.js';

/** The parts of a request and its reply that a response with rows needs, besides the query. */
export interface ResponseContext {
  /** Aborts when the client disconnects. */
  gone: AbortSignal;
  /** The client prefers CSV to JSON. */
  wantsCsv: boolean;
  reply: FastifyReply;
}

export const ResponseContextOf = createParamDecorator(
  (_data: unknown, context: ExecutionContext): ResponseContext => ({
    gone: requestSignalOf(context),
    wantsCsv: wantsCsv(context.switchToHttp().getRequest<FastifyRequest>().headers.accept),
    reply: context.switchToHttp().getResponse<FastifyReply>(),
  }),
);
