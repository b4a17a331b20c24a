import { randomFillSync } from 'node:crypto';

const ID_BYTES = 16;
// Fills many ids at once, because a call costs more than its bytes.
const pool = Buffer.alloc(ID_BYTES * 256);
let used = pool.length;

/** Returns a new event id: 128 random bits as 22 base64url characters. */
export function newEventId(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  return pool.toString('base64url', used, (used += ID_BYTES));
}
