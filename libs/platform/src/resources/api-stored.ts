import {
  applyDecorators,
  createParamDecorator,
  HttpCode,
  UseInterceptors,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
  type Type,
} from '@nestjs/common';
import { ApiHeader, ApiProperty, ApiResponse } from '@nestjs/swagger';
import type { ErrorCode } from '@perkway/domain';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { map, type Observable } from 'rxjs';
import { ApiProblems } from '../openapi/api-problems.js';
import { etagOf } from './etag.js';

/** Sends what is answered with its `ETag`. */
class EtagInterceptor implements NestInterceptor<object> {
  intercept(context: ExecutionContext, next: CallHandler<object>): Observable<object> {
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    return next.handle().pipe(
      map((stored) => {
        void reply.header('etag', etagOf(stored));
        return stored;
      }),
    );
  }
}

/** The header `If-Match`, for `putStored` and `requireDeletable`. */
export const IfMatch = createParamDecorator(
  (_: unknown, context: ExecutionContext): string | undefined =>
    context.switchToHttp().getRequest<FastifyRequest>().headers['if-match'],
);

const withEtag = (type: Type, description: string) =>
  applyDecorators(
    UseInterceptors(EtagInterceptor),
    ApiResponse({
      status: 200,
      description,
      type,
      headers: {
        ETag: {
          description: 'For `If-Match`; changes with every change',
          schema: { type: 'string' },
          example: '"q1bYd0lZt3sGm0aF5xk2pVsiZmV"',
        },
      },
    }),
  );

const ApiIfMatch = () =>
  applyDecorators(
    ApiHeader({
      name: 'If-Match',
      required: false,
      description:
        'The `ETag` of what was read: refused with 412 if it has changed since. `*`: that it exists',
    }),
    ApiProblems('PRECONDITION_FAILED'),
  );

/** A read of what was put. */
export const ApiGetStored = (type: Type, notFound: ErrorCode) =>
  applyDecorators(withEtag(type, 'As it is stored'), ApiProblems(notFound));

/** A PUT that answers what is stored. The handler judges `If-Match` with `putStored`. */
export const ApiPutStored = (type: Type) => applyDecorators(withEtag(type, 'As it is stored'), ApiIfMatch());

/** @param inUse whether it is refused while something needs it */
export const ApiDeleteStored = (notFound: ErrorCode, { inUse = false } = {}) =>
  applyDecorators(
    HttpCode(204),
    ApiResponse({ status: 204, description: 'It is deleted' }),
    ApiIfMatch(),
    ApiProblems(notFound, ...(inUse ? (['IN_USE'] as const) : [])),
  );

/** The members that every resource has besides its settings. */
export class StoredTimes {
  @ApiProperty({ format: 'date-time', example: '2026-11-05T09:30:00.000Z' })
  created_at: string;
  @ApiProperty({
    format: 'date-time',
    description: 'Of the last change; a PUT of what is stored already is none',
    example: '2026-11-05T09:30:00.000Z',
  })
  updated_at: string;
}
