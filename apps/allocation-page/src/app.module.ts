import { Module } from '@nestjs/common';
import { RewardLinksModule } from './reward-links/reward-links.module.js';
import { SiteModule } from './site/site.module.js';

@Module({ imports: [RewardLinksModule, SiteModule] })
export class AppModule {}
