import { randomFillSync } from 'node:crypto';

const ID_BYTES = 16;
// Filling many at once: a call costs more than its bytes.
const pool = Buffer.alloc(ID_BYTES * 256);
let used = pool.length;

/** A new event id: 128 random bits as 22 characters of base64url. */
export function newEventId(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  return pool.toString('base64url', used, (used += ID_BYTES));
}
