import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { hmac, type Keyring } from './keyring.js';

/**
 * Hex of HMAC-SHA-256: finds something again (a card code, a pixel view) without keeping it, and without the secret
 * nobody can try guesses against it. Use a secret of its own for each kind of thing.
 */
export const keyedHash = (secret: string | Buffer, text: string): string =>
  hmac(secret, text).toString('hex');

/** The keyed hash of an API key. Keys match whatever their case (specification section 5, rule 4). */
export const hashApiKey = (pepper: string, apiKey: string): string => keyedHash(pepper, apiKey.toLowerCase());

const SEAL_VERSION = 1;
const IV_LENGTH = 12;
const SEAL_TAG_LENGTH = 16;
const sealKey = (purpose: string): string => `seal/v${SEAL_VERSION}/${purpose}`;

/**
 * Encrypts text (AES-256-GCM) with the current key. `context` is authenticated and not stored: what was sealed for one
 * row does not open in another. Shape: version 1 | length of the key id 1 | key id | IV 12 | ciphertext | tag 16.
 * The IV is random, so a key is good for about 2^32 seals.
 */
export function seal(keyring: Keyring, purpose: string, plaintext: string, context: string): Buffer {
  const head = Buffer.from(`\0\0${keyring.current}`, 'latin1');
  head[0] = SEAL_VERSION;
  head[1] = keyring.current.length;
  const iv = randomBytes(IV_LENGTH);
  const cipher = createCipheriv('aes-256-gcm', keyring.subkey(sealKey(purpose))!, iv);
  cipher.setAAD(Buffer.concat([head, Buffer.from(context)]));
  const ciphertext = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]);
  return Buffer.concat([head, iv, ciphertext, cipher.getAuthTag()]);
}

/** The key id that something was sealed with, for finding what is left to re-encrypt. */
export const sealedKeyId = (sealed: Buffer): string => sealed.toString('latin1', 2, 2 + sealed[1]!);

/** Opens what `seal` made. Throws if the key is gone, the context differs or a byte was changed; the error holds no data. */
export function open(keyring: Keyring, purpose: string, sealed: Buffer, context: string): string {
  const ivAt = 2 + (sealed[1] ?? 0);
  const textAt = ivAt + IV_LENGTH;
  const tagAt = sealed.length - SEAL_TAG_LENGTH;
  const key =
    sealed[0] === SEAL_VERSION && tagAt >= textAt && keyring.subkey(sealKey(purpose), sealedKeyId(sealed));
  if (!key) throw new Error('sealed data cannot be opened: unknown version or key');
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(ivAt, textAt), {
    authTagLength: SEAL_TAG_LENGTH,
  });
  decipher.setAAD(Buffer.concat([sealed.subarray(0, ivAt), Buffer.from(context)]));
  decipher.setAuthTag(sealed.subarray(tagAt));
  try {
    return decipher.update(sealed.subarray(textAt, tagAt), undefined, 'utf8') + decipher.final('utf8');
  } catch {
    throw new Error('sealed data cannot be opened: it was changed or belongs elsewhere');
  }
}
