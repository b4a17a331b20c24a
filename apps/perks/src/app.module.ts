import { Module } from '@nestjs/common';
import { AuthModule } from '@perkway/auth';
import { DatabaseModule } from '@perkway/platform';
import { TrackingModule } from '@perkway/tracking';
import { CategoriesModule } from './categories/categories.module.js';
import { CouponCodesModule } from './coupon-codes/coupon-codes.module.js';
import { CollectionsModule } from './perk-collections/management/collections.module.js';
import { PerkCollectionsModule } from './perk-collections/perk-collections.module.js';
import { PerksModule } from './perks/perks.module.js';

@Module({
  imports: [
    DatabaseModule,
    AuthModule,
    TrackingModule,
    CategoriesModule,
    PerksModule,
    CollectionsModule,
    PerkCollectionsModule,
    CouponCodesModule,
  ],
})
export class AppModule {}
