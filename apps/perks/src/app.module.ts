import { Module } from '@nestjs/common';
import { AdminLogModule, AuthModule } from '@perkway/auth';
import { DatabaseModule } from '@perkway/platform';
import { TrackingModule } from '@perkway/tracking';
import { CategoriesModule } from './categories/categories.module.js';
import { CouponCodesModule } from './coupon-codes/coupon-codes.module.js';
import { CollectionManagementModule } from './collection-management/collection-management.module.js';
import { CollectionReadsModule } from './collection-reads/collection-reads.module.js';
import { ErasuresModule } from './erasures/erasures.module.js';
import { PerksModule } from './perks/perks.module.js';

@Module({
  imports: [
    DatabaseModule,
    AuthModule,
    AdminLogModule.forHost('perks'),
    TrackingModule,
    CategoriesModule,
    PerksModule,
    CollectionManagementModule,
    CollectionReadsModule,
    CouponCodesModule,
    ErasuresModule,
  ],
})
export class AppModule {}
