import { createParamDecorator, SetMetadata, type ExecutionContext } from '@nestjs/common';
import type { Caller, Role, Scope } from '@perkway/domain';
import type { FastifyRequest } from 'fastify';

export const ROLES = 'perkway:roles';
export const REQUIRED_SCOPE = 'perkway:required-scope';
export const ALLOW_QUERY_KEY = 'perkway:allow-query-key';
export const CHANGES_NOTHING = 'perkway:changes-nothing';

/** A request, with its caller once the guard has identified the key. */
export type AuthenticatedRequest = FastifyRequest & { caller?: Caller };

/**
 * Restricts a handler or controller to keys of these roles; others get 403 `FORBIDDEN`. Without it, USER and ADMIN keys
 * are allowed.
 */
export const Roles = (...roles: [Role, ...Role[]]) => SetMetadata(ROLES, roles);

/**
 * Names the scope that a key with scopes needs for this handler or controller; without it the key gets 403
 * `SCOPE_MISSING`. A handler that names no scope rejects every key with scopes. The OpenAPI document shows it as
 * `x-required-scope`.
 */
export const RequiredScope = (scope: Scope) => SetMetadata(REQUIRED_SCOPE, scope);

/**
 * Also accepts the key in the query parameter `api_key`, for clients that cannot set a header (specification section
 * 5). It is ignored if there is an `X-API-Key` header. On a handler or a controller.
 */
export const AllowQueryKey = () => SetMetadata(ALLOW_QUERY_KEY, true);

/** Keeps calls of a handler under `/admin` out of the audit log although it is not a GET. */
export const ChangesNothing = () => SetMetadata(CHANGES_NOTHING, true);

/**
 * Injects the caller, which services take as their first argument. Not for `@Public()` handlers, which have no caller.
 */
export const CurrentCaller = createParamDecorator((_: unknown, context: ExecutionContext): Caller => {
  const { caller } = context.switchToHttp().getRequest<AuthenticatedRequest>();
  if (!caller) throw new Error('@CurrentCaller() was used on a public handler');
  return caller;
});
