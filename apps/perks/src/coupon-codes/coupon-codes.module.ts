import { Module } from '@nestjs/common';
import { PerksModule } from '../perks/perks.module.js';
import { PerkCollectionsModule } from '../perk-collections/perk-collections.module.js';
import { AdminCouponCodesController } from './admin-coupon-codes.controller.js';
import { CouponCodesController } from './coupon-codes.controller.js';
import { CouponCodesService } from './coupon-codes.service.js';

@Module({
  imports: [PerksModule, PerkCollectionsModule],
  controllers: [CouponCodesController, AdminCouponCodesController],
  providers: [CouponCodesService],
})
export class CouponCodesModule {}
