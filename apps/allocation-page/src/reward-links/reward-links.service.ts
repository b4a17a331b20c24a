import { Injectable } from '@nestjs/common';
import { ApiError, GET_REWARD_LINK, REVEAL_REWARD_LINK, type RewardLinkRequest } from '@perkway/domain';
import { RpcClient } from '@perkway/platform';
import type { RewardLink } from './reward-link.dto.js';

interface Localized {
  link: RewardLink;
  /** Language of the product's texts, if there are any. */
  language: string | null;
  /** Unix seconds; only if the link was revealed before this request. */
  revealedAt?: number;
}

/** Calls gift-cards, which owns the links. Both requests can be retried: a second reveal returns the same card. */
@Injectable()
export class RewardLinksService {
  constructor(private readonly rpc: RpcClient) {}

  /** getRewardLink: never changes the link. @throws LINK_NOT_FOUND, DEPENDENCY_UNAVAILABLE */
  get(request: RewardLinkRequest): Promise<Localized> {
    return this.request(GET_REWARD_LINK, request);
  }

  /** revealRewardLink. @throws LINK_NOT_FOUND, LINK_EXPIRED, DEPENDENCY_UNAVAILABLE */
  reveal(request: RewardLinkRequest): Promise<Localized> {
    return this.request(REVEAL_REWARD_LINK, request);
  }

  private async request(contract: typeof GET_REWARD_LINK, request: RewardLinkRequest): Promise<Localized> {
    const reply = await this.rpc.request(contract, request);
    if (reply.error) throw new ApiError(reply.error);
    const { link, brand, product, language, revealedAt } = reply;
    return { language, revealedAt, link: { ...link, ...(brand && { brand }), ...(product && { product }) } };
  }
}
