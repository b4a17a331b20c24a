import { Controller, Inject } from '@nestjs/common';
import { MessagePattern, Payload } from '@nestjs/microservices';
import { isCallerId, SUBJECTS, type ResolvePerksReply, type ResolvePerksRequest } from '@perkway/domain';
import { ENV } from '@perkway/platform';
import type { PerksEnv } from '../env.js';
import { PerksService } from './perks.service.js';

/** Answers the other apps over NATS. */
@Controller()
export class ResolvePerksController {
  constructor(
    private readonly perks: PerksService,
    @Inject(ENV) private readonly env: PerksEnv,
  ) {}

  @MessagePattern(SUBJECTS.resolvePerks)
  async resolve(@Payload() request: ResolvePerksRequest): Promise<ResolvePerksReply> {
    return { perks: await this.perks.resolve(request.ids.filter(isCallerId), this.env.DEFAULT_LANGUAGE) };
  }
}
