import type { Caller, DomainError, ErrorCode } from '@perkway/domain';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';

const CODE = Symbol('code');
const IS_LOGGED = Symbol('isLogged');
/** `caller` is there as soon as it is known who asks, also of a request that is refused then. */
type Logged = FastifyRequest & { [CODE]?: ErrorCode; [IS_LOGGED]?: true; caller?: Partial<Caller> };

/** Keeps why a request is refused for its log line. */
export function noteRefusal(request: Logged, { code }: DomainError): void {
  request[CODE] = code;
}

/** The line of a request that failed, written at once: of one whose sender has hung up nobody hears an end. */
export function logFailure(logger: Logger, reply: FastifyReply, error: DomainError, thrown: unknown): void {
  const request = reply.request as Logged;
  noteRefusal(request, error);
  logger.error({ ...fieldsOf(request, reply, error.status), err: thrown }, 'request failed');
  request[IS_LOGGED] = true;
}

/** The one line of any other request. */
export function logRequest(logger: Logger, reply: FastifyReply): void {
  const request = reply.request as Logged;
  const status = reply.statusCode;
  const level = status >= 500 ? 'error' : status >= 400 ? 'info' : 'debug';
  if (!request[IS_LOGGED] && logger.isLevelEnabled(level))
    logger[level](fieldsOf(request, reply, status), 'request');
}

/** The route is the pattern, never the address itself: it may hold a token. */
export const routeOf = (request: FastifyRequest): string => request.routeOptions.url ?? '(none)';

const fieldsOf = (request: Logged, reply: FastifyReply, status: number) => ({
  requestId: request.id,
  method: request.method,
  route: routeOf(request),
  status,
  ms: Math.round(reply.elapsedTime),
  code: request[CODE],
  account: request.caller?.account,
  keyId: request.caller?.keyId,
});
