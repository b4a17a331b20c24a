import { Module } from '@nestjs/common';
import { AccountDirectoryModule, PerkDirectoryModule } from '@perkway/directory';
import { CampaignDirectoryModule } from '../campaigns/campaign-directory.module.js';
import { ClicksModule } from '../clicks/clicks.module.js';
import { CampaignViewsModule } from '../views/campaign-views.module.js';
import { JourneyController } from './journey.controller.js';
import { JourneyService } from './journey.service.js';

@Module({
  imports: [
    AccountDirectoryModule,
    CampaignDirectoryModule,
    CampaignViewsModule,
    ClicksModule,
    PerkDirectoryModule,
  ],
  controllers: [JourneyController],
  providers: [JourneyService],
})
export class JourneyModule {}
