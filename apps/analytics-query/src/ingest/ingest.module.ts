import { Module } from '@nestjs/common';
import { RollupRefresher } from '../upkeep/rollup-refresher.js';
import { UpkeepService } from '../upkeep/upkeep.service.js';
import { BatchWriter } from './batch-writer.js';
import { EventStore } from './event-store.js';
import { IngestMetrics } from './ingest-metrics.js';
import { IngestService } from './ingest.service.js';
import { Partitions } from './partitions.js';

/** The role `ingest`: stores events and keeps the store in order. */
@Module({
  providers: [
    Partitions,
    EventStore,
    BatchWriter,
    IngestMetrics,
    IngestService,
    RollupRefresher,
    UpkeepService,
  ],
})
export class IngestModule {}
