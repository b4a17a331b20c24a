import { Inject, Injectable } from '@nestjs/common';
import {
  TRACKING_EVENT_VERSION,
  type RewardLinkEvent,
  type RewardLinkReply,
  type RewardLinkState,
  type RewardLinkView,
} from '@perkway/domain';
import { AccountDirectory } from '@perkway/directory';
import { ENV } from '@perkway/platform';
import { verifyRewardToken } from '@perkway/signing';
import { newEventId, TrackingService } from '@perkway/tracking';
import { DataSource } from 'typeorm';
import { CardVault } from '../cards/card-vault.js';
import type { GiftCardsEnv } from '../env.js';

interface LinkRow {
  id: string;
  state: RewardLinkState;
  /** The link has expired, but its card has not gone to another one yet. */
  holds_card: boolean;
  account: string;
  created_by: string;
  expires_at: string;
  pool: string;
  denomination: string;
  currency: string;
  country: string;
  card_id: string;
  sealed: Buffer;
}

const selectLink = (locking: 'for share of l' | '') => `
  select
    case
      when l.revealed_at is not null then 'REVEALED'
      when l.released or l.expires_at <= clock_timestamp() then 'EXPIRED'
      else 'RESERVED'
    end as state,
    not l.released as holds_card,
    l.id, l.account, l.created_by, extract(epoch from l.expires_at)::bigint as expires_at,
    i.pool_id as pool, i.denomination, i.currency, i.country, l.card_id, c.sealed
  from reward_links l join inventories i on i.id = l.inventory_id join cards c on c.id = l.card_id
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
  async get(token: string): Promise<RewardLinkReply> {
    const id = verifyRewardToken(this.env.REWARD_TOKEN_KEYS, token);
    const link = id && (await this.find(id));
    if (!link) return { error: 'LINK_NOT_FOUND' };
    return { link: this.view(link), brand: await this.accounts.brand(link.account) };
  }

  /** revealRewardLink: reveals a link once; a revealed one answers the same card again. */
  async reveal(token: string): Promise<RewardLinkReply> {
    const id = verifyRewardToken(this.env.REWARD_TOKEN_KEYS, token);
    let link = id && (await this.find(id));
    if (!link) return { error: 'LINK_NOT_FOUND' };
    if (link.state === 'RESERVED') {
      // Before it is revealed: a card that cannot be shown is not.
      const revealed = this.view({ ...link, state: 'REVEALED' });
      if (await this.turn(link)) return { link: revealed, brand: await this.accounts.brand(link.account) };
      link = (await this.find(link.id)) ?? link;
    }
    const brand = await this.accounts.brand(link.account);
    return link.state === 'EXPIRED' ? { error: 'LINK_EXPIRED', brand } : { link: this.view(link), brand };
  }

  /** One statement, so that nobody waits for a process that was paused in the middle. False if it was revealed or has expired. */
  private async turn(link: LinkRow): Promise<boolean> {
    const [{ revealed }]: [{ revealed: boolean }] = await this.dataSource.query(
      'select reveal_link($1, $2) as revealed',
      [link.id, JSON.stringify(toEvent(link))],
    );
    if (revealed) this.tracking.relaySoon();
    return revealed;
  }

  private async find(id: string): Promise<LinkRow | undefined> {
    const [link]: LinkRow[] = await this.dataSource.query(selectLink(''), [id]);
    if (link?.state !== 'EXPIRED' || !link.holds_card) return link;
    // A reveal that was in time may not have committed yet. EXPIRED is final, so it is not said before that is over.
    const [settled]: LinkRow[] = await this.dataSource.query(selectLink('for share of l'), [id]);
    return settled;
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

const toEvent = (link: LinkRow): RewardLinkEvent => ({
  v: TRACKING_EVENT_VERSION,
  id: newEventId(),
  account: link.account,
  at: Date.now(),
  type: 'reward_link',
  state: 'revealed',
  pool: link.pool,
  denomination: Number(link.denomination),
  currency: link.currency,
  createdBy: link.created_by,
});
