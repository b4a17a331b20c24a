import { jetstreamManager, DeliverPolicy, JetStreamApiError, type ConsumerConfig } from '@nats-io/jetstream';
import { TimeoutError } from '@nats-io/transport-node';
import { readCommandLine } from '@perkway/command-line';
import { TRACKING_CONSUMER, TRACKING_STREAM } from '@perkway/domain';
import { withBroker } from '@perkway/local-servers';
import { setTimeout as sleep } from 'node:timers/promises';
import { CommandError, readOperatorUrl, runCommand } from './read-variable.js';

const USAGE = `perkway replay --from <time>

Stores all events since a point in time again, as far back as the stream reaches. Use it after restoring a database to an earlier
state; otherwise it changes nothing, because no event is stored twice. NATS_URL must name a user with all permissions. Ingest may
be running.`;

/** Retries, because the ingest may recreate its missing consumer first, from the first event on. */
const ATTEMPTS = 10;

/** Brokers that have just started do not respond until they have elected a leader. */
const TIMEOUT_MS = 30_000;
const PAUSE_MS = 500;

const isApiError = (error: unknown): error is JetStreamApiError => error instanceof JetStreamApiError;

const isWithoutReply = (error: unknown): boolean =>
  error instanceof TimeoutError || (isApiError(error) && error.status === 503);

function readTime(text: string | undefined): Date {
  const time = new Date(text ?? '');
  if (!text || Number.isNaN(time.getTime()))
    throw new CommandError('--from must be a time, such as 2026-01-31T09:00:00Z.');
  return time;
}

/** Configuration of the consumer to recreate, kept because the consumer may be gone at a retry. */
let config: ConsumerConfig | undefined;

const replayFrom = (from: Date): Promise<void> =>
  withBroker(readOperatorUrl(), async (connection) => {
    const { streams, consumers } = await jetstreamManager(connection);
    const { state } = await streams.info(TRACKING_STREAM);
    config ??= (await consumers.info(TRACKING_STREAM, TRACKING_CONSUMER)).config;
    for (let attempt = 1; ; attempt += 1)
      try {
        await consumers.delete(TRACKING_STREAM, TRACKING_CONSUMER).catch((error: unknown) => {
          if (!isApiError(error) || error.status !== 404) throw error;
        });
        const { num_pending } = await consumers.add(TRACKING_STREAM, {
          description: config.description,
          ack_policy: config.ack_policy,
          ack_wait: config.ack_wait,
          max_deliver: config.max_deliver,
          max_ack_pending: config.max_ack_pending,
          durable_name: TRACKING_CONSUMER,
          deliver_policy: DeliverPolicy.StartTime,
          opt_start_time: from.toISOString(),
        });
        process.stdout.write(
          `${JSON.stringify({ msg: 'replaying', from: from.toISOString(), messages: num_pending, oldest: state.first_ts })}\n`,
        );
        break;
      } catch (error) {
        if (!isApiError(error) || attempt === ATTEMPTS) throw error;
      }
    if (state.messages > 0 && state.first_seq > 1 && from < new Date(state.first_ts))
      throw new CommandError(
        `The stream goes back to ${state.first_ts} only. Earlier events are not replayed.`,
      );
  });

await runCommand(async () => {
  const { values } = readCommandLine(USAGE, { options: { from: { type: 'string' } } });
  const from = readTime(values.from);
  for (const deadline = Date.now() + TIMEOUT_MS; ; await sleep(PAUSE_MS))
    try {
      return await replayFrom(from);
    } catch (error) {
      if (!isWithoutReply(error) || Date.now() > deadline) throw error;
    }
});
