import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccountDirectoryModule } from '@perkway/directory';
import { CatalogModule } from '../catalog/catalog.module.js';
import { CollectionEntity } from './collection.entity.js';
import { CollectionManagementController } from './collection-management.controller.js';
import { CollectionManagementService } from './collection-management.service.js';

@Module({
  imports: [AccountDirectoryModule, CatalogModule, TypeOrmModule.forFeature([CollectionEntity])],
  controllers: [CollectionManagementController],
  providers: [CollectionManagementService],
})
export class CollectionManagementModule {}
