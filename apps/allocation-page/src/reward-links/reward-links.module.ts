import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { LinkTokenGuard } from './link-token.guard.js';
import { RewardLinksController } from './reward-links.controller.js';
import { RewardLinksService } from './reward-links.service.js';
import { UnknownTokenLimiter } from './unknown-token-limiter.js';

@Module({
  controllers: [RewardLinksController],
  providers: [
    // Of the whole app: what is not public here needs the token of a link.
    { provide: APP_GUARD, useClass: LinkTokenGuard },
    RewardLinksService,
    UnknownTokenLimiter,
  ],
})
export class RewardLinksModule {}
