import { Module } from '@nestjs/common';
import { PartitionsModule } from '../partitions/partitions.module.js';
import { RollupRefresher } from './rollup-refresher.js';
import { UpkeepService } from './upkeep.service.js';

/** Keeps the store in order; part of the role `ingest`. */
@Module({ imports: [PartitionsModule], providers: [RollupRefresher, UpkeepService] })
export class UpkeepModule {}
