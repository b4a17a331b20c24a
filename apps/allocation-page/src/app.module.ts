import { Module, type DynamicModule } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import type { AllocationPageEnv } from './env.js';
import { LinkTokenGuard } from './reward-links/link-token.guard.js';
import { RewardLinksModule } from './reward-links/reward-links.module.js';
import { SiteModule } from './site/site.module.js';

@Module({})
export class AppModule {
  /** @param assetsFolder where the build has put the bundled page */
  static register(env: AllocationPageEnv, assetsFolder: string): DynamicModule {
    return {
      module: AppModule,
      imports: [
        RewardLinksModule.register(env.UNKNOWN_LINKS_PER_MINUTE),
        SiteModule.register(assetsFolder, env.DEFAULT_LANGUAGE),
      ],
      providers: [{ provide: APP_GUARD, useClass: LinkTokenGuard }],
    };
  }
}
