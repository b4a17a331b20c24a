import { Controller } from '@nestjs/common';
import { MessagePattern, Payload } from '@nestjs/microservices';
import { SUBJECTS, type RewardLinkReply, type RewardLinkRequest } from '@perkway/domain';
import { RecipientsService } from './recipients.service.js';

/** Asked by the Allocation Page over request/reply; no stream captures these subjects. */
@Controller()
export class RecipientsController {
  constructor(private readonly recipients: RecipientsService) {}

  @MessagePattern(SUBJECTS.getRewardLink)
  get(@Payload() { token }: RewardLinkRequest): Promise<RewardLinkReply> {
    return this.recipients.get(token);
  }

  @MessagePattern(SUBJECTS.revealRewardLink)
  reveal(@Payload() { token }: RewardLinkRequest): Promise<RewardLinkReply> {
    return this.recipients.reveal(token);
  }
}
