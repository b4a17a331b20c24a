import { Module } from '@nestjs/common';
import { PartitionsModule } from '../partitions/partitions.module.js';
import { RollupRefresher } from './rollup-refresher.js';
import { MaintenanceService } from './maintenance.service.js';

/** Maintains the event store; part of the role `ingest`. */
@Module({ imports: [PartitionsModule], providers: [RollupRefresher, MaintenanceService] })
export class MaintenanceModule {}
