import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CatalogModule } from '../catalog/catalog.module.js';
import { AdminPerksController } from './admin-perks.controller.js';
import { PerkEntity } from './perk.entity.js';
import { PerksService } from './perks.service.js';
import { ResolvePerksController } from './resolve-perks.controller.js';
import { ResolvePerksService } from './resolve-perks.service.js';

@Module({
  imports: [CatalogModule, TypeOrmModule.forFeature([PerkEntity])],
  controllers: [AdminPerksController, ResolvePerksController],
  providers: [PerksService, ResolvePerksService],
})
export class PerksModule {}
