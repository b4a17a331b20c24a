import { createHmac, randomBytes } from 'node:crypto';
import { noAttributes, UTM_NAMES } from '@perkway/domain';
import fc from 'fast-check';
import { parseKeyring } from './keyring.js';
import { type OutreachToken, signOutreachToken, verifyOutreachToken } from './outreach-token.js';
import { signPayload, verifyPayload } from './payload-token.js';
import { signRewardToken, verifyRewardToken } from './reward-token.js';
import { keyedHash, keyedHasher, open, seal, sealedKeyId } from './secrets.js';

const key = (id: string): string => `${id}:${randomBytes(32).toString('base64url')}`;
const [first, second] = [key('k1'), key('k2')];
const keyring = parseKeyring(first);
const rotated = parseKeyring(`${second},${first}`);

describe('payload tokens', () => {
  it('return any payload unchanged', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const token = signPayload(keyring, 'p', Buffer.from(bytes));
        expect(verifyPayload(keyring, 'p', token)).toEqual(Buffer.from(bytes));
      }),
    );
  });

  // Three lengths, to test texts with zero, two and four unused bits at the end.
  it.each(['ab', 'abc', 'abcd'])(
    'are rejected with any other character, truncation or extension (%s)',
    (payload) => {
      const token = signPayload(keyring, 'p', payload);
      for (let at = 0; at < token.length; at += 1) {
        expect(verifyPayload(keyring, 'p', token.slice(0, at))).toBeNull();
        for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/= ')
          if (character !== token[at])
            expect(
              verifyPayload(keyring, 'p', token.slice(0, at) + character + token.slice(at + 1)),
            ).toBeNull();
      }
      for (const more of ['A', 'AA', '=', '==', ' ', '\n', token])
        expect(verifyPayload(keyring, 'p', token + more)).toBeNull();
    },
  );

  it('are rejected with any flipped bit', () => {
    const bytes = Buffer.from(signPayload(keyring, 'p', 'some payload'), 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3]! ^= 1 << (bit & 7);
      expect(verifyPayload(keyring, 'p', changed.toString('base64url'))).toBeNull();
    }
  });

  it('belong to one purpose, survive rotation, and respect the length limit', () => {
    const token = signPayload(keyring, 'p', 'x');
    expect(verifyPayload(keyring, 'q', token)).toBeNull();
    expect(verifyPayload(rotated, 'p', token)?.toString()).toBe('x');
    expect(verifyPayload(keyring, 'p', signPayload(rotated, 'p', 'x'))).toBeNull();
    expect(verifyPayload(keyring, 'p', token, token.length - 1)).toBeNull();
  });

  it('verification never throws on arbitrary text', () => {
    fc.assert(fc.property(fc.string(), (text) => expect(verifyPayload(keyring, 'p', text)).toBeNull()));
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const token = Buffer.concat([Buffer.from([1]), bytes]).toString('base64url');
        expect(verifyPayload(keyring, 'p', token)).toBeNull();
      }),
    );
  });
});

describe('outreach tokens', () => {
  const storable = fc.string({ unit: 'grapheme', maxLength: 60 });
  const anyToken = fc.record({
    account: fc.stringMatching(/^[A-Za-z0-9._-]{1,20}$/),
    campaign: fc.stringMatching(/^[A-Za-z0-9._-]{1,20}$/),
    perk: fc.stringMatching(/^[A-Za-z0-9._-]{1,20}$/),
    journey: fc.option(
      storable.filter((text) => text !== ''),
      { nil: undefined },
    ),
    disableTracking: fc.boolean(),
    utm: fc.dictionary(fc.constantFrom(...UTM_NAMES), storable),
    cmeta: fc.array(
      fc.tuple(fc.oneof(fc.constant('__proto__'), fc.stringMatching(/^[A-Za-z0-9_-]{1,20}$/)), storable),
    ),
  });

  it('return everything that was signed', () => {
    fc.assert(
      fc.property(anyToken, ({ utm, cmeta, ...given }) => {
        const attributes = noAttributes();
        Object.assign(attributes.utm, utm);
        for (const [name, value] of cmeta) attributes.cmeta[name] = value;
        const token: OutreachToken = { ...given, attributes };
        if (token.journey === undefined) delete token.journey;
        const read = verifyOutreachToken(
          keyring,
          'outreach-click',
          signOutreachToken(keyring, 'outreach-click', token),
        );
        expect(read).toEqual(token);
        expect(Object.entries(read!.attributes!.cmeta)).toEqual(Object.entries(attributes.cmeta));
      }),
    );
  });

  it('of one purpose are invalid for the other', () => {
    const token = signOutreachToken(keyring, 'outreach-click', { account: 'a', campaign: 'c', perk: 'p' });
    expect(verifyOutreachToken(keyring, 'journey-click', token)).toBeNull();
    expect(verifyOutreachToken(keyring, 'outreach-click', token)).toEqual({
      account: 'a',
      campaign: 'c',
      perk: 'p',
      attributes: noAttributes(),
      disableTracking: false,
    });
  });

  it('are short if they contain little', () => {
    const token = signOutreachToken(keyring, 'outreach-click', {
      account: 'acme',
      campaign: 'spring',
      perk: 'p-1',
    });
    expect(token.length).toBeLessThan(70);
  });
});

describe('keyed hashes', () => {
  it('depend on the secret and on case', () => {
    const expected = createHmac('sha256', 'pepper').update('abc').digest('hex');
    expect(keyedHash('pepper', 'abc')).toBe(expected);
    expect(keyedHash('another', 'abc')).not.toBe(expected);
    expect(keyedHash('pepper', 'ABC')).not.toBe(expected);
  });

  it('are the same from the bulk hasher', () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 200 }),
        fc.string({ unit: 'binary', maxLength: 200 }),
        (secret, text) => {
          expect(keyedHasher(secret)(text)).toBe(keyedHash(secret, text));
        },
      ),
    );
  });
});

describe('sealing', () => {
  it('opens what it sealed, with a different ciphertext each time', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (text, context) => {
        const sealed = seal(keyring, 'card', text, context);
        expect(sealed.equals(seal(keyring, 'card', text, context))).toBe(false);
        expect(open(keyring, 'card', sealed, context)).toBe(text);
        expect(open(rotated, 'card', sealed, context)).toBe(text);
      }),
    );
    expect(sealedKeyId(seal(rotated, 'card', 'x', ''))).toBe('k2');
    const nonces = Array.from({ length: 1_000 }, () => seal(keyring, 'card', 'x', '').toString('hex', 4, 16));
    expect(new Set(nonces).size).toBe(1_000);
  });

  it('rejects any flipped bit, truncation, other context, purpose or ring, and its error contains no data', () => {
    const sealed = seal(keyring, 'card', 'CODE-1234', 'row-1');
    const message =
      /^cannot open sealed data: (it was changed or belongs elsewhere|too short, or unknown version or key)$/;
    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const changed = Buffer.from(sealed);
      changed[bit >> 3]! ^= 1 << (bit & 7);
      expect(() => open(keyring, 'card', changed, 'row-1')).toThrow(message);
    }
    for (let length = 0; length < sealed.length; length += 1)
      expect(() => open(keyring, 'card', sealed.subarray(0, length), 'row-1')).toThrow(message);
    expect(() => open(keyring, 'card', sealed, 'row-2')).toThrow(message);
    expect(() => open(keyring, 'other', sealed, 'row-1')).toThrow(message);
    expect(() => open(parseKeyring(second), 'card', sealed, 'row-1')).toThrow(message);
  });
});

describe('reward tokens', () => {
  const link = '0f8c3a52-7d1e-8b64-9c2f-5a1b3c4d5e6f';

  it('are the same for the same link and key, also after rotation', () => {
    const token = signRewardToken(keyring, link)!;
    expect(signRewardToken(rotated, link, 'k1')).toBe(token);
    expect(signRewardToken(rotated, link)).not.toBe(token);
    expect(signRewardToken(keyring, link.replace('0', '1'))).not.toBe(token);
    expect(signRewardToken(keyring, link, 'gone')).toBeUndefined();
    expect(verifyRewardToken(rotated, token)).toBe(link);
    expect(verifyRewardToken(parseKeyring(second), token)).toBeNull();
  });

  it('verify for any id and any length of key id, and for nothing else', () => {
    const longest = parseKeyring(`abcd1234:${second.split(':')[1]}`);
    fc.assert(
      fc.property(fc.uuid(), (id) => {
        for (const ring of [keyring, longest])
          expect(verifyRewardToken(ring, signRewardToken(ring, id)!)).toBe(id);
      }),
    );
    fc.assert(fc.property(fc.string(), (text) => expect(verifyRewardToken(keyring, text)).toBeNull()));
    expect(verifyRewardToken(keyring, signPayload(keyring, 'reward-link', 'short'))).toBeNull();
    expect(verifyRewardToken(keyring, signPayload(keyring, 'other', Buffer.alloc(16)))).toBeNull();
  });
});
