import type { Keyring } from './keyring.js';
import { signPayloadAs, verifyPayload } from './payload-token.js';

const PURPOSE = 'reward-link';
const ID_LENGTH = 16;
/** Longer than any token that `signRewardToken` makes: 2 + 8 + 16 + 18 bytes as base64url. */
const MAX_LENGTH = 64;

/**
 * Creates the token of a reward link: the signed link id. The same link and key always give the same token, so an
 * idempotent replay can return it again without storing it. Returns undefined if the key is no longer in the ring.
 *
 * @param linkId a UUID in lower case
 */
export const signRewardToken = (
  keyring: Keyring,
  linkId: string,
  keyId: string = keyring.current,
): string | undefined =>
  signPayloadAs(keyring, keyId, PURPOSE, Buffer.from(linkId.replaceAll('-', ''), 'hex'));

/** Returns the link id (a UUID in lower case) of a token, or null if this keyring did not sign it. */
export function verifyRewardToken(keyring: Keyring, token: string): string | null {
  const id = verifyPayload(keyring, PURPOSE, token, MAX_LENGTH);
  if (id?.length !== ID_LENGTH) return null;
  return id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
