import { DomainError } from '@perkway/domain';
import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { ErrorRenderer } from '../errors/error-renderer.js';
import { sendError } from '../errors/error.filter.js';

/**
 * Answers, in the host's format, what never became a request: a head of over 16 KB, bytes that are no HTTP. The connection
 * ends, for nobody knows where the next request would begin.
 */
export const refuseUnreadable =
  (render: ErrorRenderer) =>
  (error: Error & { code?: string }, socket: Socket): void => {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    const refusal = new DomainError(
      'VALIDATION_FAILED',
      error.code === 'HPE_HEADER_OVERFLOW'
        ? 'The address or the headers are too long'
        : 'The request cannot be read, or did not come in time',
    );
    const id = randomUUID();
    const { contentType, body, bytes, status = refusal.status, headers = {} } = render(refusal, id);
    const payload = bytes ?? Buffer.from(body);
    const head = {
      'content-type': contentType,
      'content-length': payload.length,
      'cache-control': 'no-store',
      'x-request-id': id,
      connection: 'close',
      ...headers,
    };
    socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`);
    for (const [name, value] of Object.entries(head)) socket.write(`${name}: ${value}\r\n`);
    socket.write('\r\n');
    socket.write(payload);
    // Not `end`: a handler that still reads this request would wait for the sender to hang up.
    socket.destroySoon();
  };

/** HTTP/1.1 demands a refusal (RFC 9112, 3.2). */
export function refuseHostless(fastify: FastifyInstance, render: ErrorRenderer): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    if (request.raw.httpVersion !== '1.1' || request.headers.host !== undefined) return done();
    sendError(reply, new DomainError('VALIDATION_FAILED', 'The header Host is missing'), render);
  });
}
