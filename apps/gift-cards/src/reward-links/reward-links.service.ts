import { Inject, Injectable } from '@nestjs/common';
import { asTags, DomainError, isUuid, type Caller, type CustomAttributes } from '@perkway/domain';
import { ENV } from '@perkway/platform';
import { signRewardToken } from '@perkway/signing';
import { DataSource } from 'typeorm';
import type { GiftCardsEnv } from '../env.js';
import { Reservations } from './reservations.js';
import { parseBody, requestDigest, rewardLinkId, type RewardLinkBody } from './reward-link-request.js';

export interface GeneratedLink {
  id: string;
  reward_link: string;
  token: string;
  isReplay: boolean;
}

/** In one header. */
const MAX_ENTRIES_SHOWN = 20;
interface Entry {
  denomination: number;
  currency: string;
  country: string;
}
const SELECT_ENTRIES = `
  select i.denomination::float8 as denomination, i.currency, i.country
  from inventories i join pools p on p.id = i.pool_id
  where p.id = $1 and p.owner = $2 order by currency, denomination, country`;

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
   * @param attributes those of the first request stay
   * @throws IDEMPOTENCY_KEY_CONFLICT, then the codes of the body's fields, POOL_NOT_FOUND, NO_AVAILABLE_CARDS; in
   * all but the first case the key stays free
   */
  async generate(
    caller: Caller,
    poolId: string,
    idempotencyKey: string,
    createdBy: string,
    attributes: CustomAttributes,
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
    const tags = asTags(attributes);
    const decided = await this.reservations.decide({
      ...fields,
      link,
      account: caller.account,
      pool: isUuid(poolId) ? poolId.toLowerCase() : null,
      country: fields.country ?? null,
      campaign_id: fields.campaign_id ?? null,
      journey_id: fields.journey_id ?? null,
      reference: fields.reference ?? null,
      attributes: tags.utm || tags.cmeta ? tags : null,
      created_by: createdBy,
      idempotency_key: idempotencyKey,
      body_digest: digest,
      token_key: this.env.REWARD_TOKEN_KEYS.current,
    });
    if (decided.outcome === 'RESERVED') return this.answer(link, this.env.REWARD_TOKEN_KEYS.current, false);
    if (decided.outcome === 'NO_AVAILABLE_CARDS') throw await this.noCards(caller, poolId, fields);
    if (decided.outcome !== 'EXISTS') throw new DomainError(decided.outcome);
    // Without one somebody was erased from it.
    const isSame = decided.body_digest.length === 0 || decided.body_digest.toString('hex') === digest;
    if (!isSame) throw new DomainError('IDEMPOTENCY_KEY_CONFLICT');
    return this.answer(link, decided.token_key, true);
  }

  private async exists(link: string): Promise<boolean> {
    const rows: unknown[] = await this.dataSource.query('select from reward_links where id = $1', [link]);
    return rows.length > 0;
  }

  /** Says what the pool has, to whoever asked for something that it never had. */
  private async noCards(
    { account }: Caller,
    poolId: string,
    { denomination, currency, country }: RewardLinkBody,
  ): Promise<DomainError> {
    const entries: Entry[] = await this.dataSource.query(SELECT_ENTRIES, [poolId, account]);
    const isKnown = entries.some(
      (entry) =>
        entry.denomination === denomination &&
        entry.currency === currency &&
        (country === undefined || entry.country === country),
    );
    const list = entries.slice(0, MAX_ENTRIES_SHOWN).map((entry) => Object.values(entry).join(' '));
    if (entries.length > list.length) list.push('and others');
    return new DomainError(
      'NO_AVAILABLE_CARDS',
      isKnown
        ? `No card is left of ${denomination} ${currency}`
        : entries.length > 0
          ? `The pool has no such entry. It has ${list.join(', ')}`
          : 'The pool has no cards',
    );
  }

  private answer(link: string, keyId: string, isReplay: boolean): GeneratedLink {
    const token = signRewardToken(this.env.REWARD_TOKEN_KEYS, link, keyId);
    if (token === undefined)
      throw new Error(`the key "${keyId}" of this link is no longer in REWARD_TOKEN_KEYS`);
    return { id: link, reward_link: `${this.env.REWARDS_URL}/#${token}`, token, isReplay };
  }
}
