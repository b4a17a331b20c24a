import { Module } from '@nestjs/common';
import { CampaignsModule } from '../campaigns/campaigns.module.js';
import { OutreachModule } from '../outreach/outreach.module.js';
import { JourneyController } from './journey.controller.js';
import { JourneyService } from './journey.service.js';
import { OriginsService } from './origins.service.js';

@Module({
  imports: [CampaignsModule, OutreachModule],
  controllers: [JourneyController],
  providers: [JourneyService, OriginsService],
})
export class JourneyModule {}
