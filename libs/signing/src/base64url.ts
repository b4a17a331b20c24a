/**
 * Decodes canonical base64url, or returns null. Buffer.from() skips foreign characters, accepts `+/=` and ignores
 * unused bits, so it would accept several texts for the same token.
 */
export function decodeCanonical(text: string, maxLength: number): Buffer | null {
  if (text.length > maxLength) return null;
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : null;
}

const ALPHABET = Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_', 'latin1');

/**
 * Writes `source` (its length a multiple of 3) as base64url text into `target`. For the few bytes of a tag, this loop
 * is several times faster than creating and copying a string.
 */
export function writeBase64url(source: Uint8Array, target: Uint8Array, offset: number): void {
  let at = offset;
  for (let i = 0; i < source.length; i += 3) {
    const bits = (source[i]! << 16) | (source[i + 1]! << 8) | source[i + 2]!;
    target[at] = ALPHABET[bits >> 18]!;
    target[at + 1] = ALPHABET[(bits >> 12) & 63]!;
    target[at + 2] = ALPHABET[(bits >> 6) & 63]!;
    target[at + 3] = ALPHABET[bits & 63]!;
    at += 4;
  }
}
