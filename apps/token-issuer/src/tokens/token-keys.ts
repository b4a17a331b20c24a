import {
  createPrivateKey,
  createPublicKey,
  sign,
  verify,
  type JsonWebKey,
  type KeyObject,
} from 'node:crypto';
import type { PublicJwk } from '@perkway/domain';

export interface TokenKey {
  kid: string;
  /** Epoch seconds from which the key may sign; 0 means always. */
  useFrom: number;
  privateKey: KeyObject;
  publicJwk: PublicJwk;
}

const KID = /^[A-Za-z0-9._-]{1,64}$/;
/** Upper bound of `use_from` in seconds: a larger value was probably given in milliseconds. */
const USE_FROM_LIMIT = 1e11;

/**
 * Parses ANALYTICS_TOKEN_KEYS: a JSON array of private EC P-256 JWKs (RFC 7517), each with a `kid` and optionally
 * `use_from` in epoch seconds. Errors name the position of a key, but no part of it.
 */
export function parseTokenKeys(text: string): TokenKey[] {
  const keys = parseArray(text).map(parseKey);
  const kids = keys.map(({ kid }) => kid);
  const twice = kids.findIndex((kid, index) => kids.indexOf(kid) !== index);
  if (twice >= 0) throw new Error(`must have a different kid for each key; key ${twice + 1} repeats one`);
  if (!signingKey(keys, Date.now())) throw new Error('must have a key whose use_from has passed');
  return keys;
}

/**
 * Returns the key with the latest `use_from` that has passed; if several share it, the first of them. All keys are
 * published: a new one before it starts to sign, an old one until it is removed.
 */
export function signingKey(keys: readonly TokenKey[], nowMs: number): TokenKey | undefined {
  let newest: TokenKey | undefined;
  for (const key of keys)
    if (key.useFrom * 1000 <= nowMs && (!newest || key.useFrom > newest.useFrom)) newest = key;
  return newest;
}

function parseArray(text: string): unknown[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw new Error('must be a JSON array of private EC P-256 JWKs');
  }
  if (!Array.isArray(parsed) || parsed.length === 0)
    throw new Error('must be a JSON array of at least one private EC P-256 JWK');
  return parsed;
}

function parseKey(entry: unknown, index: number): TokenKey {
  const keyError = (fault: string) =>
    new Error(`must be a JSON array of JWKs, but key ${index + 1} ${fault}`);
  if (typeof entry !== 'object' || entry === null) throw keyError('is not an object');
  const { kid, use_from: useFrom = 0, kty, crv, x, y, d } = entry as JsonWebKey & { [name: string]: unknown };
  if (typeof kid !== 'string' || !KID.test(kid))
    throw keyError('has no kid of 1 to 64 characters of A-Z a-z 0-9 . _ -');
  if (typeof useFrom !== 'number' || !Number.isInteger(useFrom) || useFrom < 0 || useFrom >= USE_FROM_LIMIT)
    throw keyError('has a use_from that is not in epoch seconds');
  if (kty !== 'EC' || crv !== 'P-256') throw keyError('is not of type EC and curve P-256');
  const publicJwk = { kty, crv, x, y } as { kty: string; crv: string; x: string; y: string };
  try {
    const privateKey = createPrivateKey({ key: { ...publicJwk, d }, format: 'jwk' });
    // The import does not check that the two halves match.
    const sample = Buffer.from('sample');
    const publicKey = createPublicKey({ key: publicJwk, format: 'jwk' });
    if (!verify('sha256', sample, publicKey, sign('sha256', sample, privateKey)))
      throw new Error('halves differ');
    return { kid, useFrom, privateKey, publicJwk: { ...publicJwk, kid, alg: 'ES256', use: 'sig' } };
  } catch {
    throw keyError('is not a valid private key');
  }
}
