import { Inject, Injectable } from '@nestjs/common';
import { ApiError, GET_ANALYTICS_KEYS, isCallerId, unavailable } from '@perkway/domain';
import { LOGGER, Loops, RpcClient } from '@perkway/platform';
import jwt from 'jsonwebtoken';
import { createPublicKey, hash, type KeyObject } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';

/** The claims of a verified token. */
export interface TokenClaims {
  account: string;
  /** Epoch seconds. */
  expiresAt: number;
}

interface KeySet {
  keys: ReadonlyMap<string, KeyObject>;
  issuer: string;
  audience: string;
}

const REFRESH_MS = 15_000;
/** Unknown key ids trigger at most one key fetch per interval, so forged tokens cannot flood token-issuer. */
const MIN_FETCH_INTERVAL_MS = 1_000;
const MAX_CACHED_TOKENS = 20_000;
/** Real tokens have about 400 characters. */
const MAX_TOKEN_LENGTH = 4_096;

const EXPIRED = 'The token has expired. Get another one with GET /cube/token of the token host.';
const invalidToken = (
  detail = 'The token is invalid. Send the whole token of GET /cube/token of the token host, not an API key.',
): ApiError => new ApiError('API_KEY_INVALID', detail);

/**
 * Verifies analytics tokens (ES256). Keeps the public keys of token-issuer, so it works while token-issuer is down, and
 * caches verified tokens by hash until they expire.
 */
@Injectable()
export class TokenVerifier {
  private keySet: KeySet | null = null;
  private fetching: Promise<void> | null = null;
  private fetchedAt = 0;
  private readonly verified = new LRUCache<string, TokenClaims>({ max: MAX_CACHED_TOKENS });

  constructor(
    private readonly rpc: RpcClient,
    @Inject(LOGGER) private readonly logger: Logger,
    loops: Loops,
  ) {
    const task = 'refresh the keys of analytics tokens';
    loops.add({ task, everyMs: REFRESH_MS, run: () => this.refreshKeys() });
  }

  /**
   * @param token the raw value of `Authorization` or `x-cube-authorization`
   * @throws ApiError 401 if the token is invalid, 503 while no keys are known
   */
  async verify(token: unknown): Promise<TokenClaims> {
    if (typeof token !== 'string' || token === '')
      throw invalidToken('No token was sent. Send that of GET /cube/token in the header Authorization.');
    if (/^Bearer\b/i.test(token))
      throw invalidToken('A Bearer token was sent. Send the token without the prefix Bearer.');
    if (token.length > MAX_TOKEN_LENGTH) throw invalidToken();
    const digest = hash('sha256', token, 'base64');
    const known = this.verified.get(digest);
    if (known) {
      if (known.expiresAt * 1000 > Date.now()) return known;
      this.verified.delete(digest);
      throw invalidToken(EXPIRED);
    }
    const keyId = keyIdOf(token);
    const keySet = await this.keysFor(keyId);
    const claims = check(token, keySet, keyId);
    this.verified.set(digest, claims);
    return claims;
  }

  private async keysFor(keyId: string): Promise<KeySet> {
    if (!this.keySet?.keys.has(keyId)) {
      const isTooSoon = Date.now() - this.fetchedAt < MIN_FETCH_INTERVAL_MS;
      // Without any keys, every request waits for token-issuer. With some, unknown key ids are throttled.
      if (!this.keySet || !isTooSoon || this.fetching) await this.refreshKeys().catch(() => undefined);
    }
    if (!this.keySet) throw unavailable(GET_ANALYTICS_KEYS.serviceName);
    return this.keySet;
  }

  private refreshKeys(): Promise<void> {
    return (this.fetching ??= this.fetchKeys().finally(() => {
      this.fetching = null;
    }));
  }

  private async fetchKeys(): Promise<void> {
    this.fetchedAt = Date.now();
    try {
      const reply = await this.rpc.request(GET_ANALYTICS_KEYS, {});
      const keys = new Map(
        reply.keys.map((jwk) => [jwk.kid, createPublicKey({ key: { ...jwk }, format: 'jwk' })]),
      );
      const hasAllOldKeys = [...(this.keySet?.keys.keys() ?? [])].every((kid) => keys.has(kid));
      this.keySet = { keys, issuer: reply.issuer, audience: reply.audience };
      // If token-issuer removed a key, forget all verified tokens, because that key may have signed some of them.
      if (!hasAllOldKeys) this.verified.clear();
    } catch (err) {
      this.logger.warn({ err, known: this.keySet !== null }, 'cannot get the keys of analytics tokens');
      throw err;
    }
  }
}

function keyIdOf(token: string): string {
  let header: { kid?: unknown; alg?: unknown } | undefined;
  try {
    header = jwt.decode(token, { complete: true })?.header;
  } catch {
    throw invalidToken();
  }
  if (typeof header?.kid !== 'string' || header.alg !== 'ES256') throw invalidToken();
  return header.kid;
}

function check(token: string, { keys, issuer, audience }: KeySet, keyId: string): TokenClaims {
  const key = keys.get(keyId);
  if (!key) throw invalidToken();
  try {
    const claims = jwt.verify(token, key, { algorithms: ['ES256'], issuer, audience });
    if (typeof claims === 'string') throw invalidToken();
    const { sub, exp } = claims;
    if (!isCallerId(sub) || exp === undefined) throw invalidToken();
    return { account: sub, expiresAt: exp };
  } catch (error) {
    throw invalidToken(error instanceof jwt.TokenExpiredError ? EXPIRED : undefined);
  }
}
