import { Injectable, SetMetadata, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { AuthenticatedRequest } from '@perkway/auth';
import { characters, ApiError, isUuid, lastOf } from '@perkway/domain';
import type { FastifyRequest } from 'fastify';

const REQUIRED_PARAMETERS = 'gift-cards:required-parameters';
const MAX_CREATED_BY = 255;

type RequiredParameters = 'idempotencyKey and X-Created-By' | 'X-Created-By';
/** Marks a handler that requires `idempotencyKey` and `X-Created-By`. */
export const NeedsIdempotencyKey = () =>
  SetMetadata(REQUIRED_PARAMETERS, 'idempotencyKey and X-Created-By' satisfies RequiredParameters);
/** Marks a handler that requires `X-Created-By`. */
export const NeedsCreatedBy = () =>
  SetMetadata(REQUIRED_PARAMETERS, 'X-Created-By' satisfies RequiredParameters);

/** The query parameter and the header that a request to create a link needs, after the guard's checks. */
export interface RequestParameters {
  createdBy: string;
  /** A UUID, upper or lower case; undefined if the handler does not require one. */
  idempotencyKey?: string;
}
const PARAMETERS = Symbol('the parameters that the guard has checked');
type RequestWithParameters = FastifyRequest & { [PARAMETERS]?: RequestParameters };

/** Returns the parameters that the guard has checked. */
export const requestParametersOf = (request: FastifyRequest): RequestParameters =>
  (request as RequestWithParameters)[PARAMETERS]!;

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Node decodes header bytes as Latin-1. This decodes them as UTF-8 instead, or as Latin-1 if they are not valid UTF-8.
 */
const createdByOf = ({ headers }: FastifyRequest): string => {
  const given = headers['x-created-by'];
  const latin1 = typeof given === 'string' ? given : '';
  // Trim after decoding, because a byte of a UTF-8 character may look like a space.
  try {
    return UTF8.decode(Buffer.from(latin1, 'latin1')).trim();
  } catch {
    return latin1.trim();
  }
};

/**
 * Checks the idempotency key and `X-Created-By` after authentication, but before the body: these errors take precedence
 * even over that of invalid JSON. Therefore it is a global guard, registered between the authentication guard and the
 * guard that rejects invalid bodies.
 */
@Injectable()
export class RequestParametersGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const required = this.reflector.get<RequiredParameters | undefined>(
      REQUIRED_PARAMETERS,
      context.getHandler(),
    );
    if (context.getType() !== 'http' || !required) return true;
    const request = context.switchToHttp().getRequest<AuthenticatedRequest & RequestWithParameters>();
    if (!request.caller) throw new Error('AppModule must import AuthModule before RewardLinksModule');
    const needsKey = required !== 'X-Created-By';
    const key = needsKey ? lastOf((request.query as { idempotencyKey?: unknown }).idempotencyKey) : undefined;
    if (needsKey && !isUuid(key)) throw new ApiError('IDEMPOTENCY_KEY_INVALID');
    const createdBy = createdByOf(request);
    if (createdBy === '') throw new ApiError('CREATED_BY_MISSING');
    if (characters(createdBy) > MAX_CREATED_BY) throw new ApiError('CREATED_BY_INVALID');
    request[PARAMETERS] = { createdBy, idempotencyKey: key as string | undefined };
    return true;
  }
}
