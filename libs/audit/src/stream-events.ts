import {
  jetstream,
  jetstreamManager,
  DeliverPolicy,
  JetStreamApiError,
  type Consumer,
} from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { isRecord, TRACKING_DEAD_STREAM, TRACKING_STREAM, type TrackingEvent } from '@perkway/domain';

interface StreamedEvent {
  event: TrackingEvent;
  /** When the broker stored the message, in epoch milliseconds. */
  takenAt: number;
}

const MAX_FAILURES = 2;
const MESSAGES_PER_BATCH = 500;
/** Reading ends after this long without a message, because ingest may have removed the last messages meanwhile. */
const TIMEOUT_MS = 5_000;

const isMissing = (error: unknown): boolean => error instanceof JetStreamApiError && error.status === 404;

/** Returns the events of a message. An invalid message will be dead-lettered, so it is ignored. */
function eventsIn(data: Uint8Array): TrackingEvent[] {
  try {
    const body: unknown = JSON.parse(Buffer.from(data).toString());
    if (!isRecord(body)) return [];
    const events = Array.isArray(body.events) ? body.events : [];
    return events.filter((event) => isRecord(event) && typeof event.id === 'string') as TrackingEvent[];
  } catch {
    return [];
  }
}

/**
 * Iterates over all events of a stream, oldest first, without affecting its consumers. A missing stream has no events.
 */
async function* events(connection: NatsConnection, stream: string): AsyncGenerator<StreamedEvent> {
  const manager = await jetstreamManager(connection);
  const info = await manager.streams.info(stream).catch((error: unknown) => {
    if (!isMissing(error)) throw error;
  });
  if (!info || info.state.messages === 0) return;
  const { first_seq: first, last_seq: last } = info.state;
  let consumer: Consumer | undefined;
  let failures = 0;
  let next = first;
  for (let isThere = true; isThere;) {
    isThere = false;
    try {
      consumer ??= await jetstream(connection).consumers.get(stream, {
        deliver_policy: DeliverPolicy.StartSequence,
        opt_start_seq: next,
      });
      for await (const message of await consumer.fetch({
        max_messages: MESSAGES_PER_BATCH,
        expires: TIMEOUT_MS,
      })) {
        isThere = true;
        const takenAt = message.info.timestampNanos / 1e6;
        for (const event of eventsIn(message.data)) yield { event, takenAt };
        next = message.seq + 1;
        if (message.seq >= last || message.info.pending === 0) return;
      }
    } catch (error) {
      // The broker loses the consumer together with the server that holds it.
      if ((failures += 1) > MAX_FAILURES) throw error;
      consumer = undefined;
      isThere = true;
    }
  }
}

/** Events still in the stream. */
export const trackedEvents = (connection: NatsConnection): AsyncGenerator<StreamedEvent> =>
  events(connection, TRACKING_STREAM);

/** Dead-lettered events. */
export const deadEvents = (connection: NatsConnection): AsyncGenerator<StreamedEvent> =>
  events(connection, TRACKING_DEAD_STREAM);
