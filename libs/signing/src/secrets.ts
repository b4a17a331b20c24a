import { createCipheriv, createDecipheriv, hash, randomFillSync } from 'node:crypto';
import { hmac, type Keyring } from './keyring.js';

/**
 * Returns the hex of an HMAC-SHA-256, to find a value (a card code, a pixel view) again without storing it. Without the
 * secret, nobody can test guesses. Use a separate secret for each kind of value.
 */
export const keyedHash = (secret: string | Buffer, text: string): string =>
  hmac(secret, text).toString('hex');

const BLOCK_LENGTH = 64;

/**
 * Returns a `keyedHash` for many texts at half the cost: it computes the two halves of HMAC (RFC 2104) with one-shot
 * hashes.
 */
export function keyedHasher(secret: string): (text: string) => string {
  const given = Buffer.from(secret);
  const key = given.length > BLOCK_LENGTH ? (hash('sha256', given, 'buffer') as Buffer) : given;
  const pad = (byte: number) => Buffer.alloc(BLOCK_LENGTH, byte).map((filler, at) => filler ^ (key[at] ?? 0));
  const [inner, outer] = [pad(0x36), pad(0x5c)];
  return (text) => {
    const digest = hash('sha256', Buffer.concat([inner, Buffer.from(text)]), 'buffer') as Buffer;
    return hash('sha256', Buffer.concat([outer, digest]), 'hex');
  };
}

const SEAL_VERSION = 1;
const IV_LENGTH = 12;
const SEAL_TAG_LENGTH = 16;
const sealKey = (purpose: string): string => `seal/v${SEAL_VERSION}/${purpose}`;

/**
 * Encrypts text (AES-256-GCM) with the current key. `context` is authenticated but not stored, so that data sealed for
 * one row does not open in another. Format, with lengths in bytes: version (1) | length of the key id (1) | key id |
 * IV (12) | ciphertext | tag (16).
 * The IV is random, so a key is good for about 2^32 seals.
 */
export function seal(keyring: Keyring, purpose: string, plaintext: string, context: string): Buffer {
  const { current } = keyring;
  const iv = nextIv();
  const cipher = createCipheriv('aes-256-gcm', keyring.subkey(sealKey(purpose))!, iv);
  cipher.setAAD(Buffer.from(`${sealHead(current)}${context}`));
  const ciphertext = cipher.update(plaintext, 'utf8');
  // Returns nothing for GCM, but the tag requires the call.
  cipher.final();
  const ivAt = 2 + current.length;
  const sealed = Buffer.allocUnsafe(ivAt + IV_LENGTH + ciphertext.length + SEAL_TAG_LENGTH);
  sealed.write(sealHead(current), 'latin1');
  iv.copy(sealed, ivAt);
  ciphertext.copy(sealed, ivAt + IV_LENGTH);
  cipher.getAuthTag().copy(sealed, sealed.length - SEAL_TAG_LENGTH);
  return sealed;
}

const sealHead = (keyId: string): string => String.fromCharCode(SEAL_VERSION, keyId.length) + keyId;

// Fetch random bytes in bulk: a call costs more than its bytes.
const ivs = Buffer.alloc(IV_LENGTH * 256);
let usedIvs = ivs.length;

function nextIv(): Buffer {
  if (usedIvs === ivs.length) {
    randomFillSync(ivs);
    usedIvs = 0;
  }
  return ivs.subarray(usedIvs, (usedIvs += IV_LENGTH));
}

/** Returns the key id of sealed data, to find what must be re-encrypted. */
export const sealedKeyId = (sealed: Buffer): string => sealed.toString('latin1', 2, 2 + sealed[1]!);

/**
 * Decrypts the output of `seal`. Throws if the key is gone, the context differs or a byte was changed; the error
 * contains no data.
 */
export function open(keyring: Keyring, purpose: string, sealed: Buffer, context: string): string {
  const ivAt = 2 + (sealed[1] ?? 0);
  const textAt = ivAt + IV_LENGTH;
  const tagAt = sealed.length - SEAL_TAG_LENGTH;
  const key =
    sealed[0] === SEAL_VERSION && tagAt >= textAt && keyring.subkey(sealKey(purpose), sealedKeyId(sealed));
  if (!key) throw new Error('cannot open sealed data: too short, or unknown version or key');
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(ivAt, textAt), {
    authTagLength: SEAL_TAG_LENGTH,
  });
  decipher.setAAD(Buffer.concat([sealed.subarray(0, ivAt), Buffer.from(context)]));
  decipher.setAuthTag(sealed.subarray(tagAt));
  try {
    return decipher.update(sealed.subarray(textAt, tagAt), undefined, 'utf8') + decipher.final('utf8');
  } catch {
    throw new Error('cannot open sealed data: it was changed or belongs elsewhere');
  }
}
