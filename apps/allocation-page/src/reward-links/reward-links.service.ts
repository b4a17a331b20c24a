import { Injectable } from '@nestjs/common';
import { DomainError, GET_REWARD_LINK, REVEAL_REWARD_LINK, type RewardLinkRequest } from '@perkway/domain';
import { RpcClient } from '@perkway/platform';
import type { RewardLink } from './reward-link.dto.js';

interface Localized {
  link: RewardLink;
  /** Of the texts of the product, if there are any. */
  language: string | null;
}

/** Asks the owner of the links. Both requests may be repeated: a second reveal answers the same card. */
@Injectable()
export class RewardLinksService {
  constructor(private readonly rpc: RpcClient) {}

  /** getRewardLink: never changes the link. @throws LINK_NOT_FOUND, DEPENDENCY_UNAVAILABLE */
  get(request: RewardLinkRequest): Promise<Localized> {
    return this.ask(GET_REWARD_LINK, request);
  }

  /** revealRewardLink. @throws LINK_NOT_FOUND, LINK_EXPIRED, DEPENDENCY_UNAVAILABLE */
  reveal(request: RewardLinkRequest): Promise<Localized> {
    return this.ask(REVEAL_REWARD_LINK, request);
  }

  private async ask(question: typeof GET_REWARD_LINK, request: RewardLinkRequest): Promise<Localized> {
    const reply = await this.rpc.ask(question, request);
    if (reply.error) throw new DomainError(reply.error);
    const { link, brand, product, language } = reply;
    return { language, link: { ...link, ...(brand && { brand }), ...(product && { product }) } };
  }
}
