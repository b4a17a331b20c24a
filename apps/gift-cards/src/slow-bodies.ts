import type { FastifyInstance, FastifyRequest } from 'fastify';

/** As long as any request may take on the other hosts. */
const LIMIT_MS = 60_000;

/**
 * The server lets requests take hours, for the sake of one route. On the others a body that does not arrive in a minute
 * ends the connection, as it would without that.
 */
export function limitSlowBodies(fastify: FastifyInstance, exceptRoute: string, limitMs = LIMIT_MS): void {
  fastify.addHook('onRequest', (request, _reply, done) => {
    if (hasBody(request) && request.routeOptions.url !== exceptRoute) {
      const timer = setTimeout(() => request.raw.destroy(), limitMs);
      const clear = () => clearTimeout(timer);
      request.raw.once('end', clear).once('close', clear);
    }
    done();
  });
}

const hasBody = ({ headers }: FastifyRequest): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > 0;
