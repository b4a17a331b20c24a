import { Module } from '@nestjs/common';
import { ErasuresModule } from '../erasures/erasures.module.js';
import { PartitionsModule } from '../partitions/partitions.module.js';
import { BatchWriter } from './batch-writer.js';
import { EventStore } from './event-store.js';
import { IngestMetrics } from './ingest-metrics.js';
import { IngestService } from './ingest.service.js';

/** Stores events; part of the role `ingest`. */
@Module({
  imports: [PartitionsModule, ErasuresModule],
  providers: [EventStore, BatchWriter, IngestMetrics, IngestService],
})
export class IngestModule {}
