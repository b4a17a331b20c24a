import type { FastifyReply } from 'fastify';

/** Redirects to the offer with 302. Not cacheable, because every use is a click of its own. */
export function redirect(reply: FastifyReply, target: string): void {
  void reply.code(302).headers({ location: target, 'cache-control': 'no-store' }).send();
}
