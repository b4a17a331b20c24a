import { Module } from '@nestjs/common';
import { AdminLogModule, AuthModule } from '@perkway/auth';
import { DatabaseModule } from '@perkway/platform';
import { TrackingModule } from '@perkway/tracking';
import { ErasuresModule } from './erasures/erasures.module.js';
import { LimitsModule } from './limits/limits.module.js';
import { LoadsModule } from './loads/loads.module.js';
import { PoolsModule } from './pools/pools.module.js';
import { RewardLinksModule } from './reward-links/reward-links.module.js';
import { StatementsModule } from './statements/statements.module.js';
import { WithdrawalsModule } from './withdrawals/withdrawals.module.js';

@Module({
  imports: [
    DatabaseModule,
    // Must come before RewardLinksModule, whose guard runs after authentication.
    AuthModule,
    AdminLogModule.forHost('gift'),
    TrackingModule,
    PoolsModule,
    LoadsModule,
    LimitsModule,
    RewardLinksModule,
    StatementsModule,
    WithdrawalsModule,
    ErasuresModule,
  ],
})
export class AppModule {}
