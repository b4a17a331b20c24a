import {
  createParamDecorator,
  Inject,
  Injectable,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { lastOf, type Caller } from '@perkway/domain';
import type { KeyRateLimiter } from '@perkway/auth';
import { IS_PUBLIC, RATE_LIMIT_HEADERS, type Credentials } from '@perkway/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { TokenVerifier } from './token-verifier.js';

/** The caller of a query; the first argument of the public methods of `LoadService`. */
export type QueryCaller = Pick<Caller, 'account' | 'requestId'>;

/** Injection token of the rate limiter per account. */
export const ACCOUNT_LIMITER = Symbol('ACCOUNT_LIMITER');

type Authenticated = FastifyRequest & { caller?: QueryCaller };

/**
 * Requires a valid analytics token, sent as it is: a `Bearer` prefix makes it invalid. As in Cube,
 * `x-cube-authorization` takes precedence over `Authorization`, for callers behind a proxy that uses `Authorization` itself.
 */
@Injectable()
export class TokenGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly verifier: TokenVerifier,
    @Inject(ACCOUNT_LIMITER) private readonly limiter: Pick<KeyRateLimiter, 'count'>,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    // NATS messages come from our own apps: the broker's permissions decide who may publish what.
    if (context.getType() !== 'http') return true;
    if (this.reflector.getAllAndOverride<boolean>(IS_PUBLIC, [context.getHandler(), context.getClass()]))
      return true;
    const request = context.switchToHttp().getRequest<Authenticated>();
    const { account } = await this.verifier.verify(
      lastOf(request.headers['x-cube-authorization']) ?? request.headers.authorization,
    );
    request.caller = { account, requestId: request.id };
    // Counted by account, because a client may have any number of tokens.
    this.limiter.count(account, context.switchToHttp().getResponse<FastifyReply>());
    return true;
  }
}

/** Describes the guard for the OpenAPI document. */
export const tokenCredentials: Credentials = {
  name: 'analyticsToken',
  scheme: {
    type: 'apiKey',
    name: 'Authorization',
    in: 'header',
    description: 'The token as it is, without `Bearer`',
  },
  requirementsOf: () => ({
    errors: ['API_KEY_INVALID', 'TOO_MANY_REQUESTS', 'DEPENDENCY_UNAVAILABLE'],
    headers: RATE_LIMIT_HEADERS,
  }),
};

export const CurrentCaller = createParamDecorator(
  (_data: unknown, context: ExecutionContext): QueryCaller => {
    const { caller } = context.switchToHttp().getRequest<Authenticated>();
    if (!caller) throw new Error('the handler is public and has no caller');
    return caller;
  },
);
