import { Module } from '@nestjs/common';
import { AccountDirectoryModule } from '@perkway/directory';
import { AdminPoolsController } from './admin-pools.controller.js';
import { PoolsController } from './pools.controller.js';
import { PoolsService } from './pools.service.js';

@Module({
  imports: [AccountDirectoryModule],
  controllers: [PoolsController, AdminPoolsController],
  providers: [PoolsService],
})
export class PoolsModule {}
