import { createParamDecorator, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ApiError } from '@perkway/domain';
import { IS_PUBLIC, type Credentials } from '@perkway/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';

const BEARER = /^Bearer +([\w.~+/=-]{1,512})$/i;

/** Returns the token of `Authorization: Bearer <token>`. Tokens are accepted nowhere else. */
const readToken = (request: FastifyRequest): string | undefined =>
  BEARER.exec(request.headers.authorization ?? '')?.[1];

/**
 * Requires a link token for every handler without `@Public()`. Checks only its format: gift-cards looks the link up.
 */
@Injectable()
export class LinkTokenGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    if (this.reflector.getAllAndOverride<boolean>(IS_PUBLIC, [context.getHandler(), context.getClass()]))
      return true;
    const http = context.switchToHttp();
    if (readToken(http.getRequest<FastifyRequest>())) return true;
    void http.getResponse<FastifyReply>().header('www-authenticate', 'Bearer');
    throw new ApiError('LINK_TOKEN_MISSING');
  }
}

/** Describes the guard for the OpenAPI document. */
export const linkTokenCredentials: Credentials = {
  name: 'linkToken',
  scheme: { type: 'http', scheme: 'bearer' },
  requirementsOf: () => ({ errors: ['LINK_TOKEN_MISSING'] }),
};

/** Injects the link token, which is present because the guard requires one. */
export const LinkToken = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  readToken(context.switchToHttp().getRequest<FastifyRequest>())!,
);
