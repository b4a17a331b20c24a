import { Inject, Injectable } from '@nestjs/common';
import type { LanguagePreference, RewardLinkReply, RewardLinkState, RewardLinkView } from '@perkway/domain';
import { AccountDirectory } from '@perkway/directory';
import { ENV } from '@perkway/platform';
import { verifyRewardToken } from '@perkway/signing';
import { TrackingService } from '@perkway/tracking';
import { DataSource } from 'typeorm';
import { CardVault } from '../cards/card-vault.js';
import type { GiftCardsEnv } from '../env.js';
import type { Product } from '../pools/product.dto.js';
import { showProduct } from '../pools/product.js';
import { EXPIRES_AT, linkState } from './link-state.js';

interface LinkRow {
  id: string;
  state: RewardLinkState;
  cancelled: boolean;
  withdrawn: boolean;
  replaced: boolean;
  /** YYYY-MM-DD */
  valid_until: string | null;
  /** False once the card of the ended link has gone to another link or was withdrawn. */
  holds_card: boolean;
  account: string;
  expires_at: string;
  /** Unix seconds. */
  revealed_at: string | null;
  denomination: string;
  currency: string;
  country: string;
  card_id: string;
  sealed: Buffer;
  product: Product | null;
}

const selectLink = (locking: 'for share of l' | '') => `
  select
    ${linkState('clock_timestamp()')} as state,
    not l.released as holds_card, l.cancelled_at is not null as cancelled, l.recalled_by is not null as withdrawn,
    -- Skipped for a link that can still be revealed.
    (l.revealed_at is not null or l.expires_at <= clock_timestamp())
      and exists (select from reward_links r where r.replaces = l.id) as replaced,
    l.id, l.account, ${EXPIRES_AT} as expires_at, floor(extract(epoch from l.revealed_at))::bigint as revealed_at,
    i.denomination, i.currency, i.country,
    i.valid_until::text, l.card_id, c.sealed,
    p.product
  from reward_links l join inventories i on i.id = l.inventory_id join cards c on c.id = l.card_id
    join pools p on p.id = i.pool_id
  where l.id = $1 ${locking}`;

/**
 * Shows and reveals links to recipients (specification sections 3 and 4.4). The token of the link is the only
 * credential, and the database's clock decides about expiry.
 */
@Injectable()
export class RecipientsService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly vault: CardVault,
    private readonly accounts: AccountDirectory,
    private readonly tracking: TrackingService,
    @Inject(ENV) private readonly env: GiftCardsEnv,
  ) {}

  /** getRewardLink: returns the link and never changes anything. */
  async get(token: string, preference: LanguagePreference): Promise<RewardLinkReply> {
    const id = verifyRewardToken(this.env.REWARD_TOKEN_KEYS, token);
    const link = id && (await this.find(id));
    if (!link) return { error: 'LINK_NOT_FOUND' };
    return this.reply(link, this.view(link), preference);
  }

  /** revealRewardLink: reveals a link once; a revealed link returns the same card again. */
  async reveal(token: string, preference: LanguagePreference): Promise<RewardLinkReply> {
    const id = verifyRewardToken(this.env.REWARD_TOKEN_KEYS, token);
    let link = id && (await this.find(id));
    if (!link) return { error: 'LINK_NOT_FOUND' };
    if (link.state === 'RESERVED') {
      // Decrypt first: a card that cannot be decrypted must not be revealed.
      const revealed = this.view({ ...link, state: 'REVEALED' });
      if (await this.markRevealed(link.id)) return this.reply(link, revealed, preference);
      link = (await this.find(link.id)) ?? link;
    }
    if (link.state === 'EXPIRED')
      return { error: 'LINK_EXPIRED', brand: await this.accounts.brand(link.account) };
    return this.reply(link, this.view(link), preference);
  }

  /**
   * Reveals the link in one statement, so that a paused process holds no lock. Returns false if it was revealed before
   * or has expired.
   */
  private async markRevealed(id: string): Promise<boolean> {
    // After a rollback, the previous release's function returns a boolean; treated as false, so that the link is read
    // again.
    const [{ event }] = await this.dataSource.query<[{ event: string | boolean | null }]>(
      'select reveal_link($1) as event',
      [id],
    );
    if (typeof event !== 'string') return false;
    this.tracking.relaySoon([event]);
    return true;
  }

  private async find(id: string): Promise<LinkRow | undefined> {
    const [link] = await this.dataSource.query<LinkRow[]>(selectLink(''), [id]);
    if (link?.state !== 'EXPIRED' || !link.holds_card) return link;
    // A reveal that was in time may still be uncommitted. EXPIRED is final, so wait for its row lock before reporting
    // it.
    const [settled] = await this.dataSource.query<LinkRow[]>(selectLink('for share of l'), [id]);
    return settled;
  }

  private async reply(
    { account, product, revealed_at }: LinkRow,
    link: RewardLinkView,
    preference: LanguagePreference,
  ): Promise<RewardLinkReply> {
    const shown =
      product && showProduct(product, preference, this.env.DEFAULT_LANGUAGE, link.state === 'REVEALED');
    const brand = await this.accounts.brand(account);
    return {
      link,
      brand,
      product: shown?.product ?? null,
      language: shown?.language ?? null,
      ...(revealed_at !== null && { revealedAt: Number(revealed_at) }),
    };
  }

  private view(link: LinkRow): RewardLinkView {
    return {
      state: link.state,
      denomination: Number(link.denomination),
      currency: link.currency,
      country: link.country,
      expires_at: Number(link.expires_at),
      ...(link.state !== 'RESERVED' && { id: link.id }),
      ...(link.state === 'EXPIRED' && link.cancelled
        ? { cancelled: true, ...(link.withdrawn && { withdrawn: true }) }
        : {}),
      ...(link.state !== 'RESERVED' && link.replaced ? { replaced: true } : {}),
      ...(link.state === 'REVEALED'
        ? {
            card: {
              ...this.vault.open(link.sealed, link.card_id),
              ...(link.valid_until !== null && { valid_until: link.valid_until }),
            },
          }
        : {}),
    };
  }
}
