import { Module } from '@nestjs/common';
import { OffersModule } from '../offers/offers.module.js';
import { ClicksController } from './clicks.controller.js';
import { ClicksService } from './clicks.service.js';

@Module({ imports: [OffersModule], controllers: [ClicksController], providers: [ClicksService] })
export class ClicksModule {}
