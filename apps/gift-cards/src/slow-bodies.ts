import type { FastifyInstance, FastifyRequest } from 'fastify';

/** As long as any request may take on the other hosts. */
const LIMIT_MS = 60_000;
const LIMIT = Symbol('slowBodyLimit');
type Limited = FastifyRequest & { [LIMIT]?: NodeJS.Timeout };

/**
 * The server lets requests take hours, for the sake of one route. A body that does not arrive in a minute ends the
 * connection, as it would without that, unless its handler allows it more.
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

/** For a handler that reads its body as a stream, and knows by now who sends it. */
export const allowSlowBody = (request: FastifyRequest): void => clearTimeout((request as Limited)[LIMIT]);

const hasBody = ({ headers }: FastifyRequest): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > 0;
