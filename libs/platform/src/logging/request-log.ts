import type { Caller, ApiError, ErrorCode } from '@perkway/domain';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';

const CODE = Symbol('code');
const IS_LOGGED = Symbol('isLogged');
const TOO_MANY = 429;
/** The first of similar rejections within this time is logged in full, the others as one summary line. */
const SUMMARY_MS = 1_000;
/** `caller` is set once the caller is known, also for requests that are rejected later. */
type Logged = FastifyRequest & { [CODE]?: ErrorCode; [IS_LOGGED]?: true; caller?: Partial<Caller> };

/** Keeps the reason of a rejection for its log line. */
export function noteRefusedRequest(request: Logged, { code }: ApiError): void {
  request[CODE] = code;
}

/** Writes the line of a failed request at once: if the sender has disconnected, no end event follows. */
export function logFailure(logger: Logger, reply: FastifyReply, error: ApiError, thrown: unknown): void {
  const request = reply.request as Logged;
  noteRefusedRequest(request, error);
  logger.error({ ...fieldsOf(request, reply, error.status), err: thrown }, 'request failed');
  request[IS_LOGGED] = true;
}

/** Writes the lines of all other requests. */
export class RequestLog {
  /** Rejections of this second that are summarized, by what they have in common. */
  private readonly alike = new Map<string, { more: number }>();

  constructor(private readonly logger: Logger) {}

  write(reply: FastifyReply): void {
    const request = reply.request as Logged;
    const status = reply.statusCode;
    // A thrown failure was logged already. A 5xx that nobody threw is intended, such as a probe during shutdown.
    const level = status >= 500 ? 'warn' : status >= 400 ? 'info' : 'debug';
    if (request[IS_LOGGED] || !this.logger.isLevelEnabled(level)) return;
    const fields = fieldsOf(request, reply, status);
    if (status !== TOO_MANY || this.isFirst(fields)) this.logger[level](fields, 'request');
  }

  /** A flood is thousands of requests per second, and logging each would cost more than rejecting it. */
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
    }, SUMMARY_MS).unref();
    return true;
  }
}

/** The route is the pattern, never the path, which may hold a token. */
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
