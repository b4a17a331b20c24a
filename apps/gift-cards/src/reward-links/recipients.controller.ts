import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import {
  GET_REWARD_LINK,
  REVEAL_REWARD_LINK,
  type RewardLinkReply,
  type RewardLinkRequest,
} from '@perkway/domain';
import { Answers } from '@perkway/platform';
import { RecipientsService } from './recipients.service.js';

/** What is no text leads nowhere, like any unknown token. */
const tokenOf = (request: RewardLinkRequest | undefined): string =>
  typeof request?.token === 'string' ? request.token : '';

/** Asked by the Allocation Page over request/reply; no stream captures these subjects. */
@Controller()
export class RecipientsController {
  constructor(private readonly recipients: RecipientsService) {}

  @Answers(GET_REWARD_LINK)
  get(@Payload() request: RewardLinkRequest): Promise<RewardLinkReply> {
    return this.recipients.get(tokenOf(request));
  }

  @Answers(REVEAL_REWARD_LINK)
  reveal(@Payload() request: RewardLinkRequest): Promise<RewardLinkReply> {
    return this.recipients.reveal(tokenOf(request));
  }
}
