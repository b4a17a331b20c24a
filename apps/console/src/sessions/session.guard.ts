import { Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { accessOf } from '@perkway/auth';
import { ApiError } from '@perkway/domain';
import { ENV, type Credentials } from '@perkway/platform';
import type { FastifyReply } from 'fastify';
import type { ConsoleEnv } from '../env.js';
import { SessionCookie } from './session-cookie.js';
import type { SignedInRequest } from './session.js';
import { SessionsService } from './sessions.service.js';
import { refuseWhileViewing, WHILE_VIEWING } from './viewing.js';

const READS = ['GET', 'HEAD'];

/**
 * Denies by default: 401 without a session; 403 for an insufficient role, for a change requested by another site, and
 * for a change while an operator views an account.
 */
@Injectable()
export class SessionGuard implements CanActivate {
  private readonly origin: string;

  constructor(
    private readonly sessions: SessionsService,
    private readonly cookie: SessionCookie,
    private readonly reflector: Reflector,
    @Inject(ENV) { CONSOLE_URL }: ConsoleEnv,
  ) {
    this.origin = new URL(CONSOLE_URL).origin;
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    // Messages over NATS come from our own apps; the broker's permissions decide who may publish.
    if (context.getType() !== 'http') return true;
    const http = context.switchToHttp();
    const request = http.getRequest<SignedInRequest & { caller?: object }>();
    const access = accessOf(context.getHandler(), context.getClass());
    const id = access.isPublic ? undefined : this.cookie.read(request);
    // Without a session cookie there is nothing that another site could abuse, so 401 comes before the origin check.
    if (!access.isPublic && id === undefined) throw new ApiError('SESSION_ENDED');
    if (!READS.includes(request.method) && request.headers.origin !== this.origin)
      throw new ApiError('ORIGIN_FORBIDDEN');
    if (access.isPublic) return true;
    const session = await this.sessions.find(id!);
    if (!session) {
      this.cookie.clear(http.getResponse<FastifyReply>());
      throw new ApiError('SESSION_ENDED');
    }
    request.session = session;
    // The request log reads `caller`.
    request.caller = { account: session.account, keyId: session.keyId };
    if (!access.roles.includes(session.role)) throw new ApiError('FORBIDDEN');
    if (
      !READS.includes(request.method) &&
      !this.reflector.getAllAndOverride<boolean>(WHILE_VIEWING, [context.getHandler(), context.getClass()])
    )
      refuseWhileViewing(session);
    return true;
  }
}

/** Describes the session in the OpenAPI document. */
export const sessionCredentials: Credentials = {
  name: 'session',
  scheme: { type: 'apiKey', name: '__Host-perkway_session', in: 'cookie' },
  requirementsOf: (route) => {
    const { isPublic, roles } = accessOf(...route);
    if (isPublic) return undefined;
    return {
      errors: [
        'SESSION_ENDED',
        'ORIGIN_FORBIDDEN',
        ...(roles.includes('USER') ? [] : (['FORBIDDEN'] as const)),
        'DEPENDENCY_UNAVAILABLE',
      ],
    };
  },
};
