import { Module } from '@nestjs/common';
import { Partitions } from './partitions.js';

@Module({ providers: [Partitions], exports: [Partitions] })
export class PartitionsModule {}
