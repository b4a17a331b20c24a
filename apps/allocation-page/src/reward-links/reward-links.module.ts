import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { CREDENTIALS, ENV, GuessLimiter, SharedCounts } from '@perkway/platform';
import type { AllocationPageEnv } from '../env.js';
import { LinkTokenGuard, linkTokenCredentials } from './link-token.guard.js';
import { RewardLinksController } from './reward-links.controller.js';
import { RewardLinksService } from './reward-links.service.js';

@Module({
  controllers: [RewardLinksController],
  providers: [
    // Of the whole app: what is not public here needs the token of a link.
    { provide: APP_GUARD, useClass: LinkTokenGuard },
    { provide: CREDENTIALS, useValue: linkTokenCredentials },
    RewardLinksService,
    {
      provide: GuessLimiter,
      inject: [ENV, SharedCounts],
      useFactory: ({ UNKNOWN_LINKS_PER_MINUTE }: AllocationPageEnv, counts: SharedCounts) =>
        new GuessLimiter(UNKNOWN_LINKS_PER_MINUTE, 'links', counts),
    },
  ],
})
export class RewardLinksModule {}
