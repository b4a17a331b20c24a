import { headers } from '@nats-io/transport-node';
import { Inject, Injectable } from '@nestjs/common';
import { TRACKING_DEAD_SUBJECT, type Erasure, type TrackingEvent } from '@perkway/domain';
import { isDatabaseAway, LOGGER, NatsService } from '@perkway/platform';
import { hash } from 'node:crypto';
import type { Logger } from 'pino';
import { EventStore } from './event-store.js';
import { IngestMetrics } from './ingest-metrics.js';
import { Partitions } from '../partitions/partitions.js';
import type { RejectedEvent } from './read-message.js';

/** Data exceptions, broken constraints, entries too large for an index: the event is at fault, not the server. */
const EVENTS_FAULT = /^(22|23|54)/;
const CHECK_VIOLATION = '23514';

interface DriverError {
  code?: string;
  message?: string;
  driverError?: DriverError;
}
const codeOf = (error: unknown): string => {
  const { code, driverError } = (error ?? {}) as DriverError;
  return driverError?.code ?? code ?? '';
};

const isEventsFault = (error: unknown): boolean => !isDatabaseAway(error) && EVENTS_FAULT.test(codeOf(error));
const isPartitionMissing = (error: unknown): boolean =>
  codeOf(error) === CHECK_VIOLATION && /no partition/.test((error as Error).message);

/** Stores events; what cannot be stored is found by halving the batch and goes to the dead-letter stream. */
@Injectable()
export class BatchWriter {
  constructor(
    @Inject(EventStore) private readonly store: EventStore,
    @Inject(Partitions) private readonly partitions: Partitions,
    @Inject(NatsService) private readonly nats: NatsService,
    @Inject(IngestMetrics) private readonly metrics: IngestMetrics,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * @returns the erasures that some of the events were late for
   * @throws while the database or the broker is away; then the whole batch can be written again
   */
  async write(events: TrackingEvent[]): Promise<Erasure[]> {
    if (events.length === 0) return [];
    try {
      const { stored, duplicates, expired, rejected, erasures } = await this.store.store(events);
      this.metrics.stored.inc(stored);
      this.metrics.duplicates.inc(duplicates);
      this.metrics.expired.inc(expired);
      for (const each of rejected) erasures.push(...(await this.bury(each)));
      return erasures;
    } catch (error) {
      if (isPartitionMissing(error)) {
        this.partitions.forget();
        throw error;
      }
      if (!isEventsFault(error)) throw error;
      if (events.length === 1) {
        return await this.bury({
          content: { event: events[0] },
          reason: `the database refuses it: ${codeOf(error)}`,
        });
      }
      const middle = events.length >> 1;
      return [...(await this.write(events.slice(0, middle))), ...(await this.write(events.slice(middle)))];
    }
  }

  /**
   * Puts an event that can never be stored aside, as a message that could be published again, or a message that holds none
   * byte by byte. Resolves when the dead-letter stream has it.
   * @returns the erasures that it was late for
   */
  async bury({ content: given, reason }: RejectedEvent): Promise<Erasure[]> {
    const { jetstream } = this.nats;
    if (!jetstream) throw new Error('NATS is away');
    const { content, erasures } = await this.store.withoutErased(given);
    const body = 'message' in content ? content.message : JSON.stringify({ events: [content.event] });
    const named = headers();
    named.set('Perkway-Reason', reason);
    // The same message may come again before it is acknowledged.
    await jetstream.publish(TRACKING_DEAD_SUBJECT, body, {
      headers: named,
      msgID: hash('sha256', body, 'hex'),
    });
    this.metrics.dead.inc();
    this.logger.error({ reason }, 'a tracking event cannot be stored');
    return erasures;
  }
}
