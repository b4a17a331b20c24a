import { Injectable } from '@nestjs/common';
import { subjectOf, type TrackingEvent } from '@perkway/domain';
import { isRowRefused, NatsService, sqlStateOf } from '@perkway/platform';
import { publishDeadLetter } from '@perkway/tracking/dead-letter';
import { FeedMetrics } from './feed-metrics.js';
import { FeedStore, type NewRow } from './feed-store.js';

/** Stores events. Halves a failed batch until it finds the events that the database rejects, and dead-letters those. */
@Injectable()
export class FeedWriter {
  constructor(
    private readonly store: FeedStore,
    private readonly nats: NatsService,
    private readonly metrics: FeedMetrics,
  ) {}

  /** @throws while the database or the broker is unavailable; then the whole batch can be written again */
  async write(rows: readonly NewRow[]): Promise<void> {
    try {
      await this.store.append(rows);
    } catch (error) {
      if (!isRowRefused(error)) throw error;
      if (rows.length === 1) return this.deadLetter(rows[0]!.source, sqlStateOf(error));
      const middle = rows.length >> 1;
      await this.write(rows.slice(0, middle));
      await this.write(rows.slice(middle));
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
