import { Module, type DynamicModule } from '@nestjs/common';
import { RewardLinksController } from './reward-links.controller.js';
import { RewardLinksService } from './reward-links.service.js';
import { UNKNOWN_LINKS_PER_MINUTE, UnknownTokenLimiter } from './unknown-token-limiter.js';

@Module({})
export class RewardLinksModule {
  static register(unknownLinksPerMinute: number): DynamicModule {
    return {
      module: RewardLinksModule,
      controllers: [RewardLinksController],
      providers: [
        RewardLinksService,
        UnknownTokenLimiter,
        { provide: UNKNOWN_LINKS_PER_MINUTE, useValue: unknownLinksPerMinute },
      ],
    };
  }
}
