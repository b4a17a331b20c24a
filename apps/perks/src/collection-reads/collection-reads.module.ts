import { Module } from '@nestjs/common';
import { CatalogModule } from '../catalog/catalog.module.js';
import { CollectionReadsController } from './collection-reads.controller.js';
import { CollectionReadsService } from './collection-reads.service.js';
import { ViewsService } from './views.service.js';

@Module({
  imports: [CatalogModule],
  controllers: [CollectionReadsController],
  providers: [CollectionReadsService, ViewsService],
})
export class CollectionReadsModule {}
