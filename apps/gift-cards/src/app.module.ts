import { Module, type DynamicModule } from '@nestjs/common';
import { AuthModule } from '@perkway/auth';
import { DatabaseModule } from '@perkway/platform';
import { TrackingModule } from '@perkway/tracking';
import { CardsModule } from './cards/cards.module.js';
import type { GiftCardsEnv } from './env.js';
import { LoadsModule } from './loads/loads.module.js';
import { PoolsModule } from './pools/pools.module.js';
import { RewardLinksModule } from './reward-links/reward-links.module.js';

@Module({})
export class AppModule {
  static register(env: GiftCardsEnv): DynamicModule {
    return {
      module: AppModule,
      imports: [
        DatabaseModule.register(env, { app: 'gift-cards' }),
        TrackingModule.register({ app: 'gift-cards' }),
        AuthModule.register({ env }),
        CardsModule.register(env),
        PoolsModule,
        LoadsModule,
        RewardLinksModule.register(env),
      ],
    };
  }
}
