import { Module } from '@nestjs/common';
import { PerksModule } from '../perks/perks.module.js';
import { ReadingModule } from '../reading/reading.module.js';
import { AdminCouponCodesController } from './admin-coupon-codes.controller.js';
import { CouponCodesController } from './coupon-codes.controller.js';
import { CouponCodesService } from './coupon-codes.service.js';

@Module({
  imports: [PerksModule, ReadingModule],
  controllers: [CouponCodesController, AdminCouponCodesController],
  providers: [CouponCodesService],
})
export class CouponCodesModule {}
