import { Module } from '@nestjs/common';
import { CampaignViewsService } from './campaign-views.service.js';

@Module({ providers: [CampaignViewsService], exports: [CampaignViewsService] })
export class CampaignViewsModule {}
