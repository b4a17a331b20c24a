import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CatalogModule } from '../catalog/catalog.module.js';
import { CollectionEntity } from './collection.entity.js';
import { CollectionManagementController } from './collection-management.controller.js';
import { CollectionManagementService } from './collection-management.service.js';

@Module({
  imports: [CatalogModule, TypeOrmModule.forFeature([CollectionEntity])],
  controllers: [CollectionManagementController],
  providers: [CollectionManagementService],
})
export class CollectionManagementModule {}
