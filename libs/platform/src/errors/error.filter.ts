import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { ApiError } from '@perkway/domain';
import type { FastifyReply } from 'fastify';
import type { Logger } from 'pino';
import { throwError } from 'rxjs';
import type { AllowedMethods } from '../http/allowed-methods.js';
import { hasUnreadBody } from '../http/deferred-body.guard.js';
import { logFailure, noteRefusedRequest } from '../logging/request-log.js';
import { refusal } from '../nats/rpc-failure.js';
import type { ErrorRenderer } from './error-renderer.js';
import { toApiError } from './to-api-error.js';

/** `Retry-After` of a 503 or 429 that has none yet, in seconds. */
const RETRY_AFTER_S = '2';

/** Writes an error response in the host's format. */
export function sendError(reply: FastifyReply, error: ApiError, render: ErrorRenderer): void {
  const { request } = reply;
  noteRefusedRequest(request, error);
  const { accept, 'accept-language': acceptLanguage } = request.headers;
  const requested = { address: request.url, accept, acceptLanguage };
  const { contentType, body, bytes, status, headers } = render(error, request.id, requested);
  if (headers) void reply.headers(headers);
  if (hasUnreadBody(request)) void reply.header('connection', 'close');
  if (error.status === 503 || error.status === 429)
    if (!reply.hasHeader('retry-after')) void reply.header('retry-after', RETRY_AFTER_S);
  void reply
    .code(status ?? error.status)
    .header('content-type', contentType)
    .header('cache-control', 'no-store')
    .send(bytes ?? body);
}

/** The only exception filter of an app: renders every exception in the host's error format. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(
    private readonly render: ErrorRenderer,
    private readonly logger: Logger,
    private readonly methods: AllowedMethods,
  ) {}

  catch(thrown: unknown, host: ArgumentsHost) {
    const error = toApiError(thrown);
    if (host.getType() !== 'http') {
      this.logger.error({ err: thrown, code: error.code }, 'request over NATS failed');
      return throwError(() => refusal(error.code));
    }
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    if (error.status >= 500) logFailure(this.logger, reply, error, thrown);
    if (!reply.sent) sendError(reply, this.wrongMethod(reply) ?? error, this.render);
    return undefined;
  }

  /** Returns the 405 if another method of this path has a handler. */
  private wrongMethod(reply: FastifyReply): ApiError | undefined {
    const { is404, method, url } = reply.request;
    const methods = is404 ? this.methods.of(url) : [];
    // If the method is among them, the router rejected the path: a parameter has a line break.
    if (methods.length === 0 || methods.includes(method)) return undefined;
    const allowed = methods.join(', ');
    void reply.header('allow', allowed);
    return new ApiError('METHOD_NOT_ALLOWED', `${method} is not allowed here, only ${allowed}`);
  }
}
