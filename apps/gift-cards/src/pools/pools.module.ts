import { Module } from '@nestjs/common';
import { AdminPoolsController } from './admin-pools.controller.js';
import { PoolsController } from './pools.controller.js';
import { PoolsService } from './pools.service.js';

@Module({ controllers: [PoolsController, AdminPoolsController], providers: [PoolsService] })
export class PoolsModule {}
