import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CatalogModule } from '../catalog/catalog.module.js';
import { PerkEntity } from '../perks/perk.entity.js';
import { AdminCouponCodesController } from './admin-coupon-codes.controller.js';
import { CouponCodesController } from './coupon-codes.controller.js';
import { CouponCodesService } from './coupon-codes.service.js';
import { LowCodesController } from './low-codes.controller.js';

@Module({
  imports: [CatalogModule, TypeOrmModule.forFeature([PerkEntity])],
  controllers: [CouponCodesController, AdminCouponCodesController, LowCodesController],
  providers: [CouponCodesService],
})
export class CouponCodesModule {}
