import { createHmac } from 'node:crypto';

const ID_BYTES = 18;

/**
 * Returns the id of an event that several replicas or retries may report: the same for all of them. Keyed, because
 * addresses and external ids are so few that a plain hash could be reversed by trying them all.
 */
export const keyedEventId = (key: string, content: string): string =>
  createHmac('sha256', key).update(content).digest().toString('base64url', 0, ID_BYTES);
