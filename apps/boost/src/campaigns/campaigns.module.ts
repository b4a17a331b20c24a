import { Module } from '@nestjs/common';
import { AccountDirectoryModule, PerkDirectoryModule } from '@perkway/directory';
import { CampaignDirectoryModule } from './campaign-directory.module.js';
import { CampaignsController } from './campaigns.controller.js';
import { CampaignsService } from './campaigns.service.js';

@Module({
  imports: [AccountDirectoryModule, CampaignDirectoryModule, PerkDirectoryModule],
  controllers: [CampaignsController],
  providers: [CampaignsService],
})
export class CampaignsModule {}
