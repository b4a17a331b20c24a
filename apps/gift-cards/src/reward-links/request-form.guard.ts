import { Injectable, SetMetadata, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { AuthenticatedRequest } from '@perkway/auth';
import { characters, DomainError, isUuid, lastOf } from '@perkway/domain';
import type { FastifyRequest } from 'fastify';

const NEEDS_FORM = 'gift-cards:needs-form';
const MAX_CREATED_BY = 255;

/** The handler takes `idempotencyKey` and `X-Created-By`. */
export const NeedsIdempotencyKey = () => SetMetadata(NEEDS_FORM, true);

export const idempotencyKeyOf = ({ query }: FastifyRequest): unknown =>
  lastOf((query as { idempotencyKey?: unknown }).idempotencyKey);

/** Header bytes arrive as Latin-1; a creator's name sent as UTF-8 is read as such. */
export const createdByOf = ({ headers }: FastifyRequest): string => {
  const given = headers['x-created-by'];
  const bytes = Buffer.from(typeof given === 'string' ? given : '', 'latin1');
  const text = bytes.toString('utf8');
  // Not before: half of a UTF-8 character may look like a space.
  return (text.includes('\uFFFD') ? bytes.toString('latin1') : text).trim();
};

/**
 * Key and headers are judged after the credentials and before anything about the body, even whether it is JSON. So
 * this runs as a global guard, registered after authentication; the guard that refuses bad bodies comes last.
 */
@Injectable()
export class RequestFormGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    if (context.getType() !== 'http' || !this.reflector.get<boolean>(NEEDS_FORM, context.getHandler()))
      return true;
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    if (!request.caller) throw new Error('AppModule must import AuthModule before RewardLinksModule');
    if (!isUuid(idempotencyKeyOf(request))) throw new DomainError('IDEMPOTENCY_KEY_INVALID');
    const createdBy = createdByOf(request);
    if (createdBy === '') throw new DomainError('CREATED_BY_MISSING');
    if (characters(createdBy) > MAX_CREATED_BY) throw new DomainError('CREATED_BY_INVALID');
    return true;
  }
}
