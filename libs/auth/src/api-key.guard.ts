import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AuthGuard } from '@nestjs/passport';
import { DomainError, type Caller, type ResolvedKey, type Role } from '@perkway/domain';
import { IS_PUBLIC } from '@perkway/platform';
import type { FastifyReply } from 'fastify';
import { API_KEY_HEADER, registerApiKeyStrategy } from './api-key.strategy.js';
import { ALLOW_QUERY_KEY, ROLES, type AuthenticatedRequest } from './decorators.js';
import type { KeyRateLimiter } from './key-rate-limiter.js';
import type { KeyStore } from './key-store.js';

interface Access {
  isPublic: boolean;
  allowsQueryKey: boolean;
  roles: Role[] | undefined;
}

let applications = 0;

/**
 * Denies by default: 401 `API_KEY_INVALID` without a valid key, then 403 `FORBIDDEN` where its role is not enough.
 * Passport decides about a key that is not known yet; one that it let in is recognised without it, because Passport's
 * work on a request would cost as much as all the rest (docs/adr/0006-api-keys-in-memory.md).
 */
export class ApiKeyGuard extends AuthGuard() implements CanActivate {
  private readonly reflector = new Reflector();
  private readonly accessByHandler = new Map<object, Map<object, Access>>();

  constructor(
    private readonly keys: KeyStore,
    private readonly limiter: KeyRateLimiter,
  ) {
    applications += 1;
    const strategy = `api-key-${applications}`;
    super({ defaultStrategy: strategy });
    registerApiKeyStrategy(strategy, keys);
  }

  override canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    // What arrives over NATS comes from our own apps: the broker knows who may publish what.
    if (context.getType() !== 'http') return true;
    const access = this.accessOf(context);
    if (access.isPublic) return true;
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    const known = this.keys.peek(keyOf(request, access));
    if (!known) return super.canActivate(context) as Promise<boolean>;
    this.admit(context, known, access);
    return true;
  }

  /** A request of its own for Passport, which would otherwise add members to the real one. */
  override getRequest(context: ExecutionContext) {
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    return { headers: { [API_KEY_HEADER]: keyOf(request, this.accessOf(context)) } };
  }

  override handleRequest<Key>(error: unknown, key: Key, _info: unknown, context: ExecutionContext): Key {
    if (error) throw error;
    if (!key) throw new DomainError('API_KEY_INVALID');
    this.admit(context, key as unknown as ResolvedKey, this.accessOf(context));
    return key;
  }

  /** The caller belongs to this request alone. */
  private admit(context: ExecutionContext, { account, role, keyId }: ResolvedKey, access: Access): void {
    const http = context.switchToHttp();
    this.limiter.count(keyId, http.getResponse<FastifyReply>());
    if (access.roles && !access.roles.includes(role)) throw new DomainError('FORBIDDEN');
    const request = http.getRequest<AuthenticatedRequest>();
    const caller: Caller = { account, role, keyId, requestId: request.id };
    request.caller = caller;
  }

  private accessOf(context: ExecutionContext): Access {
    const handler = context.getHandler();
    const controller = context.getClass();
    let byController = this.accessByHandler.get(handler);
    if (!byController) this.accessByHandler.set(handler, (byController = new Map()));
    let access = byController.get(controller);
    if (!access) {
      const targets = [handler, controller];
      access = {
        isPublic: this.reflector.getAllAndOverride<boolean>(IS_PUBLIC, targets) ?? false,
        allowsQueryKey: this.reflector.getAllAndOverride<boolean>(ALLOW_QUERY_KEY, targets) ?? false,
        roles: this.reflector.getAllAndOverride<Role[]>(ROLES, targets),
      };
      byController.set(controller, access);
    }
    return access;
  }
}

/** The header decides; the query is looked at only where there is no header. Of a repeated parameter the last wins. */
function keyOf(request: AuthenticatedRequest, access: Access): string {
  let key: unknown = request.headers[API_KEY_HEADER];
  if (key === undefined && access.allowsQueryKey) {
    key = (request.query as { api_key?: unknown }).api_key;
    if (Array.isArray(key)) key = key.at(-1);
  }
  return typeof key === 'string' ? key : '';
}
