import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { readWeightedList } from '@perkway/domain';

const ENCODINGS = ['br', 'gzip'] as const;

/** A body in every supported encoding. Compressed once at start, since there are few bodies and they never change. */
export class Compressed {
  private readonly bodies: Record<(typeof ENCODINGS)[number], Buffer>;

  constructor(readonly plain: Buffer) {
    this.bodies = {
      br: brotliCompressSync(plain, {
        params: {
          [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
          [constants.BROTLI_PARAM_SIZE_HINT]: plain.length,
        },
      }),
      gzip: gzipSync(plain, { level: 9 }),
    };
  }

  /** Returns the smallest body that the client accepts. */
  for(acceptEncoding: string | undefined): { body: Buffer; encoding?: string } {
    const accepted = readWeightedList(acceptEncoding);
    const encoding = ENCODINGS.find((name) => accepted.includes(name));
    return encoding ? { body: this.bodies[encoding], encoding } : { body: this.plain };
  }
}
