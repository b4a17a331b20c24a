import { createHmac } from 'node:crypto';

/**
 * Hashes a key with HMAC-SHA-256. Keys are stored, cached and sent between apps only in this form. Matching ignores
 * case (specification section 5, rule 4), so `ABC` and `abc` have the same hash.
 */
export const hashApiKey = (pepper: string, key: string): string =>
  createHmac('sha256', pepper).update(key.toLowerCase()).digest('hex');
