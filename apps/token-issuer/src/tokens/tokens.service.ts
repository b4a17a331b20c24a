import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { ApiError, lastOf, type AnalyticsKeys, type Caller, type ClosedStatement } from '@perkway/domain';
import { ENV, requireCallerId } from '@perkway/platform';
import jwt from 'jsonwebtoken';
import { Repository } from 'typeorm';
import { AccountEntity } from '../accounts/account.entity.js';
import type { TokenIssuerEnv } from '../env.js';
import type { CubeToken } from './cube-token.dto.js';
import { signingKey } from './token-keys.js';

/** Specification section 8: about five minutes. */
export const TOKEN_LIFETIME_S = 300;

@Injectable()
export class TokensService {
  constructor(
    @Inject(ENV) private readonly env: TokenIssuerEnv,
    @InjectRepository(AccountEntity) private readonly accounts: Repository<AccountEntity>,
  ) {}

  /**
   * Issues a token for the query host, scoped to the caller's account (specification section 4.1).
   *
   * @param clientId as given; an ADMIN key gets a token for that account
   * @throws FORBIDDEN if a USER key gives a clientId, even that of its own account
   * @throws VALIDATION_FAILED, ACCOUNT_NOT_FOUND
   */
  issue(caller: Caller, clientId: unknown): CubeToken | Promise<CubeToken> {
    return clientId === undefined
      ? this.sign(caller, caller.account)
      : this.accountOf(caller, clientId).then((account) => this.sign(caller, account));
  }

  /**
   * Returns what the query host needs to verify tokens: the public halves of all keys, including those that do not
   * sign.
   */
  published(): AnalyticsKeys {
    const { ANALYTICS_TOKEN_KEYS: keys, TOKEN_URL: issuer, QUERY_URL: audience } = this.env;
    return { keys: keys.map(({ publicJwk }) => publicJwk), issuer, audience };
  }

  /**
   * Returns the statement as a compact JWS. It has neither an audience nor an expiry, so no host takes it for a token.
   */
  signStatement({ account, month, rows }: ClosedStatement): string {
    const now = new Date();
    const { kid, privateKey } = signingKey(this.env.ANALYTICS_TOKEN_KEYS, now.getTime())!;
    return jwt.sign({ month, closed: true, rows, account, issued_at: now.toISOString() }, privateKey, {
      algorithm: 'ES256',
      keyid: kid,
      header: { alg: 'ES256', typ: 'JOSE' },
      noTimestamp: true,
    });
  }

  private sign({ role }: Caller, account: string): CubeToken {
    const now = new Date();
    const issuedAt = Math.floor(now.getTime() / 1000);
    const expiresAt = issuedAt + TOKEN_LIFETIME_S;
    const { ANALYTICS_TOKEN_KEYS: keys, TOKEN_URL: iss, QUERY_URL: aud } = this.env;
    const { kid, privateKey } = signingKey(keys, now.getTime())!;
    const claims = { sub: account, role, iss, aud, iat: issuedAt, exp: expiresAt };
    return {
      token: jwt.sign(claims, privateKey, { algorithm: 'ES256', keyid: kid }),
      expiration: expiresAt * 1000,
      serverTime: { timestamp: now.toISOString(), epoch_timestamp: issuedAt },
    };
  }

  private async accountOf(caller: Caller, clientId: unknown): Promise<string> {
    if (caller.role !== 'ADMIN') throw new ApiError('FORBIDDEN', 'clientId is reserved for administrators');
    const account = requireCallerId(lastOf(clientId), 'clientId');
    if (!(await this.accounts.existsBy({ id: account }))) throw new ApiError('ACCOUNT_NOT_FOUND');
    return account;
  }
}
