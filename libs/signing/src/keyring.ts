import { createHmac, hkdfSync } from 'node:crypto';

const KEY_ID = /^[a-z0-9]{1,8}$/;
const MIN_SECRET_BYTES = 32;

/**
 * Secrets under short key ids. The first signs and encrypts, all of them verify and decrypt, so a key is rotated by
 * putting a new one in front and dropping the old one when nothing made with it is in use any more.
 *
 * The secrets are private fields: neither a log line nor an error that holds a keyring shows them.
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
   * A 32-byte key derived (HKDF-SHA-256) for one purpose, so that nothing made for one purpose is worth anything for
   * another. Undefined when the key id is unknown.
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
 * Reads `kid:secret[,kid2:secret2...]`: kid is 1 to 8 characters of a-z and 0-9, the secret base64url of at least
 * 32 bytes. An error names the position and the key id, never any part of a secret.
 */
export function parseKeyring(text: string, name = 'the keyring'): Keyring {
  const secrets = new Map<string, Buffer>();
  for (const [index, entry] of text.split(',').entries()) {
    const at = `${name}: key ${index + 1}`;
    const colon = entry.indexOf(':');
    if (colon < 0) throw new Error(`${at} is not of the form kid:secret`);
    const kid = entry.slice(0, colon).trim();
    // What stands before the colon may be a misplaced secret, so a bad key id is not echoed either.
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
