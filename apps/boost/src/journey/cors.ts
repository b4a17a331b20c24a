import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { OriginsService } from './origins.service.js';

const JOURNEY_PATH = /^\/(?:teasers|track|rewards)\/([^/?]+)(?:\?|$)/;
const PREFLIGHT = {
  'access-control-allow-methods': 'GET, HEAD, POST',
  'access-control-allow-headers': 'content-type, x-api-key',
  'access-control-max-age': '600',
};

/**
 * CORS of the customer-journey endpoints. It works before the handlers, so that a page of a listed site can read the
 * refusals too; a preflight comes without a key, so it is the campaign in the path that tells whose list counts. A site
 * that is not listed learns nothing, not even whether the campaign exists.
 */
export function allowListedOrigins(fastify: FastifyInstance, origins: OriginsService): void {
  const answer = async (campaignId: string, origin: string, request: FastifyRequest, reply: FastifyReply) => {
    void reply.header('vary', 'Origin');
    const isAllowed = await origins.isAllowed(campaignId, origin);
    if (isAllowed) void reply.header('access-control-allow-origin', origin);
    if (request.method !== 'OPTIONS') return false;
    if (isAllowed) void reply.headers(PREFLIGHT);
    void reply.code(204).send();
    return true;
  };
  fastify.addHook('onRequest', (request, reply, done) => {
    const { origin } = request.headers;
    const campaignId = origin === undefined ? undefined : JOURNEY_PATH.exec(request.url)?.[1];
    if (campaignId === undefined) return done();
    answer(campaignId, origin!, request, reply).then((isAnswered) => {
      if (!isAnswered) done();
    }, done);
  });
}
