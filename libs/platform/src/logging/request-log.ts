import type { Caller, DomainError, ErrorCode } from '@perkway/domain';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';

const CODE = Symbol('code');
const IS_LOGGED = Symbol('isLogged');
const TOO_MANY = 429;
/** Of refusals that are alike the first in such a time has a line of its own, and the others one together. */
const ALIKE_FOR_MS = 1_000;
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

/** The lines of any other requests. */
export class RequestLog {
  /** Refusals of this second that are like one which has its line, by what they have in common. */
  private readonly alike = new Map<string, { more: number }>();

  constructor(private readonly logger: Logger) {}

  write(reply: FastifyReply): void {
    const request = reply.request as Logged;
    const status = reply.statusCode;
    // What failed has its line: a 5xx that nobody threw is meant, as that of a probe while the process stops.
    const level = status >= 500 ? 'warn' : status >= 400 ? 'info' : 'debug';
    if (request[IS_LOGGED] || !this.logger.isLevelEnabled(level)) return;
    const fields = fieldsOf(request, reply, status);
    if (status !== TOO_MANY || this.isFirst(fields)) this.logger[level](fields, 'request');
  }

  /** A flood is thousands a second, and a line of each would cost more than to refuse it. */
  private isFirst({ method, route, status, code, account, keyId }: Fields): boolean {
    const common = { method, route, status, code, account, keyId };
    const key = JSON.stringify(common);
    const known = this.alike.get(key);
    if (known) {
      known.more += 1;
      return false;
    }
    const counted = { more: 0 };
    this.alike.set(key, counted);
    setTimeout(() => {
      this.alike.delete(key);
      if (counted.more > 0) this.logger.info({ ...common, times: counted.more }, 'requests refused');
    }, ALIKE_FOR_MS).unref();
    return true;
  }
}

/** The route is the pattern, never the address itself: it may hold a token. */
export const routeOf = (request: FastifyRequest): string => request.routeOptions.url ?? '(none)';

type Fields = ReturnType<typeof fieldsOf>;
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
