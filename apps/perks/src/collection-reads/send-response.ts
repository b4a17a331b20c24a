import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ResponseTemplate } from './response-template.js';
import type { CollectionReadsService } from './collection-reads.service.js';

/**
 * Sends a response with conditional reads (docs/adr/0010-conditional-reads.md): 304 if the client's copy is current,
 * and headers without a body for HEAD.
 */
export function sendResponse(
  { headers, method }: FastifyRequest,
  reply: FastifyReply,
  template: ResponseTemplate,
  reads: CollectionReadsService,
): void {
  void reply.headers({
    'content-language': template.language,
    etag: template.etag,
    // With an Origin header, the response also depends on the origin (cors.ts).
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
  // `finish` means that the kernel has taken the whole body. A broken connection never emits it, so its buffer is left
  // to the garbage collector.
  if (release) reply.raw.once('finish', release);
  void reply.send(body);
}

/** Compares with If-None-Match (RFC 9110, 13.1.2), by weak comparison. */
export function isUnchanged(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  const opaque = etag.slice(etag.indexOf('"'));
  for (const [, tag] of ifNoneMatch.matchAll(/(?:W\/)?("[^"]*")/g)) if (tag === opaque) return true;
  return false;
}
