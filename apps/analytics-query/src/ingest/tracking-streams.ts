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
  TRACKING_CONSUMER,
  TRACKING_DEAD_STREAM,
  TRACKING_DEAD_SUBJECTS,
  TRACKING_STREAM,
  TRACKING_SUBJECTS,
} from '@perkway/domain';

/** A message that is not acknowledged for this long is delivered again. Work that takes longer says so meanwhile. */
export const ACK_WAIT_MS = 10_000;

/**
 * Raised with every change of the settings here. It stands in the description of streams and consumer, and a replica of an
 * older build leaves those of a newer one as they are.
 */
const SETTINGS = 1;
const DESCRIPTION = `Perkway, settings ${SETTINGS}`;
const isNewer = (description = ''): boolean => Number(/ (\d+)$/.exec(description)?.[1] ?? 0) > SETTINGS;

const nanos = (ms: number): number => ms * 1_000_000;

export interface StreamSettings {
  replicas: number;
  /** -1 for none. */
  maxBytes: number;
}

/** Keeps what nobody has stored yet, for as long as it takes. */
const trackingStream = ({ replicas, maxBytes }: StreamSettings): Partial<StreamConfig> => ({
  description: DESCRIPTION,
  subjects: [TRACKING_SUBJECTS],
  retention: RetentionPolicy.Workqueue,
  storage: StorageType.File,
  discard: DiscardPolicy.New,
  max_age: 0,
  max_bytes: maxBytes,
  num_replicas: replicas,
});

/** Keeps what cannot be stored, for people to look at. */
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

async function ensureStream(manager: JetStreamManager, name: string, config: Partial<StreamConfig>) {
  try {
    const { config: present } = await manager.streams.info(name);
    if (isNewer(present.description)) return;
    const isSame = Object.entries(config).every(
      ([key, value]) => JSON.stringify(present[key as keyof StreamConfig]) === JSON.stringify(value),
    );
    if (!isSame) await manager.streams.update(name, config);
  } catch (error) {
    if (!isMissing(error)) throw error;
    await manager.streams.add({ ...config, name });
  }
}

/** Creates the streams and the consumer, or brings their settings up to date. */
export async function ensureTrackingStreams(
  manager: JetStreamManager,
  settings: StreamSettings,
): Promise<void> {
  await ensureStream(manager, TRACKING_STREAM, trackingStream(settings));
  await ensureStream(manager, TRACKING_DEAD_STREAM, deadStream(settings));
  try {
    const { config: present } = await manager.consumers.info(TRACKING_STREAM, TRACKING_CONSUMER);
    if (isNewer(present.description)) return;
    const isSame = (['description', 'ack_wait', 'max_ack_pending'] as const).every(
      (key) => present[key] === consumer[key],
    );
    if (!isSame) await manager.consumers.update(TRACKING_STREAM, TRACKING_CONSUMER, consumer);
  } catch (error) {
    if (!isMissing(error)) throw error;
    await manager.consumers.add(TRACKING_STREAM, { ...consumer, durable_name: TRACKING_CONSUMER });
  }
}
