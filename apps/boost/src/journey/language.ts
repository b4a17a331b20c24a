import type { FastifyReply } from 'fastify';

export const LANGUAGE_HEADERS = {
  'Content-Language': { description: 'Language of the texts', schema: { type: 'string' as const } },
  Vary: { description: '`Accept-Language`', schema: { type: 'string' as const } },
};

/** Sets Content-Language, and adds Accept-Language to a Vary that CORS may have set. */
export function setContentLanguage(reply: FastifyReply, language: string | undefined): void {
  const vary = reply.getHeader('vary');
  void reply.header('vary', vary === undefined ? 'Accept-Language' : `${String(vary)}, Accept-Language`);
  if (language !== undefined) void reply.header('content-language', language);
}
