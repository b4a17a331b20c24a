import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { CREDENTIALS, ENV, FailedAttemptLimiter, ReplicaCounts } from '@perkway/platform';
import type { AllocationPageEnv } from '../env.js';
import { LinkTokenGuard, linkTokenCredentials } from './link-token.guard.js';
import { RewardLinksController } from './reward-links.controller.js';
import { RewardLinksService } from './reward-links.service.js';

@Module({
  controllers: [RewardLinksController],
  providers: [
    // Applies to the whole app: every handler that is not public needs a link token.
    { provide: APP_GUARD, useClass: LinkTokenGuard },
    { provide: CREDENTIALS, useValue: linkTokenCredentials },
    RewardLinksService,
    {
      provide: FailedAttemptLimiter,
      inject: [ENV, ReplicaCounts],
      useFactory: ({ UNKNOWN_LINKS_PER_MINUTE }: AllocationPageEnv, counts: ReplicaCounts) =>
        new FailedAttemptLimiter(UNKNOWN_LINKS_PER_MINUTE, 'links', counts),
    },
  ],
})
export class RewardLinksModule {}
