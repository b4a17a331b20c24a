import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { wantsCsv } from '@perkway/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { requestSignalOf } from './request-signal.decorator.js';

/** What a response with rows depends on, besides the query. */
export interface RespondingRequest {
  gone: AbortSignal;
  /** The client prefers CSV to JSON. */
  wantsCsv: boolean;
  reply: FastifyReply;
}

export const ReplyHeader = createParamDecorator(
  (_data: unknown, context: ExecutionContext): RespondingRequest => ({
    gone: requestSignalOf(context),
    wantsCsv: wantsCsv(context.switchToHttp().getRequest<FastifyRequest>().headers.accept),
    reply: context.switchToHttp().getResponse<FastifyReply>(),
  }),
);
