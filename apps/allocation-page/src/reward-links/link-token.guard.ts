import { createParamDecorator, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { DomainError } from '@perkway/domain';
import { IS_PUBLIC, type Credentials } from '@perkway/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';

const BEARER = /^Bearer +([\w.~+/=-]{1,512})$/i;

/** The token of `Authorization: Bearer <token>`: the only place where it is looked for. */
const readToken = (request: FastifyRequest): string | undefined =>
  BEARER.exec(request.headers.authorization ?? '')?.[1];

/** Refuses by default: what is not `@Public()` needs a link token. Whether the token is known, its owner decides. */
@Injectable()
export class LinkTokenGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    if (this.reflector.getAllAndOverride<boolean>(IS_PUBLIC, [context.getHandler(), context.getClass()]))
      return true;
    const http = context.switchToHttp();
    if (readToken(http.getRequest<FastifyRequest>())) return true;
    void http.getResponse<FastifyReply>().header('www-authenticate', 'Bearer');
    throw new DomainError('LINK_TOKEN_MISSING');
  }
}

/** What the OpenAPI document says of the guard. */
export const linkTokenCredentials: Credentials = {
  name: 'linkToken',
  scheme: { type: 'http', scheme: 'bearer' },
  demandsOf: () => ({ errors: ['LINK_TOKEN_MISSING'] }),
};

/** The token that the guard has found. */
export const LinkToken = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  readToken(context.switchToHttp().getRequest<FastifyRequest>())!,
);
