import { jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import {
  TRACKING_STREAM,
  TRACKING_SUBJECTS,
  type TrackingEvent,
  type TrackingMessage,
} from '@perkway/domain';

/** The stream as analytics-query makes it, as far as a publisher can notice. */
export async function withBroker<T>(
  url: string,
  work: (connection: NatsConnection) => Promise<T>,
): Promise<T> {
  const connection = await connect({ servers: url, timeout: 5_000 });
  try {
    return await work(connection);
  } finally {
    await connection.close();
  }
}

export const createStream = (url: string) =>
  withBroker(url, async (connection) => {
    const manager = await jetstreamManager(connection);
    await manager.streams.add({ name: TRACKING_STREAM, subjects: [TRACKING_SUBJECTS] });
  });

export const deleteStream = (url: string) =>
  withBroker(url, async (connection) => {
    await (await jetstreamManager(connection)).streams.delete(TRACKING_STREAM);
  });

/** Everything in the stream, message by message. */
export const readStream = (url: string): Promise<TrackingEvent[][]> =>
  withBroker(url, async (connection) => {
    const manager = await jetstreamManager(connection);
    const { state } = await manager.streams.info(TRACKING_STREAM);
    const messages: TrackingEvent[][] = [];
    for (let seq = state.first_seq; seq <= state.last_seq; seq += 1) {
      const message = await manager.streams.getMessage(TRACKING_STREAM, { seq });
      if (message) messages.push(message.json<TrackingMessage>().events);
    }
    return messages;
  });

export const readEvents = async (url: string): Promise<TrackingEvent[]> => (await readStream(url)).flat();
