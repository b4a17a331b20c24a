import { Module } from '@nestjs/common';
import { BatchWriter } from './batch-writer.js';
import { EventStore } from './event-store.js';
import { IngestMetrics } from './ingest-metrics.js';
import { IngestService } from './ingest.service.js';

/** The role `ingest`. */
@Module({ providers: [EventStore, BatchWriter, IngestMetrics, IngestService] })
export class IngestModule {}
