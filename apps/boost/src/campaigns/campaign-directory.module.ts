import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CampaignDirectory } from './campaign-directory.js';
import { CampaignEntity } from './campaign.entity.js';

/** What the management of campaigns, the outreach and the journey share. */
@Module({
  imports: [TypeOrmModule.forFeature([CampaignEntity])],
  providers: [CampaignDirectory],
  exports: [CampaignDirectory],
})
export class CampaignDirectoryModule {}
