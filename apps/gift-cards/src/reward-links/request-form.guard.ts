import { Injectable, SetMetadata, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { AuthenticatedRequest } from '@perkway/auth';
import { characters, ApiError, isUuid, lastOf } from '@perkway/domain';
import type { FastifyRequest } from 'fastify';

const NEEDS_FORM = 'gift-cards:needs-form';
const MAX_CREATED_BY = 255;

type Needs = 'idempotencyKey and X-Created-By' | 'X-Created-By';
/** Marks a handler that requires `idempotencyKey` and `X-Created-By`. */
export const NeedsIdempotencyKey = () =>
  SetMetadata(NEEDS_FORM, 'idempotencyKey and X-Created-By' satisfies Needs);
/** Marks a handler that requires `X-Created-By`. */
export const NeedsCreatedBy = () => SetMetadata(NEEDS_FORM, 'X-Created-By' satisfies Needs);

/** The checked parts of a request that creates a link. */
export interface RequestForm {
  createdBy: string;
  /** A UUID in any case; undefined where the handler requires none. */
  idempotencyKey?: string;
}
const FORM = Symbol('the form that the guard has checked');
type RequestWithForm = FastifyRequest & { [FORM]?: RequestForm };

/** Returns what the guard has read of the request. */
export const formOf = (request: FastifyRequest): RequestForm => (request as RequestWithForm)[FORM]!;

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
 * Checks key and headers after authentication and before the body, even before whether it is JSON. So this is a global
 * guard registered after the authentication guard; the guard that rejects invalid bodies comes last.
 */
@Injectable()
export class RequestFormGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const needs = this.reflector.get<Needs | undefined>(NEEDS_FORM, context.getHandler());
    if (context.getType() !== 'http' || !needs) return true;
    const request = context.switchToHttp().getRequest<AuthenticatedRequest & RequestWithForm>();
    if (!request.caller) throw new Error('AppModule must import AuthModule before RewardLinksModule');
    const needsKey = needs !== 'X-Created-By';
    const key = needsKey ? lastOf((request.query as { idempotencyKey?: unknown }).idempotencyKey) : undefined;
    if (needsKey && !isUuid(key)) throw new ApiError('IDEMPOTENCY_KEY_INVALID');
    const createdBy = createdByOf(request);
    if (createdBy === '') throw new ApiError('CREATED_BY_MISSING');
    if (characters(createdBy) > MAX_CREATED_BY) throw new ApiError('CREATED_BY_INVALID');
    request[FORM] = { createdBy, idempotencyKey: key as string | undefined };
    return true;
  }
}
