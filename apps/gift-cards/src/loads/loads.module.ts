import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { HealthModule } from '@perkway/platform';
import { CardsModule } from '../cards/cards.module.js';
import { PoolEntity } from '../pools/pool.entity.js';
import { LoadsController } from './loads.controller.js';
import { LoadsService } from './loads.service.js';

@Module({
  imports: [CardsModule, HealthModule, TypeOrmModule.forFeature([PoolEntity])],
  controllers: [LoadsController],
  providers: [LoadsService],
})
export class LoadsModule {}
