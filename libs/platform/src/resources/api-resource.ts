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

/** Adds the `ETag` of the response body. */
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

/** Injects the header `If-Match`, for `upsertResource` and `requireDeletable`. */
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
          description: 'For `If-Match`; differs after every change',
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
      description: 'The `ETag` that you read: 412 if the resource has changed since. `*`: it must exist',
    }),
    ApiProblems('PRECONDITION_FAILED'),
  );

/** Documents a read of a managed resource. */
export const ApiGetResource = (type: Type, notFound: ErrorCode) =>
  applyDecorators(withEtag(type, 'The stored resource'), ApiProblems(notFound));

/** Documents a PUT that returns the stored resource. The handler checks `If-Match` with `upsertResource`. */
export const ApiPutResource = (type: Type) =>
  applyDecorators(withEtag(type, 'The stored resource'), ApiIfMatch());

/** @param inUse true if deletion fails while other resources need this one */
export const ApiDeleteResource = (notFound: ErrorCode, { inUse = false } = {}) =>
  applyDecorators(
    HttpCode(204),
    ApiResponse({ status: 204, description: 'Deleted' }),
    ApiIfMatch(),
    ApiProblems(notFound, ...(inUse ? (['IN_USE'] as const) : [])),
  );

/** Members that every resource has besides its settings. */
export class ResourceTimes {
  @ApiProperty({ format: 'date-time', example: '2026-11-05T09:30:00.000Z' })
  created_at: string;
  @ApiProperty({
    format: 'date-time',
    description: 'Time of the last change; a PUT without a difference is not a change',
    example: '2026-11-05T09:30:00.000Z',
  })
  updated_at: string;
}
