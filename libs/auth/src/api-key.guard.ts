import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { AuthGuard } from '@nestjs/passport';
import { ApiError, lastOf, type Caller, type ResolvedKey } from '@perkway/domain';
import { clientIp, type FailedAttemptLimiter } from '@perkway/platform';
import type { FastifyReply } from 'fastify';
import { accessOf, type Access } from './access.js';
import { API_KEY_HEADER, registerApiKeyStrategy } from './api-key.strategy.js';
import type { AuthenticatedRequest } from './decorators.js';
import type { KeyRateLimiter } from './key-rate-limiter.js';
import type { KeyStore } from './key-store.js';

const JOURNEY_ONLY =
  'A key of role JOURNEY may only call the customer journey and read perks. Use a key of role USER on servers.';

const EXPIRED = 'The API key has expired.';
const NO_MANAGEMENT = 'A key with scopes cannot make management calls.';

let applications = 0;

/**
 * Denies by default: 401 `API_KEY_INVALID` without a valid key, then 403 `FORBIDDEN` for an insufficient role and 403
 * `SCOPE_MISSING` for a missing scope. Passport authenticates a key that is not in memory yet. Known keys bypass it,
 * because its work would cost as much as the rest of a request (docs/adr/0006-api-keys-in-memory.md).
 */
export class ApiKeyGuard extends AuthGuard() implements CanActivate {
  private readonly accessByHandler = new Map<object, Map<object, Access>>();

  constructor(
    private readonly keys: KeyStore,
    private readonly limiter: KeyRateLimiter,
    private readonly failedAttempts: FailedAttemptLimiter,
  ) {
    applications += 1;
    const strategy = `api-key-${applications}`;
    super({ defaultStrategy: strategy });
    registerApiKeyStrategy(strategy, keys);
  }

  override canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    // Messages over NATS come from our own apps; the broker's permissions decide who may publish.
    if (context.getType() !== 'http') return true;
    const access = this.accessOf(context);
    if (access.isPublic) return true;
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    const key = keyOf(request, access);
    const known = this.keys.peek(key);
    if (!known) return this.identify(context, key);
    this.admit(context, known, access);
    return true;
  }

  private identify(context: ExecutionContext, key: string): boolean | Promise<boolean> {
    const find = () => super.canActivate(context) as Promise<boolean>;
    // A missing key is not a failed attempt.
    if (key === '') return find();
    const http = context.switchToHttp();
    const address = clientIp(http.getRequest<AuthenticatedRequest>());
    return this.failedAttempts.attempt(address, http.getResponse<FastifyReply>(), 'API_KEY_INVALID', find);
  }

  /** Gives Passport an object of its own, because it would add members to the real request. */
  override getRequest(context: ExecutionContext) {
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    return { headers: { [API_KEY_HEADER]: keyOf(request, this.accessOf(context)) } };
  }

  override handleRequest<Key>(error: unknown, key: Key, _info: unknown, context: ExecutionContext): Key {
    if (error) throw error;
    const access = this.accessOf(context);
    if (!key) throw new ApiError('API_KEY_INVALID', whyInvalid(context.switchToHttp().getRequest(), access));
    this.admit(context, key as unknown as ResolvedKey, access);
    return key;
  }

  /** Creates the caller of this request, counts the request and checks expiry, role and scope. */
  private admit(context: ExecutionContext, key: ResolvedKey, access: Access): void {
    const { account, role, keyId, scopes, expiresAt, countedAs = keyId } = key;
    const http = context.switchToHttp();
    const request = http.getRequest<AuthenticatedRequest>();
    const caller: Caller = { account, role, keyId, countedAs, scopes, requestId: request.id };
    // Set before the checks, so that the log line of a rejected request has its caller too.
    request.caller = caller;
    this.limiter.count(keyId, http.getResponse<FastifyReply>());
    // Expired keys are resolved too, so that this message differs from that for an unknown key.
    if (expiresAt !== undefined && expiresAt <= Date.now()) throw new ApiError('API_KEY_INVALID', EXPIRED);
    if (!access.roles.includes(role))
      throw new ApiError('FORBIDDEN', role === 'JOURNEY' ? JOURNEY_ONLY : undefined);
    if (!scopes) return;
    if (!access.scope) throw new ApiError('SCOPE_MISSING', NO_MANAGEMENT);
    if (!scopes.includes(access.scope))
      throw new ApiError('SCOPE_MISSING', `The key does not have the scope ${access.scope}.`);
  }

  private accessOf(context: ExecutionContext): Access {
    const handler = context.getHandler();
    const controller = context.getClass();
    let byController = this.accessByHandler.get(handler);
    if (!byController) this.accessByHandler.set(handler, (byController = new Map()));
    let access = byController.get(controller);
    if (!access) byController.set(controller, (access = accessOf(handler, controller)));
    return access;
  }
}

/** Reads the key from the header; the query counts only without a header. */
function keyOf(request: AuthenticatedRequest, access: Access): string {
  let key: unknown = request.headers[API_KEY_HEADER];
  if (key === undefined && access.allowsQueryKey)
    key = lastOf((request.query as { api_key?: unknown }).api_key);
  return typeof key === 'string' ? key : '';
}

/** Explains to the developer of the client what is wrong with the request. */
function whyInvalid(request: AuthenticatedRequest, access: Access): string {
  const key = keyOf(request, access);
  const isBearer = /^Bearer\b/i.test(key || (request.headers.authorization ?? ''));
  if (isBearer) return 'A Bearer token was sent. Send an API key in the header X-API-Key instead.';
  if (key !== '') return 'The API key is not known.';
  if (access.allowsQueryKey)
    return 'No API key was sent. Send it in the header X-API-Key, or in the query parameter api_key where a header cannot be set.';
  return (request.query as { api_key?: unknown }).api_key === undefined
    ? 'No API key was sent. Send it in the header X-API-Key.'
    : 'The query parameter api_key is not accepted here. Send an API key in the header X-API-Key.';
}
