import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccountDirectoryModule } from '@perkway/directory';
import { AdminPoolsController } from './admin-pools.controller.js';
import { StockController } from './stock.controller.js';
import { PoolEntity } from './pool.entity.js';
import { PoolsController } from './pools.controller.js';
import { PoolManagementService } from './pool-management.service.js';
import { PoolsService } from './pools.service.js';

@Module({
  imports: [AccountDirectoryModule, TypeOrmModule.forFeature([PoolEntity])],
  controllers: [PoolsController, AdminPoolsController, StockController],
  providers: [PoolsService, PoolManagementService],
})
export class PoolsModule {}
