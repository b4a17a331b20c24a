import { Reflector } from '@nestjs/core';
import type { Role, Scope } from '@perkway/domain';
import { IS_PUBLIC } from '@perkway/platform';
import { ALLOW_QUERY_KEY, REQUIRED_SCOPE, ROLES } from './decorators.js';

/** The callers that a handler allows. */
export interface Access {
  isPublic: boolean;
  allowsQueryKey: boolean;
  roles: readonly Role[];
  /** Undefined for management, which no key with scopes may call. */
  scope: Scope | undefined;
}

/** Default roles: keys in browsers need an explicit permission. */
const SERVER_ROLES: readonly Role[] = ['USER', 'ADMIN'];

const reflector = new Reflector();

/** Reads the decorators of the handler or, if it has none, of its controller. */
export function accessOf(...targets: Parameters<Reflector['getAllAndOverride']>[1]): Access {
  return {
    isPublic: reflector.getAllAndOverride<boolean>(IS_PUBLIC, targets) ?? false,
    allowsQueryKey: reflector.getAllAndOverride<boolean>(ALLOW_QUERY_KEY, targets) ?? false,
    roles: reflector.getAllAndOverride<Role[]>(ROLES, targets) ?? SERVER_ROLES,
    scope: reflector.getAllAndOverride<Scope | undefined>(REQUIRED_SCOPE, targets),
  };
}
