import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { readWeightedList } from '@perkway/domain';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { hangupOf } from './hangup.decorator.js';

/** What an answer of rows depends on beside the query. */
export interface AnsweringRequest {
  gone: AbortSignal;
  /** The client would rather have CSV than JSON. */
  wantsCsv: boolean;
  reply: FastifyReply;
}

const TYPES = ['application/json', 'application/*', '*/*', 'text/csv', 'text/*'];

function wantsCsv(accept: string | undefined): boolean {
  const best = readWeightedList(accept).find((type) => TYPES.includes(type));
  return best === 'text/csv' || best === 'text/*';
}

export const Answering = createParamDecorator(
  (_data: unknown, context: ExecutionContext): AnsweringRequest => ({
    gone: hangupOf(context),
    wantsCsv: wantsCsv(context.switchToHttp().getRequest<FastifyRequest>().headers.accept),
    reply: context.switchToHttp().getResponse<FastifyReply>(),
  }),
);
