import { Inject, Injectable } from '@nestjs/common';
import { subjectOf, type Erasure, type TrackingEvent } from '@perkway/domain';
import { isRowRefused, LOGGER, NatsService, sqlStateOf } from '@perkway/platform';
import { publishDeadLetter } from '@perkway/tracking/dead-letter';
import type { Logger } from 'pino';
import { EventStore } from './event-store.js';
import { IngestMetrics } from './ingest-metrics.js';
import { Partitions } from '../partitions/partitions.js';
import type { RejectedEvent } from '@perkway/tracking/read-message';

const CHECK_VIOLATION = '23514';

const isPartitionMissing = (error: unknown): boolean =>
  sqlStateOf(error) === CHECK_VIOLATION && /no partition/.test((error as Error).message);

/** Stores events. Halves a failed batch until it finds the events that cannot be stored, and dead-letters those. */
@Injectable()
export class BatchWriter {
  constructor(
    private readonly store: EventStore,
    private readonly partitions: Partitions,
    private readonly nats: NatsService,
    private readonly metrics: IngestMetrics,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * @returns the erasures of persons that were still in some of the events
   * @throws if the database or the broker is down, or a partition was missing; the batch can then be written again
   */
  async write(events: TrackingEvent[]): Promise<Erasure[]> {
    if (events.length === 0) return [];
    try {
      const { stored, duplicates, expired, rejected, erasures } = await this.store.store(events);
      this.metrics.stored.inc(stored);
      this.metrics.duplicates.inc(duplicates);
      this.metrics.expired.inc(expired);
      for (const each of rejected) erasures.push(...(await this.deadLetter(each)));
      return erasures;
    } catch (error) {
      if (isPartitionMissing(error)) {
        this.partitions.forget();
        throw error;
      }
      if (!isRowRefused(error)) throw error;
      if (events.length === 1) {
        return await this.deadLetter({
          content: { event: events[0] },
          reason: `rejected by the database: ${sqlStateOf(error)}`,
          source: subjectOf(events[0]!.type),
        });
      }
      const middle = events.length >> 1;
      return [...(await this.write(events.slice(0, middle))), ...(await this.write(events.slice(middle)))];
    }
  }

  /**
   * Dead-letters an event that can never be stored, as a message that can be published again; a message without a
   * readable event is kept byte for byte. Resolves when the dead-letter stream has it.
   * @returns the erasures of persons that were still in it
   */
  async deadLetter({ content: given, reason, source }: RejectedEvent): Promise<Erasure[]> {
    const { content, erasures } = await this.store.withoutErased(given);
    await publishDeadLetter(this.nats, { content, reason, source });
    this.metrics.dead.inc();
    this.logger.error({ reason }, 'dead-lettered a tracking event that cannot be stored');
    return erasures;
  }
}
