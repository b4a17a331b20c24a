import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { parseKeyring } from './keyring.js';
import { createLinkSigner, type LinkTarget, verifyLink } from './link-token.js';

const secret = (): string => randomBytes(32).toString('base64url');
const keyring = parseKeyring(`k1:${secret()}`);
const signer = createLinkSigner(keyring);
const target: LinkTarget = { account: 'acme', collection: 'summer-2026', perk: 'coffee.1' };
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

const callerId = fc.stringMatching(/^[A-Za-z0-9._-]{1,100}$/);
const anyTarget = fc.record({ account: callerId, collection: callerId, perk: callerId });

describe('link tokens', () => {
  it('return the signed target and time', () => {
    fc.assert(
      fc.property(anyTarget, fc.integer({ min: 0, max: 2 ** 47 }), (given, at) => {
        const link = signer.prepare(given);
        const token = signer.begin(at).token(link);
        expect(token).toHaveLength(link.length);
        expect(token).toMatch(/^[A-Za-z0-9_-]+$/);
        expect(verifyLink(keyring, token)).toEqual({ ...given, at });
      }),
    );
  });

  it('differ between fetches and within one, have the same length, and all verify', () => {
    const link = signer.prepare(target);
    const batch = signer.begin(1000);
    const tokens = [batch.token(link), batch.token(link), signer.begin(1000).token(link)];
    expect(new Set(tokens).size).toBe(3);
    for (const token of tokens) {
      expect(token).toHaveLength(link.length);
      expect(verifyLink(keyring, token)).toMatchObject(target);
    }
  });

  it('are written into a buffer at the given offset', () => {
    const link = signer.prepare(target);
    const buffer = Buffer.alloc(link.length + 7, '#');
    signer.begin().write(link, buffer, 3);
    expect(buffer.toString('latin1', 0, 3)).toBe('###');
    expect(buffer.toString('latin1', 3 + link.length)).toBe('####');
    expect(verifyLink(keyring, buffer.toString('latin1', 3, 3 + link.length))).toMatchObject(target);
    expect(() => signer.begin().write(link, buffer, 8)).toThrow(RangeError);
  });

  it('verify over a whole batch, which ends before a pad would repeat', () => {
    const link = signer.prepare(target);
    const batch = signer.begin();
    const seen = new Set<string>();
    for (let i = 0; i < 65_536; i += 1) {
      const token = batch.token(link);
      seen.add(token);
      if (i % 4099 === 0 || [63, 64, 65, 255, 256, 65_535].includes(i))
        expect(verifyLink(keyring, token)).toMatchObject(target);
    }
    expect(seen.size).toBe(65_536);
    expect(() => batch.token(link)).toThrow(RangeError);
  });

  it.each([
    ['acme', 'summer-2026', 'coffee.1'],
    ['acmee', 'summer-2026', 'coffee.1'],
    ['acmeee', 'summer-2026', 'coffee.1'],
  ])('are rejected with any other character at any position (%s)', (account, collection, perk) => {
    const token = signer.begin().token(signer.prepare({ account, collection, perk }));
    for (let at = 0; at < token.length; at += 1)
      for (const character of `${ALPHABET}+/=. %\0é`) {
        if (character === token[at]) continue;
        expect(verifyLink(keyring, token.slice(0, at) + character + token.slice(at + 1))).toBeNull();
      }
  });

  it('are rejected with any flipped bit', () => {
    const token = signer.begin().token(signer.prepare(target));
    const bytes = Buffer.from(token, 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3]! ^= 1 << (bit & 7);
      expect(verifyLink(keyring, changed.toString('base64url'))).toBeNull();
    }
  });

  it('are rejected when truncated, extended, or with parts removed or swapped', () => {
    const token = signer.begin().token(signer.prepare(target));
    const other = signer.begin().token(signer.prepare({ ...target, perk: 'coffee.2' }));
    for (let at = 0; at < token.length; at += 1) {
      expect(verifyLink(keyring, token.slice(0, at))).toBeNull();
      expect(verifyLink(keyring, token.slice(at + 1))).toBeNull();
      expect(verifyLink(keyring, token.slice(0, at) + token.slice(at + 1))).toBeNull();
      const spliced = token.slice(0, at) + other.slice(at);
      if (spliced !== other && spliced !== token) expect(verifyLink(keyring, spliced)).toBeNull();
    }
    for (const more of ['A', 'AA', 'AAA', 'AAAA', '=', '\n', ' ', token, 'A'.repeat(10_000)]) {
      expect(verifyLink(keyring, token + more)).toBeNull();
      expect(verifyLink(keyring, more + token)).toBeNull();
    }
  });

  it('are rejected when mixed from two links of one fetch', () => {
    const batch = signer.begin();
    const one = batch.token(signer.prepare(target));
    const two = batch.token(signer.prepare({ ...target, perk: 'coffee.2' }));
    // header 36 characters, stamp 24, then the body
    expect(verifyLink(keyring, one.slice(0, 60) + two.slice(60))).toBeNull();
    expect(verifyLink(keyring, two.slice(0, 60) + one.slice(60))).toBeNull();
  });

  it('verification never throws and never accepts arbitrary text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 600 }), (text) => {
        expect(verifyLink(keyring, text)).toBeNull();
      }),
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
        const token = Buffer.concat([Buffer.from([1]), Buffer.from('k1'), Buffer.alloc(6), bytes]);
        expect(verifyLink(keyring, token.toString('base64url'))).toBeNull();
      }),
    );
  });

  it('verify under an old key after rotation, until it is removed', () => {
    const [first, second] = [`old:${secret()}`, `newer123:${secret()}`];
    const before = createLinkSigner(parseKeyring(first));
    const token = before.begin().token(before.prepare(target));
    const rotated = parseKeyring(`${second},${first}`);
    expect(verifyLink(rotated, token)).toMatchObject(target);
    const after = createLinkSigner(rotated);
    const fresh = after.begin().token(after.prepare(target));
    expect(verifyLink(rotated, fresh)).toMatchObject(target);
    expect(verifyLink(parseKeyring(first), fresh)).toBeNull();
    expect(verifyLink(parseKeyring(second), token)).toBeNull();
  });

  it('belong to one purpose', () => {
    const preview = createLinkSigner(keyring, 'preview');
    const token = preview.begin().token(preview.prepare(target));
    expect(verifyLink(keyring, token)).toBeNull();
    expect(verifyLink(keyring, token, 'preview')).toMatchObject(target);
  });

  it('cannot be created for an invalid id', () => {
    for (const perk of ['', 'a b', 'x'.repeat(101), 'é'])
      expect(() => signer.prepare({ ...target, perk })).toThrow('perk is not a valid id');
  });
});
