import { createHmac, timingSafeEqual } from 'node:crypto';

/** Bytes of HMAC-SHA-256 in a cursor. */
const TAG_LENGTH = 16;
/** Maximum length of a cursor. Positions are a few ids and times, which need less. */
const MAX_LENGTH = 2_048;

/** The last row of a page: the values that the list is ordered by, in that order. */
export type Position = (string | number)[];

/**
 * Signs positions, so that cursors cannot be forged and work for one list only. Their content is readable, but belongs
 * to a row that the caller may see.
 */
export class CursorSealer {
  constructor(private readonly key: Buffer) {}

  /** @param scope name and owner of the list */
  seal(scope: readonly string[], position: Position): string {
    const payload = Buffer.from(JSON.stringify(position));
    return Buffer.concat([this.tag(scope, payload), payload]).toString('base64url');
  }

  /** Returns the position, or undefined for a cursor that was not issued by this list. */
  open(scope: readonly string[], cursor: unknown): Position | undefined {
    if (typeof cursor !== 'string' || cursor.length > MAX_LENGTH) return undefined;
    const bytes = Buffer.from(cursor, 'base64url');
    // Node ignores padding and other characters, so different strings would be the same cursor.
    if (bytes.length <= TAG_LENGTH || bytes.toString('base64url') !== cursor) return undefined;
    const payload = bytes.subarray(TAG_LENGTH);
    if (!timingSafeEqual(bytes.subarray(0, TAG_LENGTH), this.tag(scope, payload))) return undefined;
    return JSON.parse(payload.toString()) as Position;
  }

  private tag(scope: readonly string[], payload: Buffer): Buffer {
    return createHmac('sha256', this.key)
      .update(`${JSON.stringify(scope)}\n`)
      .update(payload)
      .digest()
      .subarray(0, TAG_LENGTH);
  }
}
