import { hash } from 'node:crypto';

/**
 * Returns a UUID (version 8) made from a hash of the parts, so that a primary key detects repeated requests.
 *
 * @param parts without NUL
 */
export function derivedId(...parts: string[]): string {
  const digest = hash('sha256', parts.join('\0'));
  const variant = ((Number.parseInt(digest[16]!, 16) & 0x3) | 0x8).toString(16);
  return [
    digest.slice(0, 8),
    digest.slice(8, 12),
    `8${digest.slice(13, 16)}`,
    `${variant}${digest.slice(17, 20)}`,
    digest.slice(20, 32),
  ].join('-');
}
