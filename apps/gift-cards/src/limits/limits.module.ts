import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccountDirectoryModule } from '@perkway/directory';
import { AdminLimitsController } from './admin-limits.controller.js';
import { LimitEntity } from './limit.entity.js';
import { LimitsController } from './limits.controller.js';
import { NearlyUsedLimitsController } from './nearly-used-limits.controller.js';
import { LimitsService } from './limits.service.js';

@Module({
  imports: [AccountDirectoryModule, TypeOrmModule.forFeature([LimitEntity])],
  controllers: [LimitsController, AdminLimitsController, NearlyUsedLimitsController],
  providers: [LimitsService],
})
export class LimitsModule {}
