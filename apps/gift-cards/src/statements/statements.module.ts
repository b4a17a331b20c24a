import { Module } from '@nestjs/common';
import { MonthCloser } from './month-closer.js';
import { StatementsController } from './statements.controller.js';
import { StatementsService } from './statements.service.js';

@Module({ controllers: [StatementsController], providers: [MonthCloser, StatementsService] })
export class StatementsModule {}
