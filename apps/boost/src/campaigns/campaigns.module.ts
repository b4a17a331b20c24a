import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccountDirectoryModule, PerkDirectoryModule } from '@perkway/directory';
import { CampaignDirectoryModule } from './campaign-directory.module.js';
import { CampaignsController } from './campaigns.controller.js';
import { CampaignEntity } from './campaign.entity.js';
import { CampaignsService } from './campaigns.service.js';
import { OwnCampaignsController } from './own-campaigns.controller.js';
import { OwnCampaignsService } from './own-campaigns.service.js';

@Module({
  imports: [
    AccountDirectoryModule,
    CampaignDirectoryModule,
    PerkDirectoryModule,
    TypeOrmModule.forFeature([CampaignEntity]),
  ],
  controllers: [CampaignsController, OwnCampaignsController],
  providers: [CampaignsService, OwnCampaignsService],
})
export class CampaignsModule {}
