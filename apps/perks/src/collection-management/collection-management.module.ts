import { Module } from '@nestjs/common';
import { AccountDirectoryModule } from '@perkway/directory';
import { CatalogModule } from '../catalog/catalog.module.js';
import { CollectionManagementController } from './collection-management.controller.js';
import { CollectionManagementService } from './collection-management.service.js';

@Module({
  imports: [AccountDirectoryModule, CatalogModule],
  controllers: [CollectionManagementController],
  providers: [CollectionManagementService],
})
export class CollectionManagementModule {}
