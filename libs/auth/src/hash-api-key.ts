import { createHmac } from 'node:crypto';

/**
 * The only form in which a key is stored, cached or sent between apps: hex of HMAC-SHA-256 over the folded key.
 * Matching ignores case (specification section 5, rule 4), so `ABC` and `abc` have the same hash.
 */
export const hashApiKey = (pepper: string, key: string): string =>
  createHmac('sha256', pepper).update(key.toLowerCase()).digest('hex');
