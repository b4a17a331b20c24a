import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import {
  GET_REWARD_LINK,
  REVEAL_REWARD_LINK,
  type LanguagePreference,
  type RewardLinkReply,
  type RewardLinkRequest,
} from '@perkway/domain';
import { RpcHandler } from '@perkway/platform';
import { RecipientsService } from './recipients.service.js';

/** A token that is not a string is treated like an unknown one. */
const tokenOf = (request: RewardLinkRequest | undefined): string =>
  typeof request?.token === 'string' ? request.token : '';

const preferenceOf = ({ lang, acceptLanguage }: Partial<RewardLinkRequest> = {}): LanguagePreference => ({
  lang: typeof lang === 'string' ? lang : undefined,
  acceptLanguage: typeof acceptLanguage === 'string' ? acceptLanguage : undefined,
});

/** Serves the Allocation Page over request/reply. No stream captures these subjects. */
@Controller()
export class RecipientsController {
  constructor(private readonly recipients: RecipientsService) {}

  @RpcHandler(GET_REWARD_LINK)
  get(@Payload() request: RewardLinkRequest): Promise<RewardLinkReply> {
    return this.recipients.get(tokenOf(request), preferenceOf(request));
  }

  @RpcHandler(REVEAL_REWARD_LINK)
  reveal(@Payload() request: RewardLinkRequest): Promise<RewardLinkReply> {
    return this.recipients.reveal(tokenOf(request), preferenceOf(request));
  }
}
