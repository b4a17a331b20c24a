import { Module } from '@nestjs/common';
import { CatalogModule } from '../catalog/catalog.module.js';
import { PerkCollectionsController } from './perk-collections.controller.js';
import { PerkCollectionsService } from './perk-collections.service.js';

@Module({
  imports: [CatalogModule],
  controllers: [PerkCollectionsController],
  providers: [PerkCollectionsService],
  exports: [PerkCollectionsService],
})
export class PerkCollectionsModule {}
