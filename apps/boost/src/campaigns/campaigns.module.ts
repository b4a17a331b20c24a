import { Module } from '@nestjs/common';
import { AccountDirectoryModule, PerkDirectoryModule } from '@perkway/directory';
import { CampaignsController } from './campaigns.controller.js';
import { CampaignsService } from './campaigns.service.js';

@Module({
  imports: [AccountDirectoryModule, PerkDirectoryModule],
  controllers: [CampaignsController],
  providers: [CampaignsService],
  exports: [CampaignsService],
})
export class CampaignsModule {}
