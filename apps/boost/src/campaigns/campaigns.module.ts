import { Module } from '@nestjs/common';
import { PerksService } from '../perks/perks.service.js';
import { CampaignsController } from './campaigns.controller.js';
import { CampaignsService } from './campaigns.service.js';

@Module({
  controllers: [CampaignsController],
  providers: [CampaignsService, PerksService],
  exports: [CampaignsService, PerksService],
})
export class CampaignsModule {}
