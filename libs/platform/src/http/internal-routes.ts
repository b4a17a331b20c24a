import { ApiError } from '@perkway/domain';
import type { FastifyInstance } from 'fastify';
import type { PlatformEnv } from '../config/load-env.js';
import type { ErrorRenderer } from '../errors/error-renderer.js';
import { sendError } from '../errors/error.filter.js';

type Exposure = Pick<PlatformEnv, 'EXPOSE_ADMIN' | 'EXPOSE_DOCS'>;

const firstSegment = (path: string): string => path.split(/[/?#]/, 2)[1] ?? '';

/** Returns whether PORT responds with 404 to this path or route pattern. METRICS_PORT serves these routes. */
export function isHidden(path: string, { EXPOSE_ADMIN, EXPOSE_DOCS }: Exposure): boolean {
  const first = firstSegment(path);
  return (!EXPOSE_ADMIN && first === 'admin') || (!EXPOSE_DOCS && ['docs', 'docs-yaml'].includes(first));
}

/** Returns whether METRICS_PORT serves this route of the app. There `/docs-json` is the complete document. */
export const isInside = (path: string, env: Exposure): boolean =>
  isHidden(path, env) || (!(env.EXPOSE_ADMIN && env.EXPOSE_DOCS) && firstSegment(path) === 'docs-json');

/** Responds with 404 to internal routes on the public port, before anything is read. */
export function hideInternalRoutes(fastify: FastifyInstance, env: PlatformEnv, render: ErrorRenderer): void {
  if (env.EXPOSE_ADMIN && env.EXPOSE_DOCS) return;
  fastify.addHook('onRequest', (request, reply, done) => {
    // Compares the pattern, because a path can be written in many ways. If no route matches, compares the path, because
    // a 405 would reveal the methods.
    const isOutside = request.socket.localPort !== env.METRICS_PORT;
    if (isOutside && isHidden(request.routeOptions.url ?? request.url, env))
      sendError(reply, new ApiError('NOT_FOUND'), render);
    else done();
  });
}
