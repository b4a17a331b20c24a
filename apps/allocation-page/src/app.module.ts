import { Module, type DynamicModule } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import type { AllocationPageEnv } from './env.js';
import { LinkTokenGuard } from './reward-links/link-token.guard.js';
import { RewardLinksModule } from './reward-links/reward-links.module.js';
import { SiteController } from './site/site.controller.js';
import { SiteService } from './site/site.service.js';

@Module({})
export class AppModule {
  static register(env: AllocationPageEnv, site: SiteService): DynamicModule {
    return {
      module: AppModule,
      imports: [RewardLinksModule.register(env.UNKNOWN_LINKS_PER_MINUTE)],
      controllers: [SiteController],
      providers: [
        { provide: SiteService, useValue: site },
        { provide: APP_GUARD, useClass: LinkTokenGuard },
      ],
    };
  }
}
