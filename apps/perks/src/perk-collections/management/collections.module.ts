import { Module } from '@nestjs/common';
import { CatalogModule } from '../../catalog/catalog.module.js';
import { AdminCollectionsController } from './admin-collections.controller.js';
import { CollectionsService } from './collections.service.js';

@Module({
  imports: [CatalogModule],
  controllers: [AdminCollectionsController],
  providers: [CollectionsService],
})
export class CollectionsModule {}
