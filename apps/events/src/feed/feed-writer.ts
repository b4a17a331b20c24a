import { Injectable } from '@nestjs/common';
import { subjectOf, type TrackingEvent } from '@perkway/domain';
import { isRowRefused, NatsService, sqlStateOf } from '@perkway/platform';
import { publishDeadLetter } from '@perkway/tracking/dead-letter';
import { FeedMetrics } from './feed-metrics.js';
import { FeedStore } from './feed-store.js';

/** Stores events; what the database refuses is found by halving the batch and goes to the dead-letter stream. */
@Injectable()
export class FeedWriter {
  constructor(
    private readonly store: FeedStore,
    private readonly nats: NatsService,
    private readonly metrics: FeedMetrics,
  ) {}

  /** @throws while the database or the broker is unavailable; then the whole batch can be written again */
  async write(events: readonly TrackingEvent[]): Promise<void> {
    try {
      await this.store.append(events);
    } catch (error) {
      if (!isRowRefused(error)) throw error;
      if (events.length === 1) return this.deadLetter(events[0]!, sqlStateOf(error));
      const middle = events.length >> 1;
      await this.write(events.slice(0, middle));
      await this.write(events.slice(middle));
    }
  }

  private async deadLetter(event: TrackingEvent, sqlState: string) {
    await publishDeadLetter(this.nats, {
      content: { event: await this.store.withoutErased(event) },
      reason: `rejected by the database of the feed: ${sqlState}`,
      source: subjectOf(event.type),
    });
    this.metrics.dead.inc();
  }
}
