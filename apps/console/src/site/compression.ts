import compress from '@fastify/compress';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';
import { constants } from 'node:zlib';

/** Smaller responses are not compressed. */
const THRESHOLD_BYTES = 1_024;
/** The maximum, 11, takes more than 50 times the CPU time, for about 20 % fewer bytes. */
const QUALITY = 4;
/** The CSV of reward links, which are secrets. */
const LINKS = /^\/api\/link-jobs\/[^/]+\/csv/;

/**
 * The length of a compressed response can reveal secrets to a site that injects guesses into it (BREACH). So only reads
 * by our own pages are compressed; browsers mark them with Sec-Fetch-Site, which no other site can forge. Responses to
 * changes (new keys, links, report URLs) are never compressed.
 */
const isOwnReading = ({ method, url, headers }: FastifyRequest): boolean =>
  headers['sec-fetch-site'] === 'same-origin' &&
  (method === 'GET' || (method === 'POST' && url.startsWith('/api/query/'))) &&
  !LINKS.test(url);

export async function compressResponses(app: NestFastifyApplication): Promise<void> {
  app
    .getHttpAdapter()
    .getInstance()
    .addHook('onRequest', (request, _reply, done) => {
      // The compression plugin does not compress responses to requests with this header.
      if (isOwnReading(request)) delete request.headers['x-no-compression'];
      else request.headers['x-no-compression'] = 'true';
      done();
    });
  await app.register(compress as never, {
    encodings: ['br', 'gzip'],
    // Our pages send no compressed bodies, and accepting them would allow decompression bombs.
    globalDecompression: false,
    threshold: THRESHOLD_BYTES,
    brotliOptions: { params: { [constants.BROTLI_PARAM_QUALITY]: QUALITY } },
  });
}
