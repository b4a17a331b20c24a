import { Module } from '@nestjs/common';
import { CatalogModule } from '../catalog/catalog.module.js';
import { CollectionReadsController } from './collection-reads.controller.js';
import { CollectionReadsService } from './collection-reads.service.js';

@Module({
  imports: [CatalogModule],
  controllers: [CollectionReadsController],
  providers: [CollectionReadsService],
  exports: [CollectionReadsService],
})
export class CollectionReadsModule {}
