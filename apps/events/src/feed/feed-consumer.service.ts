import { AckPolicy, DeliverPolicy } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { Inject, Injectable, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { FEED_CONSUMER, TRACKING_STREAM, type AppName } from '@perkway/domain';
import { LOGGER, NatsService } from '@perkway/platform';
import { Pull, type StreamMessage } from '@perkway/tracking/pull';
import { readMessage } from '@perkway/tracking/read-message';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { DeliveryWorker } from '../deliveries/delivery-worker.js';
import { FeedMetrics } from './feed-metrics.js';
import { FeedStore, type NewRow } from './feed-store.js';
import { FeedWriter } from './feed-writer.js';

/** A message and the rows that the feed stores for it. */
interface Received {
  message: StreamMessage;
  rows: NewRow[];
  hasUnknownVersion: boolean;
}

const FEED: AppName = 'events';
/** The first event of a transaction waits this long for others. */
const LINGER_MS = 50;
const ROWS_PER_TRANSACTION = 2_000;
/** How long a fetch waits for messages. Long, so that an idle app sends few requests. */
const FETCH_MS = 20_000;
const STOP_LIMIT_MS = 2_000;
/** Maximum messages and bytes per fetch. The next one starts while Postgres stores, unless too many rows wait. */
const FETCH_MESSAGES = 500;
const FETCH_BYTES = 4 * 1024 * 1024;
/** Room for many replicas, and for messages of a newer version that wait during an upgrade. */
const MAX_ACK_PENDING = 10_000;
const ACK_WAIT_MS = 30_000;
const UNKNOWN_VERSION_DELAY_MS = 60_000;
const RETRY_MS = 1_000;

function settle({ message, hasUnknownVersion }: Pick<Received, 'message' | 'hasUnknownVersion'>) {
  if (hasUnknownVersion) message.nak(UNKNOWN_VERSION_DELAY_MS);
  else message.ack();
}

/** Moves tracking events from the stream into the feeds: fetches, stores in batches, acknowledges after the commit. */
@Injectable()
export class FeedConsumer implements OnModuleInit, BeforeApplicationShutdown {
  private readonly stopping = new AbortController();
  private readonly stopped = new Promise<undefined>((resolve) => {
    this.stopping.signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  private running: Promise<void> = Promise.resolve();
  /** Messages that are received but not in a transaction yet. */
  private waiting: Received[] = [];
  private waitingRows = 0;
  /** Called when a transaction would be full. */
  private onFull: () => void = () => undefined;
  /** Called when a transaction has taken waiting messages. */
  private onTaken: () => void = () => undefined;
  private storing: Promise<void> | undefined;
  private pull: Pull | undefined;
  private hasFailed = false;

  constructor(
    private readonly nats: NatsService,
    private readonly store: FeedStore,
    private readonly writer: FeedWriter,
    private readonly metrics: FeedMetrics,
    private readonly deliveries: DeliveryWorker,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onModuleInit() {
    this.running = this.run();
  }

  async beforeApplicationShutdown() {
    this.stopping.abort();
    this.pull?.end();
    await Promise.race([this.running, sleep(STOP_LIMIT_MS, undefined, { ref: false })]);
  }

  private async run() {
    let connection: NatsConnection | undefined;
    let failures = 0;
    while (!this.stopping.signal.aborted) {
      try {
        connection ??= await this.connect();
        if (!connection || this.stopping.signal.aborted) break;
        await this.fetch(connection);
        failures = 0;
        while (this.waitingRows > ROWS_PER_TRANSACTION)
          await new Promise<void>((resolve) => (this.onTaken = resolve));
      } catch (err) {
        if (this.stopping.signal.aborted) break;
        // The stream may be missing: analytics-query creates it.
        connection = undefined;
        if (failures++ === 0) this.logger.warn({ err }, 'cannot read the stream of events, retrying');
        await this.pause(RETRY_MS);
      }
    }
    while (this.storing) await this.storing;
  }

  private pause(ms: number): Promise<void> {
    return sleep(ms, undefined, { signal: this.stopping.signal }).catch(() => undefined);
  }

  /** Returns the connection, with the durable consumer created if it is missing; undefined if the app stops first. */
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

  /** Fetches messages. Parses each when it arrives, while Postgres stores earlier ones. */
  private async fetch(connection: NatsConnection) {
    this.pull = new Pull(connection, FEED, TRACKING_STREAM, FEED_CONSUMER);
    await this.pull.run(
      {
        messages: FETCH_MESSAGES,
        // At least one message must fit.
        bytes: Math.max(FETCH_BYTES, 2 * (connection.info?.max_payload ?? 0)),
        expiresMs: FETCH_MS,
      },
      (message) => {
        // Invalid events are dead-lettered by analytics-query, which reads the same stream.
        const { events, hasUnknownVersion } = readMessage(message.data, message.source, Date.now());
        const rows = events.map((event) => this.store.toRow(event)).filter((row) => row !== undefined);
        // The limit on waiting rows would not count a message without any, such as one with perk views.
        if (rows.length === 0) {
          if (!this.storing) this.setCaughtUp(message.pending);
          return settle({ message, hasUnknownVersion });
        }
        this.waiting.push({ message, rows, hasUnknownVersion });
        this.waitingRows += rows.length;
        if (this.waitingRows >= ROWS_PER_TRANSACTION) this.onFull();
        this.storing ??= this.storeWaiting().finally(() => (this.storing = undefined));
      },
    );
  }

  private async storeWaiting() {
    await Promise.race([this.pause(LINGER_MS), new Promise<void>((resolve) => (this.onFull = resolve))]);
    while (this.waiting.length > 0) await this.write(this.take());
    if (this.hasFailed) return;
    this.setCaughtUp(0);
  }

  private setCaughtUp(pending: number) {
    this.metrics.lag.set(pending);
    this.metrics.lagAge.set(0);
  }

  /** Takes the messages of the next transaction, at least one. */
  private take(maxRows = ROWS_PER_TRANSACTION): Received[] {
    let rows = 0;
    const end = this.waiting.findIndex((each) => (rows += each.rows.length) >= maxRows);
    const taken = this.waiting.splice(0, end < 0 ? this.waiting.length : end + 1);
    this.waitingRows -= rows;
    this.onTaken();
    return taken;
  }

  private async write(batch: Received[]) {
    const newest = this.waiting.at(-1) ?? batch.at(-1)!;
    this.metrics.lag.set(batch.length + this.waiting.length + newest.message.pending);
    // Redelivered messages come after newer ones.
    const oldest = Math.min(...[...batch, ...this.waiting].map(({ message }) => message.storedAt));
    this.metrics.lagAge.set(Math.max(0, Date.now() - oldest) / 1_000);
    try {
      await this.writer.write(batch.flatMap(({ rows }) => rows));
    } catch (err) {
      if (!this.hasFailed) this.logger.warn({ err }, 'cannot store events in the feed, retrying');
      this.hasFailed = true;
      // Requests redelivery soon, instead of after the acknowledgement timeout.
      for (const { message } of [...batch, ...this.take(Infinity)]) message.nak(RETRY_MS);
      return this.pause(RETRY_MS);
    }
    this.hasFailed = false;
    batch.forEach(settle);
    this.deliveries.feedGrew();
  }
}
