import { Module } from '@nestjs/common';
import { PerkCollectionsController } from './perk-collections.controller.js';
import { PerkCollectionsService } from './perk-collections.service.js';

@Module({
  controllers: [PerkCollectionsController],
  providers: [PerkCollectionsService],
  exports: [PerkCollectionsService],
})
export class PerkCollectionsModule {}
