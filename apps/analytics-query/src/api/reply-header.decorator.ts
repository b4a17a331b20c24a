import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { readWeightedList } from '@perkway/domain';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { requestSignalOf } from './request-signal.decorator.js';

/** What a response with rows depends on, besides the query. */
export interface RespondingRequest {
  gone: AbortSignal;
  /** The client prefers CSV to JSON. */
  wantsCsv: boolean;
  reply: FastifyReply;
}

const TYPES = ['application/json', 'application/*', '*/*', 'text/csv', 'text/*'];

function wantsCsv(accept: string | undefined): boolean {
  const best = readWeightedList(accept).find((type) => TYPES.includes(type));
  return best === 'text/csv' || best === 'text/*';
}

export const ReplyHeader = createParamDecorator(
  (_data: unknown, context: ExecutionContext): RespondingRequest => ({
    gone: requestSignalOf(context),
    wantsCsv: wantsCsv(context.switchToHttp().getRequest<FastifyRequest>().headers.accept),
    reply: context.switchToHttp().getResponse<FastifyReply>(),
  }),
);
