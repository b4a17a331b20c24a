import { Inject, Injectable } from '@nestjs/common';
import { ApiError, unavailable } from '@perkway/domain';
import { ENV } from '@perkway/platform';
import { open, seal } from '@perkway/signing';
import * as openid from 'openid-client';
import type { ConsoleEnv } from '../env.js';

/** Timeout of one request to the provider. */
const REQUEST_TIMEOUT_S = 5;
/** Time that a person has to sign in at the provider. */
const SIGN_IN_TIMEOUT_MS = 10 * 60_000;
const PURPOSE = 'console-oidc';

/** State to check the provider's response against; the browser keeps it in a sealed cookie. */
interface PendingSignIn {
  state: string;
  nonce: string;
  verifier: string;
  account?: string;
  /** The page that the person asked for. */
  next?: string;
  endsAt: number;
}

/** Signs people in through OpenID Connect: authorization code flow with state, nonce and PKCE. */
@Injectable()
export class OpenIdProvider {
  private configuration: Promise<openid.Configuration> | undefined;
  private readonly redirectUri: string;

  constructor(@Inject(ENV) private readonly env: ConsoleEnv) {
    this.redirectUri = `${env.CONSOLE_URL}/api/oidc/callback`;
  }

  /** The sign-in button of the console; null if no provider is configured. */
  get button(): { label: string; url: string } | null {
    const { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, OIDC_LABEL } = this.env;
    const isSetUp = OIDC_ISSUER !== '' && OIDC_CLIENT_ID !== '' && OIDC_CLIENT_SECRET !== '';
    return isSetUp ? { label: OIDC_LABEL, url: '/api/oidc/start' } : null;
  }

  /**
   * Starts a sign-in. Returns the URL of the provider, and the sealed state for the cookie.
   * @throws NOT_FOUND if no provider is configured
   */
  async begin({
    account,
    next,
  }: Pick<PendingSignIn, 'account' | 'next'>): Promise<{ url: URL; sealed: string }> {
    const configuration = await this.discover();
    const pending: PendingSignIn = {
      state: openid.randomState(),
      nonce: openid.randomNonce(),
      verifier: openid.randomPKCECodeVerifier(),
      account,
      next,
      endsAt: Date.now() + SIGN_IN_TIMEOUT_MS,
    };
    const url = openid.buildAuthorizationUrl(configuration, {
      redirect_uri: this.redirectUri,
      scope: 'openid email',
      state: pending.state,
      nonce: pending.nonce,
      code_challenge: await openid.calculatePKCECodeChallenge(pending.verifier),
      code_challenge_method: 'S256',
    });
    const sealed = seal(this.env.SESSION_KEYS, PURPOSE, JSON.stringify(pending), '');
    return { url, sealed: sealed.toString('base64url') };
  }

  /** Completes a sign-in: returns the verified e-mail address, if the response matches the sealed state. */
  async finish(
    query: string,
    sealed: string | undefined,
  ): Promise<{ email?: string; account?: string; next?: string }> {
    const configuration = await this.discover();
    const pending = this.read(sealed);
    if (!pending) return {};
    const { account, next } = pending;
    let claims: Claims;
    try {
      const tokens = await openid.authorizationCodeGrant(
        configuration,
        new URL(`${this.redirectUri}?${query}`),
        {
          pkceCodeVerifier: pending.verifier,
          expectedState: pending.state,
          expectedNonce: pending.nonce,
          idTokenExpected: true,
        },
      );
      claims = tokens.claims()!;
      if (claims.email === undefined)
        claims = await openid.fetchUserInfo(configuration, tokens.access_token, tokens.claims()!.sub);
    } catch {
      // Denied, forged, expired, or the provider failed: in each case the person has to start again.
      return { next };
    }
    const { email, email_verified: isVerified } = claims;
    return typeof email === 'string' && isVerified === true ? { email, account, next } : { next };
  }

  private read(sealed: string | undefined): PendingSignIn | undefined {
    try {
      const text = open(this.env.SESSION_KEYS, PURPOSE, Buffer.from(sealed ?? '', 'base64url'), '');
      const pending = JSON.parse(text) as PendingSignIn;
      return pending.endsAt > Date.now() ? pending : undefined;
    } catch {
      return undefined;
    }
  }

  /** Discovers the provider once. The next sign-in retries a failed discovery. */
  private async discover(): Promise<openid.Configuration> {
    if (!this.button) throw new ApiError('NOT_FOUND');
    const { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET } = this.env;
    const issuer = new URL(OIDC_ISSUER);
    this.configuration ??= openid.discovery(issuer, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, undefined, {
      timeout: REQUEST_TIMEOUT_S,
      // Plain http is for a provider on the same machine, as in tests.
      execute: issuer.protocol === 'http:' ? [openid.allowInsecureRequests] : [],
    });
    try {
      return await this.configuration;
    } catch (error) {
      this.configuration = undefined;
      throw unavailable('The OpenID provider', error);
    }
  }
}

type Claims = Record<string, unknown>;
