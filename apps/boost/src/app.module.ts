import { Module } from '@nestjs/common';
import { AdminLogModule, AuthModule } from '@perkway/auth';
import { DatabaseModule } from '@perkway/platform';
import { TrackingModule } from '@perkway/tracking';
import { CampaignsModule } from './campaigns/campaigns.module.js';
import { ErasuresModule } from './erasures/erasures.module.js';
import { JourneyModule } from './journey/journey.module.js';
import { OutreachModule } from './outreach/outreach.module.js';

@Module({
  imports: [
    DatabaseModule,
    AuthModule,
    AdminLogModule.forHost('boost'),
    TrackingModule,
    CampaignsModule,
    OutreachModule,
    JourneyModule,
    ErasuresModule,
  ],
})
export class AppModule {}
