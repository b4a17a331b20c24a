import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CampaignDirectory } from './campaign-directory.js';
import { CampaignEntity } from './campaign.entity.js';

/** Shared by campaign management, outreach and the journey. */
@Module({
  imports: [TypeOrmModule.forFeature([CampaignEntity])],
  providers: [CampaignDirectory],
  exports: [CampaignDirectory],
})
export class CampaignDirectoryModule {}
