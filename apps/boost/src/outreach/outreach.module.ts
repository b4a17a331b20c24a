import { Module } from '@nestjs/common';
import { CampaignsModule } from '../campaigns/campaigns.module.js';
import { ClicksService } from '../clicks/clicks.service.js';
import { OutreachController } from './outreach.controller.js';
import { PixelsService } from './pixels.service.js';
import { RewardUrlsService } from './reward-urls.service.js';

@Module({
  imports: [CampaignsModule],
  controllers: [OutreachController],
  providers: [ClicksService, PixelsService, RewardUrlsService],
  exports: [ClicksService],
})
export class OutreachModule {}
