import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { parseKeyring } from './keyring.js';

const secret = randomBytes(32).toString('base64url');
const second = randomBytes(48).toString('base64url');

describe('parseKeyring', () => {
  it('uses the first key as the current one and keeps all', () => {
    const keyring = parseKeyring(`b2:${secret}, a1:${second}`);
    expect(keyring.current).toBe('b2');
    expect(keyring.keyIds).toEqual(['b2', 'a1']);
    expect(keyring.subkey('x')).toEqual(keyring.subkey('x', 'b2'));
    expect(keyring.subkey('x', 'zz')).toBeUndefined();
  });

  it('derives a stable, different key for each purpose and key id', () => {
    const keyring = parseKeyring(`b2:${secret},a1:${secret}`);
    expect(keyring.subkey('x')).toHaveLength(32);
    expect(keyring.subkey('x')).not.toEqual(keyring.subkey('y'));
    expect(keyring.subkey('x')).not.toEqual(Buffer.from(secret, 'base64url'));
    expect(parseKeyring(`other:${secret}`).subkey('x')).toEqual(keyring.subkey('x'));
  });

  it.each([
    ['', 'LINK_KEYS: key 1 is not of the form kid:secret'],
    [secret, 'LINK_KEYS: key 1 is not of the form kid:secret'],
    [`a:${secret},`, 'LINK_KEYS: key 2 is not of the form kid:secret'],
    [`UPPER:${secret}`, 'LINK_KEYS: key 1 has a key id that is not 1 to 8 characters of a-z and 0-9'],
    [`toolongid:${secret}`, 'LINK_KEYS: key 1 has a key id that is not 1 to 8 characters of a-z and 0-9'],
    [`a:${secret}=`, 'LINK_KEYS: key 1 (a) has a secret that is not base64url'],
    [`a:${secret.slice(0, -2)}`, 'LINK_KEYS: key 1 (a) has a secret'],
    [
      `a:${randomBytes(31).toString('base64url')}`,
      'LINK_KEYS: key 1 (a) has a secret of fewer than 32 bytes',
    ],
    [`a:${secret},a:${second}`, 'LINK_KEYS: key 2 (a) has a key id that is used twice'],
  ])('rejects an invalid keyring (case %#) without repeating it', (text, message) => {
    const failure = (() => {
      try {
        parseKeyring(text, 'LINK_KEYS');
        return null;
      } catch (error) {
        return error as Error;
      }
    })();
    expect(failure?.message).toContain(message);
    expect(inspect(failure)).not.toContain(secret.slice(0, 10));
  });

  it('shows no secret when it is printed', () => {
    const keyring = parseKeyring(`a:${secret}`);
    keyring.subkey('x');
    const shown = inspect(keyring, { depth: 10, showHidden: true }) + JSON.stringify(keyring);
    expect(shown).not.toContain(secret);
    expect(shown).not.toMatch(/Buffer/);
  });
});
