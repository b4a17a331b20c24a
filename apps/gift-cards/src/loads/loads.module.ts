import { Module } from '@nestjs/common';
import { LoadsController } from './loads.controller.js';
import { LoadsService } from './loads.service.js';

@Module({ controllers: [LoadsController], providers: [LoadsService] })
export class LoadsModule {}
