import { Module } from '@nestjs/common';
import { ErasuresController } from './erasures.controller.js';
import { PersonsController } from './persons.controller.js';
import { PersonsService } from './persons.service.js';

@Module({ controllers: [ErasuresController, PersonsController], providers: [PersonsService] })
export class ErasuresModule {}
