import { Injectable } from '@nestjs/common';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

@Injectable()
export class IngestMetrics {
  readonly stored: Counter;
  readonly duplicates: Counter;
  readonly expired: Counter;
  readonly dead: Counter;
  readonly delayed: Counter;
  readonly lag: Gauge;
  readonly lagAge: Gauge;
  readonly batches: Histogram;

  constructor(registry: Registry) {
    const registers = [registry];
    this.stored = new Counter({ name: 'tracking_events_stored_total', help: 'Events stored', registers });
    this.duplicates = new Counter({
      name: 'tracking_events_duplicate_total',
      help: 'Events already stored, and conversions whose external id was already counted',
      registers,
    });
    this.expired = new Counter({
      name: 'tracking_events_expired_total',
      help: 'Events not stored because their month is no longer kept (RETENTION_MONTHS)',
      registers,
    });
    this.dead = new Counter({
      name: 'tracking_events_dead_total',
      help: 'Events that cannot be stored and were dead-lettered to TRACKING_DEAD',
      registers,
    });
    this.delayed = new Counter({
      name: 'tracking_messages_delayed_total',
      help: 'Messages postponed because they hold an event of an unknown version',
      registers,
    });
    this.lag = new Gauge({
      name: 'tracking_lag_messages',
      help: 'Messages of the stream that are not stored yet',
      registers,
    });
    this.lagAge = new Gauge({
      name: 'tracking_lag_seconds',
      help: 'Age of the oldest message of the stream that is not stored yet',
      registers,
    });
    this.batches = new Histogram({
      name: 'tracking_batch_seconds',
      help: 'Time to store a batch',
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    });
  }
}
