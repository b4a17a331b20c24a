import { jetstream, jetstreamManager, DeliverPolicy, JetStreamApiError } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { isRecord, TRACKING_DEAD_STREAM, TRACKING_STREAM, type TrackingEvent } from '@perkway/domain';

interface StreamedEvent {
  event: TrackingEvent;
  /** When the broker took its message; epoch milliseconds. */
  takenAt: number;
}

const MESSAGES_AT_ONCE = 500;
/** Without a message for so long there is none left: what is stored may make room meanwhile. */
const PATIENCE_MS = 5_000;

const isMissing = (error: unknown): boolean => error instanceof JetStreamApiError && error.status === 404;

/** The events of a body that somebody wrote; what cannot be read is a dead letter, and not for us. */
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

/** All that a stream has now, oldest first; nothing where there is no such stream. Its consumers notice nothing. */
async function* events(connection: NatsConnection, stream: string): AsyncGenerator<StreamedEvent> {
  const manager = await jetstreamManager(connection);
  const info = await manager.streams.info(stream).catch((error: unknown) => {
    if (!isMissing(error)) throw error;
  });
  if (!info || info.state.messages === 0) return;
  const last = info.state.last_seq;
  const consumer = await jetstream(connection).consumers.get(stream, { deliver_policy: DeliverPolicy.All });
  for (let isThere = true; isThere;) {
    isThere = false;
    for await (const message of await consumer.fetch({
      max_messages: MESSAGES_AT_ONCE,
      expires: PATIENCE_MS,
    })) {
      isThere = true;
      const takenAt = message.info.timestampNanos / 1e6;
      for (const event of eventsIn(message.data)) yield { event, takenAt };
      if (message.seq >= last || message.info.pending === 0) return;
    }
  }
}

/** All that was tracked and is kept. */
export const trackedEvents = (connection: NatsConnection): AsyncGenerator<StreamedEvent> =>
  events(connection, TRACKING_STREAM);

/** What was put aside because it cannot be stored. */
export const deadEvents = (connection: NatsConnection): AsyncGenerator<StreamedEvent> =>
  events(connection, TRACKING_DEAD_STREAM);
