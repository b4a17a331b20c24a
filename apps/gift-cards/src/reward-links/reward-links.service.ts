import { Inject, Injectable } from '@nestjs/common';
import { DomainError, isUuid, type Caller } from '@perkway/domain';
import { ENV } from '@perkway/platform';
import { signRewardToken } from '@perkway/signing';
import { DataSource } from 'typeorm';
import type { GiftCardsEnv } from '../env.js';
import { Reservations } from './reservations.js';
import { parseBody, requestDigest, rewardLinkId } from './reward-link-request.js';

export interface GeneratedLink {
  reward_link: string;
  token: string;
  isReplay: boolean;
}

@Injectable()
export class RewardLinksService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly reservations: Reservations,
    @Inject(ENV) private readonly env: GiftCardsEnv,
  ) {}

  /**
   * Reserves one card for a new link, or answers the link that this account made with the same key and the same request.
   *
   * @param idempotencyKey a UUID, in any case
   * @throws IDEMPOTENCY_KEY_CONFLICT, then the codes of the body's fields, POOL_NOT_FOUND, NO_AVAILABLE_CARDS; in
   * all but the first case the key stays free
   */
  async generate(
    caller: Caller,
    poolId: string,
    idempotencyKey: string,
    createdBy: string,
    body: unknown,
  ): Promise<GeneratedLink> {
    const link = rewardLinkId(caller.account, idempotencyKey);
    const digest = requestDigest(poolId, body);
    const fields = parseBody(body);
    if (fields instanceof DomainError) {
      // No link was ever made from such a body, so a link with this key is another request's.
      if (await this.exists(link)) throw new DomainError('IDEMPOTENCY_KEY_CONFLICT');
      throw fields;
    }
    const decided = await this.reservations.decide({
      ...fields,
      link,
      account: caller.account,
      pool: isUuid(poolId) ? poolId.toLowerCase() : null,
      country: fields.country ?? null,
      created_by: createdBy,
      idempotency_key: idempotencyKey,
      body_digest: digest,
      token_key: this.env.REWARD_TOKEN_KEYS.current,
    });
    if (decided.outcome === 'RESERVED') return this.answer(link, this.env.REWARD_TOKEN_KEYS.current, false);
    if (decided.outcome !== 'EXISTS') throw new DomainError(decided.outcome);
    if (decided.body_digest.toString('hex') !== digest) throw new DomainError('IDEMPOTENCY_KEY_CONFLICT');
    return this.answer(link, decided.token_key, true);
  }

  private async exists(link: string): Promise<boolean> {
    const rows: unknown[] = await this.dataSource.query('select from reward_links where id = $1', [link]);
    return rows.length > 0;
  }

  private answer(link: string, keyId: string, isReplay: boolean): GeneratedLink {
    const token = signRewardToken(this.env.REWARD_TOKEN_KEYS, link, keyId);
    if (token === undefined)
      throw new Error(`the key "${keyId}" of this link is no longer in REWARD_TOKEN_KEYS`);
    return { reward_link: `${this.env.REWARDS_URL}/#${token}`, token, isReplay };
  }
}
