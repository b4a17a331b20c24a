import { Inject, Injectable } from '@nestjs/common';
import type { LanguageWish, RewardLinkReply, RewardLinkState, RewardLinkView } from '@perkway/domain';
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
  /** The link has expired, but its card has not gone to another one yet. */
  holds_card: boolean;
  account: string;
  expires_at: string;
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
    not l.released as holds_card,
    l.id, l.account, ${EXPIRES_AT} as expires_at, i.denomination, i.currency, i.country, l.card_id, c.sealed,
    p.product
  from reward_links l join inventories i on i.id = l.inventory_id join cards c on c.id = l.card_id
    join pools p on p.id = i.pool_id
  where l.id = $1 ${locking}`;

/**
 * What recipients do (specification sections 3 and 4.4). The token of the link is the only credential. The clock is
 * that of the database.
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

  /** getRewardLink: never changes anything. */
  async get(token: string, wish: LanguageWish): Promise<RewardLinkReply> {
    const id = verifyRewardToken(this.env.REWARD_TOKEN_KEYS, token);
    const link = id && (await this.find(id));
    if (!link) return { error: 'LINK_NOT_FOUND' };
    return this.reply(link, this.view(link), wish);
  }

  /** revealRewardLink: reveals a link once; a revealed one answers the same card again. */
  async reveal(token: string, wish: LanguageWish): Promise<RewardLinkReply> {
    const id = verifyRewardToken(this.env.REWARD_TOKEN_KEYS, token);
    let link = id && (await this.find(id));
    if (!link) return { error: 'LINK_NOT_FOUND' };
    if (link.state === 'RESERVED') {
      // Before it is revealed: a card that cannot be shown is not.
      const revealed = this.view({ ...link, state: 'REVEALED' });
      if (await this.turn(link.id)) return this.reply(link, revealed, wish);
      link = (await this.find(link.id)) ?? link;
    }
    if (link.state === 'EXPIRED')
      return { error: 'LINK_EXPIRED', brand: await this.accounts.brand(link.account) };
    return this.reply(link, this.view(link), wish);
  }

  /** One statement, so that nobody waits for a process that was paused in the middle. False if it was revealed or has expired. */
  private async turn(id: string): Promise<boolean> {
    // That of an earlier release, which is there again when one goes back to it, answers a boolean; then the link is looked at.
    const [{ event }]: [{ event: string | boolean | null }] = await this.dataSource.query(
      'select reveal_link($1) as event',
      [id],
    );
    if (typeof event !== 'string') return false;
    this.tracking.relaySoon([event]);
    return true;
  }

  private async find(id: string): Promise<LinkRow | undefined> {
    const [link]: LinkRow[] = await this.dataSource.query(selectLink(''), [id]);
    if (link?.state !== 'EXPIRED' || !link.holds_card) return link;
    // A reveal that was in time may not have committed yet. EXPIRED is final, so it is not said before that is over.
    const [settled]: LinkRow[] = await this.dataSource.query(selectLink('for share of l'), [id]);
    return settled;
  }

  private async reply(
    { account, product }: LinkRow,
    link: RewardLinkView,
    wish: LanguageWish,
  ): Promise<RewardLinkReply> {
    const shown = product && showProduct(product, wish, this.env.DEFAULT_LANGUAGE, link.state === 'REVEALED');
    const brand = await this.accounts.brand(account);
    return { link, brand, product: shown?.product ?? null, language: shown?.language ?? null };
  }

  private view(link: LinkRow): RewardLinkView {
    return {
      state: link.state,
      denomination: Number(link.denomination),
      currency: link.currency,
      country: link.country,
      expires_at: Number(link.expires_at),
      ...(link.state === 'REVEALED' ? { card: this.vault.open(link.sealed, link.card_id) } : {}),
    };
  }
}
