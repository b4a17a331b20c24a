import { Module } from '@nestjs/common';
import { OperatorsHomeController } from './operators-home.controller.js';

@Module({ controllers: [OperatorsHomeController] })
export class OperatorsHomeModule {}
