import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import {
  TRACKING_STREAM,
  TRACKING_SUBJECTS,
  type TrackingEvent,
  type TrackingMessage,
} from '@perkway/domain';
import { http } from './http.js';
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

/** Creates the stream with the name and subjects that analytics-query uses, but without a consumer. */
export const createTrackingStream = (natsUrl: string): Promise<void> =>
  withBroker(natsUrl, async (connection) => {
    const manager = await jetstreamManager(connection);
    await manager.streams.add({ name: TRACKING_STREAM, subjects: [TRACKING_SUBJECTS] });
  });

export const deleteTrackingStream = (natsUrl: string): Promise<void> =>
  withBroker(natsUrl, async (connection) => {
    await (await jetstreamManager(connection)).streams.delete(TRACKING_STREAM);
  });

/**
 * Deletes all messages of the stream. First waits until the app's outbox is empty, because the relay could publish an
 * event again after the purge.
 */
export async function purgeTrackingStream(
  natsUrl: string,
  database: Pick<TestDatabase, 'query'>,
): Promise<void> {
  await untilRelayed(database);
  await withBroker(natsUrl, async (connection) => {
    await (await jetstreamManager(connection)).streams.purge(TRACKING_STREAM);
  });
}

/** Returns the events of each message in the stream, in order. */
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

/** Returns what analytics would count: each (account, at, id) once, in order of arrival. */
export async function trackedEvents(natsUrl: string): Promise<TrackingEvent[]> {
  const counted = new Map<string, TrackingEvent>();
  for (const event of (await trackedMessages(natsUrl)).flat()) {
    const key = `${event.account}/${event.at}/${event.id}`;
    if (!counted.has(key)) counted.set(key, event);
  }
  return [...counted.values()];
}

/** Waits until an app publishes directly to the stream instead of through the outbox. */
export const untilTracking = (app: Pick<LaunchedApp, 'url'>): Promise<void> =>
  waitFor(
    async () => /^tracking_breaker_open\{.*\} 0$/m.test((await http(app).get('/metrics')).text),
    'the tracking stream',
  );

/** Waits until the relay has published everything in an app's outbox. */
export const untilRelayed = (database: Pick<TestDatabase, 'query'>): Promise<void> =>
  waitFor(
    async () => (await database.query('select 1 from tracking_outbox limit 1')).length === 0,
    'an empty outbox',
  );
