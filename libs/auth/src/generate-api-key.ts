import { randomBytes } from 'node:crypto';

const GENERATED_PREFIX = 'pk_';
const GENERATED_BYTES = 20;
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';

/** Generates a key with 160 random bits, in lower case because matching ignores case (specification section 5). */
export function generateApiKey(): string {
  let key = GENERATED_PREFIX;
  let buffer = 0;
  let bits = 0;
  for (const byte of randomBytes(GENERATED_BYTES)) {
    buffer = (buffer << 8) | byte;
    // Each character takes five bits.
    for (bits += 8; bits >= 5; bits -= 5) key += BASE32[(buffer >> (bits - 5)) & 31];
  }
  return key;
}
