import { Global, Module, type DynamicModule } from '@nestjs/common';
import { AuthModule } from '@perkway/auth';
import { DatabaseModule } from '@perkway/platform';
import { TrackingModule } from '@perkway/tracking';
import { CampaignsModule } from './campaigns/campaigns.module.js';
import { BOOST_ENV, type BoostEnv } from './env.js';
import { JourneyModule } from './journey/journey.module.js';
import { OutreachModule } from './outreach/outreach.module.js';

@Global()
@Module({})
export class AppModule {
  static register(env: BoostEnv): DynamicModule {
    return {
      module: AppModule,
      imports: [
        DatabaseModule.register(env, { app: 'boost' }),
        AuthModule.register({ env }),
        TrackingModule.register({ app: 'boost' }),
        CampaignsModule,
        OutreachModule,
        JourneyModule,
      ],
      providers: [{ provide: BOOST_ENV, useValue: env }],
      exports: [BOOST_ENV],
    };
  }
}
