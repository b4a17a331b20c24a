import { DomainError } from '@perkway/domain';
import type { FastifyInstance } from 'fastify';
import type { PlatformEnv } from '../config/load-env.js';
import type { ErrorRenderer } from '../errors/error-renderer.js';
import { sendError } from '../errors/error.filter.js';

type Exposure = Pick<PlatformEnv, 'EXPOSE_ADMIN' | 'EXPOSE_DOCS'>;

/** What PORT does not answer, by path or pattern of a route: METRICS_PORT does. */
export function isHidden(path: string, { EXPOSE_ADMIN, EXPOSE_DOCS }: Exposure): boolean {
  const [, first] = path.split(/[/?#]/, 2);
  return (
    (!EXPOSE_ADMIN && first === 'admin') ||
    (!EXPOSE_DOCS && ['docs', 'docs-json', 'docs-yaml'].includes(first!))
  );
}

/** Answers 404 for what is not exposed, to those who did not come by METRICS_PORT, before anything is read. */
export function hideAddresses(fastify: FastifyInstance, env: PlatformEnv, render: ErrorRenderer): void {
  if (env.EXPOSE_ADMIN && env.EXPOSE_DOCS) return;
  fastify.addHook('onRequest', (request, reply, done) => {
    // The pattern, since the path may be written in many ways; where no route fits, it would tell which methods do.
    const isOutside = request.socket.localPort !== env.METRICS_PORT;
    if (isOutside && isHidden(request.routeOptions.url ?? request.url, env))
      sendError(reply, new DomainError('NOT_FOUND'), render);
    else done();
  });
}
