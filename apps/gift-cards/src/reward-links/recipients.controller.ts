import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import {
  GET_REWARD_LINK,
  REVEAL_REWARD_LINK,
  type LanguageWish,
  type RewardLinkReply,
  type RewardLinkRequest,
} from '@perkway/domain';
import { Answers } from '@perkway/platform';
import { RecipientsService } from './recipients.service.js';

/** What is no text leads nowhere, like any unknown token. */
const tokenOf = (request: RewardLinkRequest | undefined): string =>
  typeof request?.token === 'string' ? request.token : '';

const wishOf = ({ lang, acceptLanguage }: Partial<RewardLinkRequest> = {}): LanguageWish => ({
  lang: typeof lang === 'string' ? lang : undefined,
  acceptLanguage: typeof acceptLanguage === 'string' ? acceptLanguage : undefined,
});

/** Asked by the Allocation Page over request/reply; no stream captures these subjects. */
@Controller()
export class RecipientsController {
  constructor(private readonly recipients: RecipientsService) {}

  @Answers(GET_REWARD_LINK)
  get(@Payload() request: RewardLinkRequest): Promise<RewardLinkReply> {
    return this.recipients.get(tokenOf(request), wishOf(request));
  }

  @Answers(REVEAL_REWARD_LINK)
  reveal(@Payload() request: RewardLinkRequest): Promise<RewardLinkReply> {
    return this.recipients.reveal(tokenOf(request), wishOf(request));
  }
}
