import {
  createParamDecorator,
  Inject,
  Injectable,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { lastOf, type Caller } from '@perkway/domain';
import { IS_PUBLIC, type Credentials } from '@perkway/platform';
import type { FastifyRequest } from 'fastify';
import { TokenVerifier } from './token-verifier.js';

/** Who asks; the explicit first argument of whatever reads an account's data. */
export type QueryCaller = Pick<Caller, 'account' | 'requestId'>;

type Authenticated = FastifyRequest & { caller?: QueryCaller };

/**
 * Lets nobody pass without a valid analytics token, sent raw: a `Bearer` prefix makes it another text. As with Cube,
 * `x-cube-authorization` decides where it is sent, for callers behind a proxy that has its own use for `Authorization`.
 */
@Injectable()
export class TokenGuard implements CanActivate {
  constructor(
    @Inject(Reflector) private readonly reflector: Reflector,
    @Inject(TokenVerifier) private readonly verifier: TokenVerifier,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    // What arrives over NATS comes from our own apps: the broker knows who may publish what.
    if (context.getType() !== 'http') return true;
    if (this.reflector.getAllAndOverride<boolean>(IS_PUBLIC, [context.getHandler(), context.getClass()]))
      return true;
    const request = context.switchToHttp().getRequest<Authenticated>();
    const { account } = await this.verifier.verify(
      lastOf(request.headers['x-cube-authorization']) ?? request.headers.authorization,
    );
    request.caller = { account, requestId: request.id };
    return true;
  }
}

/** What the OpenAPI document says of the guard. */
export const tokenCredentials: Credentials = {
  name: 'analyticsToken',
  scheme: {
    type: 'apiKey',
    name: 'Authorization',
    in: 'header',
    description: 'The token as it is, without `Bearer`',
  },
  demandsOf: () => ({ errors: ['API_KEY_INVALID', 'DEPENDENCY_UNAVAILABLE'] }),
};

export const CurrentCaller = createParamDecorator(
  (_data: unknown, context: ExecutionContext): QueryCaller => {
    const { caller } = context.switchToHttp().getRequest<Authenticated>();
    if (!caller) throw new Error('the handler is public and has no caller');
    return caller;
  },
);
