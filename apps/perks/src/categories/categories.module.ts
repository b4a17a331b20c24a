import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CatalogModule } from '../catalog/catalog.module.js';
import { AdminCategoriesController } from './admin-categories.controller.js';
import { CategoriesService } from './categories.service.js';
import { CategoryEntity } from './category.entity.js';

@Module({
  imports: [CatalogModule, TypeOrmModule.forFeature([CategoryEntity])],
  controllers: [AdminCategoriesController],
  providers: [CategoriesService],
})
export class CategoriesModule {}
