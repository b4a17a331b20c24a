import { ApiError } from '@perkway/domain';
import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { ErrorRenderer } from '../errors/error-renderer.js';
import { sendError } from '../errors/error.filter.js';

/**
 * Responds in the host's format to input that is not a complete request: heads over 16 KB, bytes that are not HTTP,
 * requests that do not arrive in time. Closes the connection, because nothing says where the next request begins.
 */
export const refuseUnreadable =
  (render: ErrorRenderer) =>
  (error: Error & { code?: string }, socket: Socket): void => {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    const refusal = new ApiError(
      'VALIDATION_FAILED',
      error.code === 'HPE_HEADER_OVERFLOW'
        ? 'The URL or the headers are too long'
        : 'The request is not valid HTTP, or did not arrive in time',
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
    // `end` closes only the server's side: a handler that still reads this request's body would wait for the client.
    socket.destroySoon();
  };

/** Rejects HTTP/1.1 requests without a Host header, for which RFC 9112, 3.2 requires a 400. */
export function refuseHostless(fastify: FastifyInstance, render: ErrorRenderer): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    if (request.raw.httpVersion !== '1.1' || request.headers.host !== undefined) return done();
    sendError(reply, new ApiError('VALIDATION_FAILED', 'The Host header is missing'), render);
  });
}
