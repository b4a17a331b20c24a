import type { FastifyInstance, FastifyRequest } from 'fastify';

/** The request timeout of the other apps. */
const LIMIT_MS = 60_000;
const LIMIT = Symbol('slowBodyLimit');
type Limited = FastifyRequest & { [LIMIT]?: NodeJS.Timeout };

/**
 * Closes the connection if a body has not arrived within a minute, unless its handler calls `allowSlowBody`. The server's
 * own request timeout is no such limit: it is hours, because card uploads may take that long.
 */
export function limitSlowBodies(fastify: FastifyInstance, limitMs = LIMIT_MS): void {
  fastify.addHook('onRequest', (request: Limited, _reply, done) => {
    if (hasBody(request)) {
      const timer = (request[LIMIT] = setTimeout(() => request.raw.destroy(), limitMs).unref());
      const clear = () => clearTimeout(timer);
      request.raw.once('end', clear).once('close', clear);
    }
    done();
  });
}

/** Lifts the limit for a handler that streams its body; call it after authentication. */
export const allowSlowBody = (request: FastifyRequest): void => clearTimeout((request as Limited)[LIMIT]);

const hasBody = ({ headers }: FastifyRequest): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > 0;
