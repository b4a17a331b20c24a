import { Module } from '@nestjs/common';
import { PerksModule } from '../perks/perks.module.js';
import { CollectionReadsModule } from '../collection-reads/collection-reads.module.js';
import { AdminCouponCodesController } from './admin-coupon-codes.controller.js';
import { CouponCodesController } from './coupon-codes.controller.js';
import { CouponCodesService } from './coupon-codes.service.js';

@Module({
  imports: [PerksModule, CollectionReadsModule],
  controllers: [CouponCodesController, AdminCouponCodesController],
  providers: [CouponCodesService],
})
export class CouponCodesModule {}
