import { AckPolicy, DeliverPolicy } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { Inject, Injectable, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { FEED_CONSUMER, TRACKING_STREAM, type AppName } from '@perkway/domain';
import { LOGGER, NatsService } from '@perkway/platform';
import { Pull, type StreamMessage } from '@perkway/tracking/pull';
import { readMessage } from '@perkway/tracking/read-message';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { FeedMetrics } from './feed-metrics.js';
import { FeedStore, type NewRow } from './feed-store.js';
import { FeedWriter } from './feed-writer.js';

/** A message and the rows that the feed stores of it. */
interface Received {
  message: StreamMessage;
  rows: NewRow[];
  hasUnknownVersion: boolean;
}

const FEED: AppName = 'events';
/** A batch waits no longer than this for more messages. The client allows no less. */
const FETCH_MS = 1_000;
/** Messages and bytes per batch: a bound for the memory that a backlog takes. */
const FETCH_MESSAGES = 500;
const FETCH_BYTES = 4 * 1024 * 1024;
const ROWS_PER_TRANSACTION = 2_000;
/** Room for many replicas, and for messages of a newer version that wait during an upgrade. */
const MAX_ACK_PENDING = 10_000;
const ACK_WAIT_MS = 30_000;
const UNKNOWN_VERSION_DELAY_MS = 60_000;
const RETRY_MS = 1_000;

/** Moves tracking events from the stream into the feeds: stores a batch, then acknowledges it, while it fetches the next one. */
@Injectable()
export class FeedConsumer implements OnModuleInit, BeforeApplicationShutdown {
  private readonly stopping = new AbortController();
  private readonly stopped = new Promise<undefined>((resolve) => {
    this.stopping.signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  private running: Promise<void> = Promise.resolve();
  private storing: Promise<void> = Promise.resolve();

  constructor(
    private readonly nats: NatsService,
    private readonly store: FeedStore,
    private readonly writer: FeedWriter,
    private readonly metrics: FeedMetrics,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onModuleInit() {
    this.running = this.run();
  }

  async beforeApplicationShutdown() {
    this.stopping.abort();
    await Promise.race([this.running, sleep(2 * FETCH_MS, undefined, { ref: false })]);
  }

  private async run() {
    let connection: NatsConnection | undefined;
    let failures = 0;
    while (!this.stopping.signal.aborted) {
      try {
        connection ??= await this.connect();
        if (!connection) break;
        const batch = await this.fetch(connection);
        await this.storing.catch((error: unknown) => {
          retrySoon(batch);
          throw error;
        });
        this.storing = this.write(batch);
        // It may fail before it is awaited.
        this.storing.catch(() => undefined);
        failures = 0;
      } catch (err) {
        // The stream may be missing: analytics-query creates it.
        connection = undefined;
        await this.storing.catch(() => undefined);
        this.storing = Promise.resolve();
        if (failures++ === 0) this.logger.warn({ err }, 'cannot read the stream of events, retrying');
        await sleep(RETRY_MS, undefined, { signal: this.stopping.signal }).catch(() => undefined);
      }
    }
    await this.storing.catch(() => undefined);
  }

  /** Returns the connection, with the durable consumer created if it is missing; undefined if the app stops before. */
  private async connect(): Promise<NatsConnection | undefined> {
    const connection = await Promise.race([this.nats.connected(), this.stopped]);
    if (!connection) return undefined;
    const manager = await this.nats.manager();
    await manager.consumers.add(TRACKING_STREAM, {
      durable_name: FEED_CONSUMER,
      ack_policy: AckPolicy.Explicit,
      ack_wait: ACK_WAIT_MS * 1_000_000,
      deliver_policy: DeliverPolicy.All,
      max_ack_pending: MAX_ACK_PENDING,
      max_deliver: -1,
    });
    return connection;
  }

  /** Reads each message when it arrives, so that Postgres stores the batch before it meanwhile. */
  private async fetch(connection: NatsConnection): Promise<Received[]> {
    const batch: Received[] = [];
    await new Pull(connection, FEED, TRACKING_STREAM, FEED_CONSUMER).run(
      {
        messages: FETCH_MESSAGES,
        // One message must fit in.
        bytes: Math.max(FETCH_BYTES, 2 * (connection.info?.max_payload ?? 0)),
        expiresMs: FETCH_MS,
      },
      (message) => {
        // Invalid events are dead-lettered by analytics-query, which reads the same stream.
        const { events, hasUnknownVersion } = readMessage(message.data, message.source, Date.now());
        batch.push({
          message,
          rows: events.flatMap((event) => this.store.toRow(event) ?? []),
          hasUnknownVersion,
        });
      },
    );
    return batch;
  }

  private async write(batch: Received[]) {
    const newest = batch.at(-1)?.message;
    this.metrics.lag.set(newest ? batch.length + newest.pending : 0);
    this.metrics.lagAge.set(newest ? Math.max(0, Date.now() - batch[0]!.message.storedAt) / 1_000 : 0);
    const rows = batch.flatMap((each) => each.rows);
    try {
      for (let from = 0; from < rows.length; from += ROWS_PER_TRANSACTION)
        await this.writer.write(rows.slice(from, from + ROWS_PER_TRANSACTION));
    } catch (error) {
      retrySoon(batch);
      throw error;
    }
    for (const { message, hasUnknownVersion } of batch)
      if (hasUnknownVersion) message.nak(UNKNOWN_VERSION_DELAY_MS);
      else message.ack();
  }
}

/** Has the messages redelivered soon, instead of after the acknowledgement time. */
function retrySoon(batch: Received[]) {
  for (const { message } of batch) message.nak(RETRY_MS);
}
