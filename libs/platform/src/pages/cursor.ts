import { createHmac, timingSafeEqual } from 'node:crypto';

/** Bytes of HMAC-SHA-256 that a cursor carries. */
const TAG_LENGTH = 16;
/** Positions are a few ids and times. */
const MAX_LENGTH = 2_048;

/** Where a page ended: the values that the list is ordered by, in that order. */
export type Position = (string | number)[];

/**
 * Positions as texts that only whoever has the key can make, each good for one list alone. Whoever holds one can read
 * the position, which is that of a row of the list.
 */
export class CursorSealer {
  constructor(private readonly key: Buffer) {}

  /** @param scope of the list: its name and whose it is */
  seal(scope: readonly string[], position: Position): string {
    const payload = Buffer.from(JSON.stringify(position));
    return Buffer.concat([this.tag(scope, payload), payload]).toString('base64url');
  }

  /** The position; undefined for anything that was not sealed for this list. */
  open(scope: readonly string[], cursor: unknown): Position | undefined {
    if (typeof cursor !== 'string' || cursor.length > MAX_LENGTH) return undefined;
    const bytes = Buffer.from(cursor, 'base64url');
    // What Node passes over (padding, other characters) would be other texts for the same cursor.
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
