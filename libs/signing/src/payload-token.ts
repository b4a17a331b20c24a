import { timingSafeEqual } from 'node:crypto';
import { decodeCanonical } from './base64url.js';
import { hmac, type Keyring } from './keyring.js';

/** version 1 | length of the key id 1 | key id | payload | tag 18, all as base64url. */
const VERSION = 1;
const TAG_LENGTH = 18;

const subkeyName = (purpose: string): string => `payload/v${VERSION}/${purpose}`;

/** Signs bytes or text for one purpose with the current key. The payload is not encrypted. */
export const signPayload = (keyring: Keyring, purpose: string, payload: Buffer | string): string =>
  signPayloadAs(keyring, keyring.current, purpose, payload)!;

/** Like `signPayload`, but with a given key of the ring, to recreate a token. Returns undefined if the key is gone. */
export function signPayloadAs(
  keyring: Keyring,
  keyId: string,
  purpose: string,
  payload: Buffer | string,
): string | undefined {
  const key = keyring.subkey(subkeyName(purpose), keyId);
  if (!key) return undefined;
  const signed = Buffer.concat([
    Buffer.from([VERSION, keyId.length]),
    Buffer.from(keyId, 'latin1'),
    typeof payload === 'string' ? Buffer.from(payload) : payload,
  ]);
  const tag = hmac(key, signed).subarray(0, TAG_LENGTH);
  return Buffer.concat([signed, tag]).toString('base64url');
}

/** Returns the payload, or null if this keyring did not sign it for the purpose. Never throws. */
export function verifyPayload(
  keyring: Keyring,
  purpose: string,
  token: string,
  maxLength = 65_536,
): Buffer | null {
  const bytes = decodeCanonical(token, maxLength);
  if (!bytes || bytes.length < 2 || bytes[0] !== VERSION) return null;
  const payloadAt = 2 + bytes[1]!;
  const tagAt = bytes.length - TAG_LENGTH;
  if (tagAt < payloadAt) return null;
  const key = keyring.subkey(subkeyName(purpose), bytes.toString('latin1', 2, payloadAt));
  if (!key) return null;
  const tag = hmac(key, bytes.subarray(0, tagAt)).subarray(0, TAG_LENGTH);
  return timingSafeEqual(tag, bytes.subarray(tagAt)) ? bytes.subarray(payloadAt, tagAt) : null;
}
