import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AdminPoolsController } from './admin-pools.controller.js';
import { PoolEntity } from './pool.entity.js';
import { PoolsController } from './pools.controller.js';
import { PoolsService } from './pools.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([PoolEntity])],
  controllers: [PoolsController, AdminPoolsController],
  providers: [PoolsService],
})
export class PoolsModule {}
