import type { FastifyReply } from 'fastify';

/** 302 to the offer; nothing on the way may keep it, because every use is a click of its own. */
export function redirect(reply: FastifyReply, target: string): void {
  void reply.code(302).headers({ location: target, 'cache-control': 'no-store' }).send();
}
