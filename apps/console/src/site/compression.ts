import compress from '@fastify/compress';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';
import { constants } from 'node:zlib';

/** Below this an answer is not worth it. */
const THRESHOLD_BYTES = 1_024;
/** A fifth of the work of the best, for a tenth more bytes. */
const QUALITY = 4;
/** Links to gifts, which are secrets. */
const LINKS = /^\/api\/link-jobs\/[^/]+\/csv/;

/**
 * The length of a compressed answer tells how much of what stands in it repeats what the asker has put there (BREACH). So
 * what our own pages read is compressed and nothing else: browsers say so in a header that no other site can forge. What is
 * answered to a change (new keys, links, addresses of reports) goes as it is.
 */
const isOwnReading = ({ method, url, headers }: FastifyRequest): boolean =>
  headers['sec-fetch-site'] === 'same-origin' &&
  (method === 'GET' || (method === 'POST' && url.startsWith('/api/query/'))) &&
  !LINKS.test(url);

export async function compressAnswers(app: NestFastifyApplication): Promise<void> {
  app
    .getHttpAdapter()
    .getInstance()
    .addHook('onRequest', (request, _reply, done) => {
      // How the plugin is told to leave an answer as it is.
      if (isOwnReading(request)) delete request.headers['x-no-compression'];
      else request.headers['x-no-compression'] = 'true';
      done();
    });
  await app.register(compress as never, {
    encodings: ['br', 'gzip'],
    // Nobody sends us compressed bodies, which may be a thousand times as large as they look.
    globalDecompression: false,
    threshold: THRESHOLD_BYTES,
    brotliOptions: { params: { [constants.BROTLI_PARAM_QUALITY]: QUALITY } },
  });
}
