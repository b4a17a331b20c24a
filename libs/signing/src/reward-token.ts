import type { Keyring } from './keyring.js';
import { signPayloadAs, verifyPayload } from './payload-token.js';

const PURPOSE = 'reward-link';
const ID_LENGTH = 16;
/** Longer than any token that `signRewardToken` makes: 2 + 8 + 16 + 18 bytes as base64url. */
const MAX_LENGTH = 64;

/**
 * The token of a reward link: the link id under a signature. The same for the same link and key, so a replay
 * answers it again and no database holds it. Undefined when the key is no longer in the ring.
 *
 * @param linkId a UUID in lower case
 */
export const signRewardToken = (
  keyring: Keyring,
  linkId: string,
  keyId: string = keyring.current,
): string | undefined =>
  signPayloadAs(keyring, keyId, PURPOSE, Buffer.from(linkId.replaceAll('-', ''), 'hex'));

/** The link id (a UUID in lower case) that a token leads to, or null for anything that this ring did not sign. */
export function verifyRewardToken(keyring: Keyring, token: string): string | null {
  const id = verifyPayload(keyring, PURPOSE, token, MAX_LENGTH);
  if (id?.length !== ID_LENGTH) return null;
  return id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
