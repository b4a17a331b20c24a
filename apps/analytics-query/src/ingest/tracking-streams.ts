import {
  AckPolicy,
  DeliverPolicy,
  DiscardPolicy,
  JetStreamApiError,
  RetentionPolicy,
  StorageType,
  type ConsumerConfig,
  type JetStreamManager,
  type StreamConfig,
} from '@nats-io/jetstream';
import {
  FEED_CONSUMER,
  FORMER_TRACKING_STREAM,
  TRACKING_CONSUMER,
  TRACKING_DEAD_STREAM,
  TRACKING_DEAD_SUBJECTS,
  TRACKING_STREAM,
  TRACKING_SUBJECTS,
} from '@perkway/domain';

/** A message that is not acknowledged for this long is redelivered. Longer work extends the timeout. */
export const ACK_WAIT_MS = 10_000;

/**
 * Increment with every change of the settings here. It is part of the description of streams and consumer; a replica of
 * an older build does not change those of a newer one.
 */
const SETTINGS = 2;
const DESCRIPTION = `Perkway, settings ${SETTINGS}`;
const isNewer = (description = ''): boolean => Number(/ (\d+)$/.exec(description)?.[1] ?? 0) > SETTINGS;

const nanos = (ms: number): number => ms * 1_000_000;

export interface StreamSettings {
  /** Of each message, in a cluster of brokers. */
  replicas: number;
  /** -1 for no limit. */
  maxBytes: number;
  /** How long events are kept, stored or not. */
  maxAgeMs: number;
}

/** Keeps events for days, even after they are stored, so that a restored database can replay what it lacks. */
const trackingStream = ({ replicas, maxBytes, maxAgeMs }: StreamSettings): Partial<StreamConfig> => ({
  description: DESCRIPTION,
  subjects: [TRACKING_SUBJECTS],
  retention: RetentionPolicy.Limits,
  storage: StorageType.File,
  discard: DiscardPolicy.New,
  max_age: nanos(maxAgeMs),
  max_bytes: maxBytes,
  num_replicas: replicas,
});

/** Keeps messages that cannot be stored, for manual inspection. */
const deadStream = ({ replicas }: StreamSettings): Partial<StreamConfig> => ({
  description: DESCRIPTION,
  subjects: [TRACKING_DEAD_SUBJECTS],
  retention: RetentionPolicy.Limits,
  storage: StorageType.File,
  discard: DiscardPolicy.New,
  max_age: 0,
  num_replicas: replicas,
});

const consumer: Partial<ConsumerConfig> = {
  description: DESCRIPTION,
  ack_policy: AckPolicy.Explicit,
  ack_wait: nanos(ACK_WAIT_MS),
  deliver_policy: DeliverPolicy.All,
  max_deliver: -1,
  max_ack_pending: 10_000,
};

const NOT_FOUND = 404;
const isMissing = (error: unknown): boolean =>
  error instanceof JetStreamApiError && error.status === NOT_FOUND;

async function ensureStream(
  manager: JetStreamManager,
  name: string,
  config: Partial<StreamConfig>,
  mayUpdate: boolean,
) {
  try {
    const { config: present } = await manager.streams.info(name);
    if (!mayUpdate || isNewer(present.description)) return;
    const isSame = Object.entries(config).every(
      ([key, value]) => JSON.stringify(present[key as keyof StreamConfig]) === JSON.stringify(value),
    );
    if (!isSame) await manager.streams.update(name, config);
  } catch (error) {
    if (!isMissing(error)) throw error;
    await manager.streams.add({ ...config, name });
  }
}

/** A subject on which no app publishes. */
const NO_SUBJECT = 'tracking-before.>';

/**
 * Takes the subjects away from the work queue of earlier releases, so that the current stream can have them. Ingest
 * still reads the messages that remain in the work queue; once it is empty, the next call deletes it. Until the current
 * stream exists, the apps keep their events in their outboxes.
 *
 * @returns whether the work queue still exists, and so may have messages to read
 */
async function retireFormerStream(manager: JetStreamManager): Promise<boolean> {
  try {
    const { config, state } = await manager.streams.info(FORMER_TRACKING_STREAM);
    const isRetired = config.subjects[0] === NO_SUBJECT;
    if (isRetired && state.messages === 0) {
      await manager.streams.delete(FORMER_TRACKING_STREAM);
      return false;
    }
    if (!isRetired)
      await manager.streams.update(FORMER_TRACKING_STREAM, {
        description: DESCRIPTION,
        subjects: [NO_SUBJECT],
      });
    return true;
  } catch (error) {
    if (!isMissing(error)) throw error;
    return false;
  }
}

/**
 * Creates the streams and the consumer, or updates their settings.
 *
 * @param mayUpdate whether the settings of streams that exist are updated. Only the start of an app updates them. If
 *   each reconnect did, a replica with former settings would restore them during a rolling update.
 * @returns the streams to read from
 */
export async function ensureTrackingStreams(
  manager: JetStreamManager,
  settings: StreamSettings,
  mayUpdate: boolean,
): Promise<string[]> {
  const hasFormer = await retireFormerStream(manager);
  await ensureStream(manager, TRACKING_STREAM, trackingStream(settings), mayUpdate);
  await ensureStream(manager, TRACKING_DEAD_STREAM, deadStream(settings), mayUpdate);
  await ensureConsumer(manager);
  return hasFormer ? [TRACKING_STREAM, FORMER_TRACKING_STREAM] : [TRACKING_STREAM];
}

async function ensureConsumer(manager: JetStreamManager): Promise<void> {
  try {
    const { config: present } = await manager.consumers.info(TRACKING_STREAM, TRACKING_CONSUMER);
    const { description, ack_wait, max_ack_pending } = consumer;
    const isSame =
      present.description === description &&
      present.ack_wait === ack_wait &&
      present.max_ack_pending === max_ack_pending;
    // The start position stays: after a replay it is a time.
    if (!isSame && !isNewer(present.description))
      await manager.consumers.update(TRACKING_STREAM, TRACKING_CONSUMER, {
        description,
        ack_wait,
        max_ack_pending,
      });
  } catch (error) {
    if (!isMissing(error)) throw error;
    await manager.consumers.add(TRACKING_STREAM, { ...consumer, durable_name: TRACKING_CONSUMER });
  }
}

/** Once the stream is this full, this share of its messages is removed, starting with the oldest. */
const MAX_FILL = 0.8;
const PURGE_SHARE = 0.25;

/**
 * Returns the last sequence up to which the event store, and the feed if it has a consumer, have acknowledged every
 * message.
 */
async function acknowledgedByAll(manager: JetStreamManager): Promise<number> {
  const floorOf = async (consumer: string) =>
    (await manager.consumers.info(TRACKING_STREAM, consumer)).ack_floor.stream_seq;
  const ofFeed = await floorOf(FEED_CONSUMER).catch((error: unknown) => {
    if (isMissing(error)) return Infinity;
    throw error;
  });
  return Math.min(ofFeed, await floorOf(TRACKING_CONSUMER));
}

/** The messages that are not stored yet. */
export interface Lag {
  messages: number;
  /** Age of the oldest one in milliseconds; 0 if there are none. */
  ageMs: number;
}

/**
 * Removes the oldest acknowledged messages from the tracking stream if it is nearly full. Messages that the event store
 * or the feed has not acknowledged stay, even if the stream fills up.
 */
export async function purgeAcknowledged(manager: JetStreamManager): Promise<void> {
  const { config, state } = await manager.streams.info(TRACKING_STREAM);
  if (config.max_bytes <= 0 || state.bytes < MAX_FILL * config.max_bytes) return;
  const wanted = state.first_seq + Math.ceil(state.messages * PURGE_SHARE);
  const seq = Math.min(wanted, (await acknowledgedByAll(manager)) + 1);
  if (seq > state.first_seq) await manager.streams.purge(TRACKING_STREAM, { seq });
}

export async function lagOf(manager: JetStreamManager, stream: string): Promise<Lag> {
  const { num_pending, num_ack_pending, ack_floor } = await manager.consumers.info(stream, TRACKING_CONSUMER);
  const messages = num_pending + num_ack_pending;
  if (messages === 0) return { messages, ageMs: 0 };
  const { state } = await manager.streams.info(stream);
  const oldest = await manager.streams.getMessage(stream, {
    seq: Math.max(state.first_seq, ack_floor.stream_seq + 1),
  });
  return { messages, ageMs: oldest ? Date.now() - oldest.time.getTime() : 0 };
}
