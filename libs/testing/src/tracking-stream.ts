import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import {
  TRACKING_STREAM,
  TRACKING_SUBJECTS,
  type TrackingEvent,
  type TrackingMessage,
} from '@perkway/domain';
import type { LaunchedApp } from './launch-app.js';
import type { TestDatabase } from './test-database.js';
import { waitFor } from './wait-for.js';
import { connectTo } from './test-nats.js';

async function withBroker<T>(url: string, work: (connection: NatsConnection) => Promise<T>): Promise<T> {
  const connection = await connectTo(url);
  try {
    return await work(connection);
  } finally {
    await connection.close();
  }
}

/** Makes the stream as analytics-query does, as far as a publisher can notice; nobody consumes it. */
export const createTrackingStream = (natsUrl: string): Promise<void> =>
  withBroker(natsUrl, async (connection) => {
    const manager = await jetstreamManager(connection);
    await manager.streams.add({ name: TRACKING_STREAM, subjects: [TRACKING_SUBJECTS] });
  });

export const deleteTrackingStream = (natsUrl: string): Promise<void> =>
  withBroker(natsUrl, async (connection) => {
    await (await jetstreamManager(connection)).streams.delete(TRACKING_STREAM);
  });

/** Empties the stream. */
export const purgeTrackingStream = (natsUrl: string): Promise<void> =>
  withBroker(natsUrl, async (connection) => {
    await (await jetstreamManager(connection)).streams.purge(TRACKING_STREAM);
  });

/** The events of each message in the stream, in order. */
export const trackedMessages = (natsUrl: string): Promise<TrackingEvent[][]> =>
  withBroker(natsUrl, async (connection) => {
    const manager = await jetstreamManager(connection);
    const { state } = await manager.streams.info(TRACKING_STREAM);
    const messages: TrackingEvent[][] = [];
    for (let seq = state.first_seq; seq <= state.last_seq; seq += 1) {
      const message = await manager.streams.getMessage(TRACKING_STREAM, { seq });
      if (message) messages.push(message.json<TrackingMessage>().events);
    }
    return messages;
  });

/** What analytics would count: each (account, at, id) once, in order of arrival. */
export async function trackedEvents(natsUrl: string): Promise<TrackingEvent[]> {
  const counted = new Map<string, TrackingEvent>();
  for (const event of (await trackedMessages(natsUrl)).flat()) {
    const key = `${event.account}/${event.at}/${event.id}`;
    if (!counted.has(key)) counted.set(key, event);
  }
  return [...counted.values()];
}

/** Until an app has found the stream, its events take the way through the outbox. */
export const untilTracking = ({ logs }: Pick<LaunchedApp, 'logs'>): Promise<void> =>
  waitFor(() => logs.some((line) => line.includes('tracking stream takes events')), 'the tracking stream');

/** What waited for the broker in the outbox of an app is in the stream. */
export const untilRelayed = (database: Pick<TestDatabase, 'query'>): Promise<void> =>
  waitFor(
    async () => (await database.query('select 1 from tracking_outbox limit 1')).length === 0,
    'an empty outbox',
    15_000,
  );
