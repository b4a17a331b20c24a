/**
 * `perkway replay --from <time>`: everything that was tracked since then is stored again, as far back as the stream
 * reaches. For a database that was restored to an earlier state; harmless otherwise, because an event that is there
 * already is not stored twice. NATS_URL names a user who may do everything. The ingest may run meanwhile.
 */
import { jetstreamManager, DeliverPolicy, JetStreamApiError, type ConsumerConfig } from '@nats-io/jetstream';
import { TimeoutError } from '@nats-io/transport-node';
import { TRACKING_CONSUMER, TRACKING_STREAM } from '@perkway/domain';
import { withBroker } from '@perkway/local-servers';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { CommandError, readOperatorUrl, runCommand } from './read-variable.js';

/** The ingest, which misses its consumer, may have made it anew before this does: from the first event on. */
const ATTEMPTS = 10;

/** Brokers that were all started a moment ago answer only when they have agreed on who leads. */
const PATIENCE_MS = 30_000;
const PAUSE_MS = 500;

const isApiError = (error: unknown): error is JetStreamApiError => error instanceof JetStreamApiError;

const isUnanswered = (error: unknown): boolean =>
  error instanceof TimeoutError || (isApiError(error) && error.status === 503);

function readTime(text: string | undefined): Date {
  const time = new Date(text ?? '');
  if (!text || Number.isNaN(time.getTime()))
    throw new CommandError('From when? Give --from with a time, such as 2026-01-31T09:00:00Z.');
  return time;
}

/** Of the consumer that is made anew, which may be gone when this is tried again. */
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
        `The stream reaches back to ${state.first_ts} only: what was tracked before is not replayed.`,
      );
  });

await runCommand(async () => {
  const { values } = parseArgs({ options: { from: { type: 'string' } } });
  const from = readTime(values.from);
  for (const deadline = Date.now() + PATIENCE_MS; ; await sleep(PAUSE_MS))
    try {
      return await replayFrom(from);
    } catch (error) {
      if (!isUnanswered(error) || Date.now() > deadline) throw error;
    }
});
