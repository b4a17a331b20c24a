import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AnswerTemplate } from './answer-template.js';
import type { CollectionReadsService } from './collection-reads.service.js';

/** Conditional reads (docs/adr/0010-conditional-reads.md): 304 for a copy that is still good; for HEAD all but the body. */
export function sendAnswer(
  { headers, method }: FastifyRequest,
  reply: FastifyReply,
  template: AnswerTemplate,
  reads: CollectionReadsService,
): void {
  void reply.headers({
    'content-language': template.language,
    etag: template.etag,
    // CORS has said that it depends on who asks (cors.ts).
    vary: headers.origin === undefined ? 'Accept-Language' : 'Origin, Accept-Language',
    'cache-control': 'private, no-cache',
  });
  if (isUnchanged(headers['if-none-match'], template.etag)) {
    void reply.code(304).send();
    return;
  }
  void reply.header('content-type', 'application/json; charset=utf-8');
  if (method === 'HEAD') {
    void reply.send(template.blank);
    return;
  }
  const { body, release } = reads.fetch(template);
  // Handed over to the system as a whole. Of a broken connection nobody says when its memory is let go.
  if (release) reply.raw.once('finish', release);
  void reply.send(body);
}

/** If-None-Match (RFC 9110, 13.1.2), by weak comparison. */
export function isUnchanged(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  const opaque = etag.slice(etag.indexOf('"'));
  for (const [, tag] of ifNoneMatch.matchAll(/(?:W\/)?("[^"]*")/g)) if (tag === opaque) return true;
  return false;
}
