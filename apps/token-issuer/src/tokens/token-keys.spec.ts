import { loadEnv } from '@perkway/platform';
import { generateKeyPairSync } from 'node:crypto';
import { envSpec } from '../env.js';
import { parseTokenKeys, signingKey } from './token-keys.js';

const jwk = (more: object = {}) => ({
  ...generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }),
  kid: 'k1',
  ...more,
});
const parse = (...keys: unknown[]) => parseTokenKeys(JSON.stringify(keys));

describe('ANALYTICS_TOKEN_KEYS', () => {
  it('holds private keys, and only their public halves are published', () => {
    const given = jwk({ alg: 'ES256', use: 'sig', key_ops: ['sign'], use_from: 5 });
    const [key] = parse(given);
    expect(key).toMatchObject({ kid: 'k1', useFrom: 5 });
    expect(key!.publicJwk).toEqual({
      kty: 'EC',
      crv: 'P-256',
      x: given.x,
      y: given.y,
      kid: 'k1',
      alg: 'ES256',
      use: 'sig',
    });
  });

  it('signs with the latest key whose use_from has passed, or the first of equals', () => {
    const keys = parse(
      jwk({ kid: 'future', use_from: 2_000 }),
      jwk({ kid: 'past', use_from: 1_000 }),
      jwk({ kid: 'always' }),
      jwk({ kid: 'always-too' }),
    );
    const kidAt = (seconds: number) => signingKey(keys, seconds * 1000)?.kid;
    expect([999, 1_000, 1_999.999, 2_000].map(kidAt)).toEqual(['always', 'past', 'past', 'future']);
    expect(signingKey([keys[0]!], 0)).toBeUndefined();
  });

  const halves = [jwk(), jwk()] as const;
  it.each<[string, string]>([
    ['invalid JSON', 'se1cret-se1cret'],
    ['an object instead of an array', JSON.stringify(jwk({ d: 'se1cret' }))],
    ['an empty array', '[]'],
    ['an entry that is not an object', '["se1cret"]'],
    ['null', '[null]'],
    ['no kid', JSON.stringify([jwk({ kid: undefined })])],
    ['a long kid', JSON.stringify([jwk({ kid: 'se1cret'.repeat(10) })])],
    ['a repeated kid', JSON.stringify([jwk(), jwk()])],
    ['another type', JSON.stringify([{ kty: 'RSA', kid: 'k1', n: 'se1cret', e: 'AQAB' }])],
    ['another curve', JSON.stringify([jwk({ crv: 'P-384' })])],
    ['only the public half', JSON.stringify([jwk({ d: undefined })])],
    ['no public half', JSON.stringify([jwk({ x: undefined })])],
    ['a private half that is not a number', JSON.stringify([jwk({ d: 'se1cret' })])],
    ['halves of two keys', JSON.stringify([{ ...halves[0], d: halves[1].d }])],
    ['use_from as text', JSON.stringify([jwk({ use_from: '5' })])],
    ['use_from in milliseconds', JSON.stringify([jwk({ use_from: 1_700_000_000_000 })])],
    ['only future keys', JSON.stringify([jwk({ use_from: 9_999_999_999 })])],
  ])('rejects %s in one sentence without any part of a key', (_, text) => {
    const environment = {
      PORT: '1',
      NATS_URL: 'nats://127.0.0.1',
      DATABASE_URL: 'postgres://127.0.0.1',
      API_KEY_PEPPER: 'p'.repeat(32),
      TOKEN_URL: 'https://token.test',
      QUERY_URL: 'https://query.test',
      ANALYTICS_TOKEN_KEYS: text,
    };
    let message = '';
    try {
      loadEnv(envSpec, environment);
    } catch (error) {
      ({ message } = error as Error);
    }
    expect(message).toMatch(/^Invalid environment: ANALYTICS_TOKEN_KEYS is invalid \(must [^\n]+\)\.$/);
    expect(message).not.toContain('se1cret');
    for (const { x, y, d } of halves) for (const part of [x!, y!, d!]) expect(message).not.toContain(part);
  });
});

describe('the environment of token-issuer', () => {
  const complete = {
    PORT: '4006',
    NATS_URL: 'nats://127.0.0.1',
    DATABASE_URL: 'postgres://127.0.0.1',
    API_KEY_PEPPER: 'p'.repeat(32),
    TOKEN_URL: 'https://token.test/',
    QUERY_URL: 'https://query.test',
    ANALYTICS_TOKEN_KEYS: JSON.stringify([jwk()]),
  };

  it('needs no BOOTSTRAP_ADMIN_KEY', () => {
    expect(loadEnv(envSpec, complete)).toMatchObject({
      TOKEN_URL: 'https://token.test',
      BOOTSTRAP_ADMIN_KEY: undefined,
    });
  });

  it('rejects a malformed BOOTSTRAP_ADMIN_KEY without repeating it', () => {
    expect(() => loadEnv(envSpec, { ...complete, BOOTSTRAP_ADMIN_KEY: 'se1cret' })).toThrow(
      'Invalid environment: BOOTSTRAP_ADMIN_KEY is invalid (must have 16 to 128 characters of A-Z a-z 0-9 _ -).',
    );
  });
});
