import { Reflector } from '@nestjs/core';
import type { Role } from '@perkway/domain';
import { IS_PUBLIC } from '@perkway/platform';
import { ALLOW_QUERY_KEY, ROLES } from './decorators.js';

/** Whom a handler lets in. */
export interface Access {
  isPublic: boolean;
  allowsQueryKey: boolean;
  roles: readonly Role[];
}

/** Where nothing is said: what is in a browser is let in only where that is said. */
const SERVER_ROLES: readonly Role[] = ['USER', 'ADMIN'];

const reflector = new Reflector();

/** As the decorators of the handler say or, where they say nothing, those of its controller. */
export function accessOf(...targets: Parameters<Reflector['getAllAndOverride']>[1]): Access {
  return {
    isPublic: reflector.getAllAndOverride<boolean>(IS_PUBLIC, targets) ?? false,
    allowsQueryKey: reflector.getAllAndOverride<boolean>(ALLOW_QUERY_KEY, targets) ?? false,
    roles: reflector.getAllAndOverride<Role[]>(ROLES, targets) ?? SERVER_ROLES,
  };
}
