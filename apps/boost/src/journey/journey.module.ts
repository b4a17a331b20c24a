import { Module } from '@nestjs/common';
import { CampaignsModule } from '../campaigns/campaigns.module.js';
import { ClicksModule } from '../clicks/clicks.module.js';
import { PerksModule } from '../perks/perks.module.js';
import { JourneyController } from './journey.controller.js';
import { JourneyService } from './journey.service.js';
import { OriginsService } from './origins.service.js';

@Module({
  imports: [CampaignsModule, ClicksModule, PerksModule],
  controllers: [JourneyController],
  providers: [JourneyService, OriginsService],
})
export class JourneyModule {}
