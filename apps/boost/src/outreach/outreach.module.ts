import { Module } from '@nestjs/common';
import { PerkDirectoryModule } from '@perkway/directory';
import { CampaignDirectoryModule } from '../campaigns/campaign-directory.module.js';
import { ClicksModule } from '../clicks/clicks.module.js';
import { CampaignViewsModule } from '../views/campaign-views.module.js';
import { OutreachController } from './outreach.controller.js';
import { PixelUrlsService } from './pixel-urls.service.js';
import { PixelsService } from './pixels.service.js';
import { RewardUrlsService } from './reward-urls.service.js';

@Module({
  imports: [CampaignDirectoryModule, ClicksModule, CampaignViewsModule, PerkDirectoryModule],
  controllers: [OutreachController],
  providers: [PixelUrlsService, PixelsService, RewardUrlsService],
})
export class OutreachModule {}
