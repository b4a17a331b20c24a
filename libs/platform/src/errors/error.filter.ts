import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { DomainError } from '@perkway/domain';
import type { FastifyReply } from 'fastify';
import type { Logger } from 'pino';
import { throwError } from 'rxjs';
import { hasUnreadBody } from '../http/deferred-body.guard.js';
import { logFailure, noteRefusal } from '../logging/request-log.js';
import { refusal } from '../nats/rpc-failure.js';
import type { ErrorRenderer } from './error-renderer.js';
import { toDomainError } from './to-domain-error.js';

/** Seconds after which a client may try again while a dependency is away. */
const RETRY_AFTER_S = '2';

/** Writes a refusal in the host's format. */
export function sendError(reply: FastifyReply, error: DomainError, render: ErrorRenderer): void {
  const { request } = reply;
  noteRefusal(request, error);
  const { contentType, body, bytes, status, headers } = render(
    error,
    request.id,
    request.url,
    request.headers.accept,
  );
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

/** The only exception filter of an app: turns everything thrown into the host's error format. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(
    private readonly render: ErrorRenderer,
    private readonly logger: Logger,
  ) {}

  catch(thrown: unknown, host: ArgumentsHost) {
    const error = toDomainError(thrown);
    if (host.getType() !== 'http') {
      this.logger.error({ err: thrown, code: error.code }, 'request over NATS failed');
      return throwError(() => refusal(error.code));
    }
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    if (error.status >= 500) logFailure(this.logger, reply, error, thrown);
    if (!reply.sent) sendError(reply, error, this.render);
    return undefined;
  }
}
