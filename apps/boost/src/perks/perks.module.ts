import { Module } from '@nestjs/common';
import { PerksService } from './perks.service.js';

@Module({ providers: [PerksService], exports: [PerksService] })
export class PerksModule {}
