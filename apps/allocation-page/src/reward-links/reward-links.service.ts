import { Injectable } from '@nestjs/common';
import { DomainError, GET_REWARD_LINK, REVEAL_REWARD_LINK } from '@perkway/domain';
import { RpcClient } from '@perkway/platform';
import type { RewardLink } from './reward-link.dto.js';

/** Asks the owner of the links. Both requests may be repeated: a second reveal answers the same card. */
@Injectable()
export class RewardLinksService {
  constructor(private readonly rpc: RpcClient) {}

  /** getRewardLink: never changes the link. @throws LINK_NOT_FOUND, DEPENDENCY_UNAVAILABLE */
  get(token: string): Promise<RewardLink> {
    return this.ask(GET_REWARD_LINK, token);
  }

  /** revealRewardLink. @throws LINK_NOT_FOUND, LINK_EXPIRED, DEPENDENCY_UNAVAILABLE */
  reveal(token: string): Promise<RewardLink> {
    return this.ask(REVEAL_REWARD_LINK, token);
  }

  private async ask(question: typeof GET_REWARD_LINK, token: string): Promise<RewardLink> {
    const reply = await this.rpc.ask(question, { token });
    if (reply.error) throw new DomainError(reply.error);
    return { ...reply.link, ...(reply.brand ? { brand: reply.brand } : {}) };
  }
}
