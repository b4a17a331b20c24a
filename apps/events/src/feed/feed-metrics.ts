import { Injectable } from '@nestjs/common';
import { Counter, Gauge, Registry } from 'prom-client';

@Injectable()
export class FeedMetrics {
  readonly dead: Counter;
  readonly lag: Gauge;
  readonly lagAge: Gauge;

  constructor(registry: Registry) {
    const registers = [registry];
    this.dead = new Counter({
      name: 'feed_events_dead_total',
      help: 'Events that the feed cannot store and that went to the stream TRACKING_DEAD',
      registers,
    });
    this.lag = new Gauge({
      name: 'feed_lag_messages',
      help: 'Messages of the stream that are not in the feed yet',
      registers,
    });
    this.lagAge = new Gauge({
      name: 'feed_lag_seconds',
      help: 'Age of the oldest message that the feed is storing, 0 if none waits',
      registers,
    });
  }
}
