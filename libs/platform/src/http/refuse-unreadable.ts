import { DomainError } from '@perkway/domain';
import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ErrorRenderer } from '../errors/error-renderer.js';

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
