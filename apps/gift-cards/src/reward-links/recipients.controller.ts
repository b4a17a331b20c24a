import { Controller } from '@nestjs/common';
import { MessagePattern, Payload } from '@nestjs/microservices';
import { SUBJECTS, type RewardLinkReply, type RewardLinkRequest } from '@perkway/domain';
import { RecipientsService } from './recipients.service.js';

/** What is no text leads nowhere, like any unknown token. */
const tokenOf = (request: RewardLinkRequest | undefined): string =>
  typeof request?.token === 'string' ? request.token : '';

/** Asked by the Allocation Page over request/reply; no stream captures these subjects. */
@Controller()
export class RecipientsController {
  constructor(private readonly recipients: RecipientsService) {}

  @MessagePattern(SUBJECTS.getRewardLink)
  get(@Payload() request: RewardLinkRequest): Promise<RewardLinkReply> {
    return this.recipients.get(tokenOf(request));
  }

  @MessagePattern(SUBJECTS.revealRewardLink)
  reveal(@Payload() request: RewardLinkRequest): Promise<RewardLinkReply> {
    return this.recipients.reveal(tokenOf(request));
  }
}
