import { createParamDecorator, SetMetadata, type ExecutionContext } from '@nestjs/common';
import type { Caller, Role } from '@perkway/domain';
import type { FastifyRequest } from 'fastify';

export const ROLES = 'perkway:roles';
export const ALLOW_QUERY_KEY = 'perkway:allow-query-key';

/** A request whose key has been checked. */
export type AuthenticatedRequest = FastifyRequest & { caller?: Caller };

/**
 * Only keys of one of these roles; others get 403 `FORBIDDEN`. On a handler or a controller. Where it does not stand, keys
 * of role JOURNEY are refused.
 */
export const Roles = (...roles: [Role, ...Role[]]) => SetMetadata(ROLES, roles);

/**
 * The key may also come as query parameter `api_key`, where a header cannot be set (specification section 5). It is
 * looked at only when there is no `X-API-Key` header. On a handler or a controller.
 */
export const AllowQueryKey = () => SetMetadata(ALLOW_QUERY_KEY, true);

/** Whose key it is: the explicit first argument of services. Not for `@Public()` handlers, which have no caller. */
export const CurrentCaller = createParamDecorator((_: unknown, context: ExecutionContext): Caller => {
  const { caller } = context.switchToHttp().getRequest<AuthenticatedRequest>();
  if (!caller) throw new Error('@CurrentCaller() was used on a public handler');
  return caller;
});
