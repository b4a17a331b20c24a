import { Module } from '@nestjs/common';
import { CardsModule } from '../cards/cards.module.js';
import { LoadsController } from './loads.controller.js';
import { LoadsService } from './loads.service.js';

@Module({ imports: [CardsModule], controllers: [LoadsController], providers: [LoadsService] })
export class LoadsModule {}
