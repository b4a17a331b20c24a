import { Module } from '@nestjs/common';
import { AdminPerksController } from './admin-perks.controller.js';
import { PerksService } from './perks.service.js';
import { ResolvePerksController } from './resolve-perks.controller.js';

@Module({
  controllers: [AdminPerksController, ResolvePerksController],
  providers: [PerksService],
  exports: [PerksService],
})
export class PerksModule {}
