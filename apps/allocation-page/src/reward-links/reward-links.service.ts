import { Injectable } from '@nestjs/common';
import { DomainError, SUBJECTS, type RewardLinkReply, type RewardLinkRequest } from '@perkway/domain';
import { RpcClient } from '@perkway/platform';
import type { RewardLink } from './reward-link.dto.js';

/** Asks the owner of the links. Both requests may be repeated: a second reveal answers the same card. */
@Injectable()
export class RewardLinksService {
  constructor(private readonly rpc: RpcClient) {}

  /** getRewardLink: never changes the link. @throws LINK_NOT_FOUND, DEPENDENCY_UNAVAILABLE */
  get(token: string): Promise<RewardLink> {
    return this.ask(SUBJECTS.getRewardLink, token);
  }

  /** revealRewardLink. @throws LINK_NOT_FOUND, LINK_EXPIRED, DEPENDENCY_UNAVAILABLE */
  reveal(token: string): Promise<RewardLink> {
    return this.ask(SUBJECTS.revealRewardLink, token);
  }

  private async ask(subject: string, token: string): Promise<RewardLink> {
    const request: RewardLinkRequest = { token };
    const reply = await this.rpc.request<RewardLinkReply>(subject, request, 'The gift-card service');
    if (reply.error) throw new DomainError(reply.error);
    return { ...reply.link, ...(reply.brand ? { brand: reply.brand } : {}) };
  }
}
