import { createHmac, hkdfSync } from 'node:crypto';

const KEY_ID = /^[a-z0-9]{1,8}$/;
const MIN_SECRET_BYTES = 32;

/**
 * Secrets under short key ids. The first signs and encrypts; all of them verify and decrypt. To rotate a key, put a new
 * one in front, and drop the old one when nothing made with it is in use any more.
 *
 * The secrets are private fields, so that logs and errors that contain a keyring do not show them.
 */
export class Keyring {
  readonly current: string;
  readonly #secrets: ReadonlyMap<string, Buffer>;
  readonly #subkeys = new Map<string, Buffer>();

  constructor(secrets: ReadonlyMap<string, Buffer>) {
    const [first] = secrets.keys();
    if (first === undefined) throw new Error('a keyring needs at least one key');
    this.current = first;
    this.#secrets = secrets;
  }

  get keyIds(): string[] {
    return [...this.#secrets.keys()];
  }

  /**
   * Derives a 32-byte key (HKDF-SHA-256) for one purpose, so that tokens of one purpose are invalid for every other.
   * Returns undefined for an unknown key id.
   */
  subkey(purpose: string, keyId: string = this.current): Buffer | undefined {
    const secret = this.#secrets.get(keyId);
    if (!secret) return undefined;
    const name = `${keyId}/${purpose}`;
    let subkey = this.#subkeys.get(name);
    if (!subkey) {
      subkey = Buffer.from(hkdfSync('sha256', secret, Buffer.alloc(0), `perkway/${purpose}`, 32));
      this.#subkeys.set(name, subkey);
    }
    return subkey;
  }
}

/**
 * Parses `kid:secret[,kid2:secret2...]`: kid is 1 to 8 characters of a-z and 0-9, the secret base64url of at least 32
 * bytes. Errors name the position and the key id, never any part of a secret.
 */
export function parseKeyring(text: string, name = 'the keyring'): Keyring {
  const secrets = new Map<string, Buffer>();
  for (const [index, entry] of text.split(',').entries()) {
    const at = `${name}: key ${index + 1}`;
    const colon = entry.indexOf(':');
    if (colon < 0) throw new Error(`${at} is not of the form kid:secret`);
    const kid = entry.slice(0, colon).trim();
    // The part before the colon may be a misplaced secret, so do not repeat an invalid key id.
    if (!KEY_ID.test(kid)) throw new Error(`${at} has a key id that is not 1 to 8 characters of a-z and 0-9`);
    const encoded = entry.slice(colon + 1).trim();
    const secret = Buffer.from(encoded, 'base64url');
    if (secret.toString('base64url') !== encoded)
      throw new Error(`${at} (${kid}) has a secret that is not base64url`);
    if (secret.length < MIN_SECRET_BYTES)
      throw new Error(`${at} (${kid}) has a secret of fewer than ${MIN_SECRET_BYTES} bytes`);
    if (secrets.has(kid)) throw new Error(`${at} (${kid}) has a key id that is used twice`);
    secrets.set(kid, secret);
  }
  return new Keyring(secrets);
}

export const hmac = (key: Buffer | string, data: Buffer | string): Buffer =>
  createHmac('sha256', key).update(data).digest();
