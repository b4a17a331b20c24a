import { Inject, Injectable } from '@nestjs/common';
import { asTags, ApiError, isUuid, type Caller, type CustomAttributes } from '@perkway/domain';
import { ENV } from '@perkway/platform';
import { signRewardToken } from '@perkway/signing';
import { DataSource } from 'typeorm';
import type { GiftCardsEnv } from '../env.js';
import { derivedId } from '../derived-id.js';
import { IssuedLinksService } from './issued-links.service.js';
import { Reservations, type ReachedLimit, type ReservationRequest } from './reservations.js';
import {
  expiryError,
  parseBody,
  parseReplacement,
  requestDigest,
  rewardLinkId,
  type RewardLinkBody,
} from './reward-link-request.js';

export interface GeneratedLink {
  id: string;
  reward_link: string;
  token: string;
  isReplay: boolean;
}

/** The pool and the request are fine, but the link would exceed a limit of the account. */
export class LimitReached extends ApiError {
  constructor(readonly reached: ReachedLimit) {
    super('LIMIT_REACHED', `The limit ${reached.limit} is reached`);
  }
}

const DAY_S = 86_400;
const replacementId = (original: string): string => derivedId('replacement', original);
const nowSeconds = (): number => Math.floor(Date.now() / 1000);

/** The card that a request reserves, and how long the link is valid. */
type Card = Pick<RewardLinkBody, 'denomination' | 'currency' | 'country' | 'expires_at'>;
/** The columns of a link that its replacement needs. */
interface Original extends Pick<
  ReservationRequest,
  'campaign_id' | 'journey_id' | 'reference' | 'attributes' | 'currency' | 'denomination'
> {
  /** The id of this link. Named like the column of the replacement that gets it. */
  replaces: string;
  is_revealed: boolean;
  is_replaced: boolean;
  /** Whether the account still has the pool. */
  has_pool: boolean;
  pool_id: string;
  country: string;
  /** Seconds. */
  lifetime: number;
}
const SELECT_ORIGINAL = `
  select l.id as replaces, l.revealed_at is not null as is_revealed,
    exists (select from reward_links r where r.replaces = l.id) as is_replaced,
    exists (select from pools p where p.id = i.pool_id and p.owner = l.account) as has_pool,
    i.pool_id, i.denomination::float8, i.currency, i.country,
    ceil(extract(epoch from l.expires_at - l.created_at))::float8 as lifetime, l.campaign_id, l.journey_id,
    l.reference, l.attributes
  from reward_links l join inventories i on i.id = l.inventory_id
  where l.id = $1 and l.account = $2`;
/** Maximum number of entries listed in the detail header. */
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
    private readonly issued: IssuedLinksService,
    @Inject(ENV) private readonly env: GiftCardsEnv,
  ) {}

  /**
   * Reserves one card for a new link, or returns the link that this account created with the same key and the same
   * request.
   *
   * @param idempotencyKey a UUID, in any case
   * @param attributes a replay keeps those of the first request
   * @throws checked in this order: IDEMPOTENCY_KEY_CONFLICT, the error codes of the body's fields, POOL_NOT_FOUND,
   * LIMIT_REACHED, NO_AVAILABLE_CARDS. Except after IDEMPOTENCY_KEY_CONFLICT, the key is still unused.
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
    const fields = parseBody(body, this.env.MAX_LINK_DAYS);
    if (fields instanceof ApiError) {
      // An invalid body never created a link, so a link with this key belongs to a different request.
      if (await this.exists(link)) throw new ApiError('IDEMPOTENCY_KEY_CONFLICT');
      throw fields;
    }
    const tags = asTags(attributes);
    return this.reserve(caller, poolId, fields, {
      link,
      campaign_id: fields.campaign_id ?? null,
      journey_id: fields.journey_id ?? null,
      reference: fields.reference ?? null,
      attributes: tags.utm || tags.cmeta ? tags : null,
      created_by: createdBy,
      idempotency_key: idempotencyKey,
      body_digest: digest,
    });
  }

  /**
   * Creates the link that replaces a revealed one, or returns it if it exists. Its card is of the same pool,
   * denomination, currency and country; it inherits the client-defined fields and attributes of the original. With
   * `cancel_unrevealed`, it replaces a link that was not revealed, which it cancels first, so that the two links never
   * work at the same time.
   *
   * @throws checked in this order: the error codes of the body's fields, LINK_NOT_FOUND, LINK_NOT_REVEALED or
   * LINK_ALREADY_REVEALED, SCOPE_MISSING, EXPIRING_DATE_INVALID for a time out of range, POOL_NOT_FOUND, LIMIT_REACHED,
   * NO_AVAILABLE_CARDS
   */
  async replace(caller: Caller, id: string, createdBy: string, body: unknown): Promise<GeneratedLink> {
    const { reason, expires_at, cancel_unrevealed } = parseReplacement(body, this.env.MAX_LINK_DAYS);
    const [original]: Original[] = isUuid(id)
      ? await this.dataSource.query(SELECT_ORIGINAL, [id, caller.account])
      : [];
    if (!original) throw new ApiError('LINK_NOT_FOUND');
    const {
      is_revealed,
      is_replaced,
      has_pool,
      pool_id,
      denomination,
      currency,
      country,
      lifetime,
      ...inherited
    } = original;
    const expiry = expires_at ?? Math.min(nowSeconds() + lifetime, this.latestExpiry());
    if (!is_replaced) {
      // A recipient who opened a link that was reported lost must not get a second card.
      if (is_revealed === cancel_unrevealed)
        throw new ApiError(is_revealed ? 'LINK_ALREADY_REVEALED' : 'LINK_NOT_REVEALED');
      if (cancel_unrevealed) await this.cancelForReplacement(caller, id, expiry, has_pool);
    }
    return this.reserve(
      caller,
      pool_id,
      { denomination, currency, country, expires_at: expiry },
      {
        ...inherited,
        link: replacementId(original.replaces),
        created_by: createdBy,
        idempotency_key: original.replaces,
        body_digest: '',
        replacement_reason: reason,
      },
    );
  }

  /**
   * Refuses a replacement that can never succeed before it cancels the link. Limits and stock are checked after the
   * cancel, which gives back a card and room in the limits; if they refuse, the link stays cancelled.
   */
  private async cancelForReplacement(
    caller: Caller,
    id: string,
    expiry: number,
    hasPool: boolean,
  ): Promise<void> {
    if (caller.scopes?.includes('links:cancel') === false)
      throw new ApiError('SCOPE_MISSING', 'The key does not have the scope links:cancel.');
    if (expiry <= nowSeconds() || expiry > this.latestExpiry())
      throw expiryError(expiry, this.env.MAX_LINK_DAYS);
    if (!hasPool) throw new ApiError('POOL_NOT_FOUND');
    await this.issued.cancel(caller, id);
  }

  private async reserve(
    caller: Caller,
    poolId: string,
    fields: Card,
    given: Omit<ReservationRequest, keyof Card | 'account' | 'pool' | 'token_key' | 'key_id'>,
  ): Promise<GeneratedLink> {
    const { link, body_digest } = given;
    if (fields.expires_at > this.latestExpiry() && !(await this.exists(link)))
      throw expiryError(fields.expires_at, this.env.MAX_LINK_DAYS);
    const { current } = this.env.REWARD_TOKEN_KEYS;
    const decided = await this.reservations.decide({
      ...given,
      account: caller.account,
      pool: isUuid(poolId) ? poolId.toLowerCase() : null,
      denomination: fields.denomination,
      currency: fields.currency,
      country: fields.country ?? null,
      expires_at: fields.expires_at,
      token_key: current,
      key_id: caller.countedAs,
    });
    if (decided.outcome === 'RESERVED') return this.respond(link, current, false);
    if (decided.outcome === 'NO_AVAILABLE_CARDS') throw await this.noCardsError(caller, poolId, fields);
    if (decided.outcome === 'LIMIT_REACHED')
      throw new LimitReached(JSON.parse(decided.event) as ReachedLimit);
    if (decided.outcome === 'EXPIRING_DATE_INVALID')
      throw expiryError(fields.expires_at, this.env.MAX_LINK_DAYS);
    if (decided.outcome !== 'EXISTS') throw new ApiError(decided.outcome);
    // The digest is empty for a replacement and after an erasure; then any body matches.
    const isSame = decided.body_digest.length === 0 || decided.body_digest.toString('hex') === body_digest;
    if (!isSame) throw new ApiError('IDEMPOTENCY_KEY_CONFLICT');
    return this.respond(link, decided.token_key, true);
  }

  /** Returns the last `expires_at` that a new link may have. */
  private latestExpiry(): number {
    return nowSeconds() + this.env.MAX_LINK_DAYS * DAY_S;
  }

  private async exists(link: string): Promise<boolean> {
    const rows: unknown[] = await this.dataSource.query('select from reward_links where id = $1', [link]);
    return rows.length > 0;
  }

  /** Returns NO_AVAILABLE_CARDS. Its detail lists the pool's inventory entries if none of them matches the request. */
  private async noCardsError(
    { account }: Caller,
    poolId: string,
    { denomination, currency, country }: Card,
  ): Promise<ApiError> {
    const entries: Entry[] = await this.dataSource.query(SELECT_ENTRIES, [poolId, account]);
    const isKnown = entries.some(
      (entry) =>
        entry.denomination === denomination &&
        entry.currency === currency &&
        (country === undefined || entry.country === country),
    );
    const list = entries.slice(0, MAX_ENTRIES_SHOWN).map((entry) => Object.values(entry).join(' '));
    if (entries.length > list.length) list.push('and others');
    return new ApiError(
      'NO_AVAILABLE_CARDS',
      isKnown
        ? `No ${denomination} ${currency} card is available`
        : entries.length > 0
          ? `The pool has no such inventory entry. It has ${list.join(', ')}`
          : 'The pool has no cards',
    );
  }

  private respond(link: string, keyId: string, isReplay: boolean): GeneratedLink {
    const token = signRewardToken(this.env.REWARD_TOKEN_KEYS, link, keyId);
    if (token === undefined)
      throw new Error(`The key "${keyId}" of this link is missing in REWARD_TOKEN_KEYS`);
    return { id: link, reward_link: `${this.env.REWARDS_URL}/#${token}`, token, isReplay };
  }
}
