import type { Consumer, ConsumerMessages, JsMsg } from '@nats-io/jetstream';
import { Inject, Injectable, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { TRACKING_STREAM } from '@perkway/domain';
import { ENV, LOGGER, NatsService } from '@perkway/platform';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { AnalyticsQueryEnv } from '../env.js';
import { BatchWriter } from './batch-writer.js';
import { IngestMetrics } from './ingest-metrics.js';
import { readMessage, type ReadMessage } from './read-message.js';
import { ACK_WAIT_MS, ensureTrackingStreams, TRACKING_CONSUMER } from './tracking-streams.js';

const BATCH_EVENTS = 1_000;
const BATCH_WAIT_MS = 150;
/** Messages held in memory; beyond that nothing more is asked for. */
const MAX_HELD = 2_000;
/** The least that the client allows. Stopping waits for one such request to run out. */
const FETCH_MS = 1_000;
const EXTEND_MS = ACK_WAIT_MS / 3;
const UNKNOWN_VERSION_DELAY_MS = 60_000;
const MAX_BACKOFF_MS = 5_000;
const STOP_LIMIT_MS = 5_000;
const LAG_INTERVAL_MS = 5_000;

/** A time limit that does not keep the process alive. */
const unhurried = (ms: number): Promise<void> => sleep(ms, undefined, { ref: false });

interface Held extends ReadMessage {
  message: JsMsg;
}

/**
 * Moves events from the stream into the event store: fetches ahead, stores in batches, acknowledges after the commit.
 * Whatever fails is tried again until it works, and the broker is told meanwhile that the messages are in work.
 */
@Injectable()
export class IngestService implements OnModuleInit, BeforeApplicationShutdown {
  private stopping = false;
  private readonly stopWaiting = new AbortController();
  /** Fetched and not yet in a batch. */
  private waiting: Held[] = [];
  /** Of the batch being stored. */
  private inWork: Held[] = [];
  private messages?: ConsumerMessages;
  private wake: () => void = () => undefined;
  private fetching: Promise<void> = Promise.resolve();
  private storing: Promise<void> = Promise.resolve();
  private lagging: Promise<void> = Promise.resolve();
  private extendTimer?: NodeJS.Timeout;

  constructor(
    @Inject(ENV) private readonly env: AnalyticsQueryEnv,
    @Inject(NatsService) private readonly nats: NatsService,
    @Inject(BatchWriter) private readonly writer: BatchWriter,
    @Inject(IngestMetrics) private readonly metrics: IngestMetrics,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onModuleInit() {
    this.fetching = this.fetchForEver();
    this.storing = this.storeForEver();
    this.lagging = this.observeLag();
    this.extendTimer = setInterval(() => this.extend(), EXTEND_MS).unref();
  }

  /** Before the connections to broker and database close. Nothing stays pending: what is not stored is handed back. */
  async beforeApplicationShutdown() {
    this.stopping = true;
    this.wake();
    this.stopWaiting.abort();
    // A request that the broker ends itself leaves nothing behind; without a broker nobody ends it.
    setTimeout(() => void this.messages?.close(), FETCH_MS + 500).unref();
    await Promise.race([Promise.all([this.fetching, this.storing, this.lagging]), unhurried(STOP_LIMIT_MS)]);
    clearInterval(this.extendTimer);
    for (const { message } of [...this.waiting, ...this.inWork]) message.nak();
    await Promise.race([this.nats.current?.flush().catch(() => undefined), unhurried(1_000)]);
  }

  private pause(ms: number): Promise<void> {
    return sleep(ms, undefined, { signal: this.stopWaiting.signal }).catch(() => undefined);
  }

  private async fetchForEver() {
    let consumer: Consumer | null = null;
    let failures = 0;
    while (!this.stopping) {
      try {
        consumer ??= await this.findConsumer();
        if (!consumer) continue;
        const room = MAX_HELD - this.waiting.length - this.inWork.length;
        if (room < MAX_HELD / 4) {
          await this.pause(20);
          continue;
        }
        await this.fetch(consumer, Math.min(room, BATCH_EVENTS));
        failures = 0;
      } catch (err) {
        // Stream or consumer may be gone with the broker's disk: look (and make them) again.
        consumer = null;
        if (failures++ === 0) this.logger.warn({ err }, 'cannot fetch tracking events, trying on');
        await this.pause(Math.min(100 * 2 ** failures, MAX_BACKOFF_MS / 5));
      }
    }
  }

  private async findConsumer(): Promise<Consumer | null> {
    const isStopped = new Promise<null>((resolve) => {
      if (this.stopping) resolve(null);
      this.stopWaiting.signal.addEventListener('abort', () => resolve(null), { once: true });
    });
    const connection = await Promise.race([this.nats.connected(), isStopped]);
    if (!connection) return null;
    await ensureTrackingStreams(await this.nats.manager(), {
      replicas: this.env.TRACKING_REPLICAS,
      maxBytes: this.env.TRACKING_MAX_BYTES,
    });
    const { jetstream } = this.nats;
    if (!jetstream) throw new Error('the NATS connection has closed');
    return jetstream.consumers.get(TRACKING_STREAM, TRACKING_CONSUMER);
  }

  private async fetch(consumer: Consumer, messages: number) {
    this.messages = await consumer.fetch({ max_messages: messages, expires: FETCH_MS });
    for await (const message of this.messages) {
      if (this.stopping) {
        message.nak();
        continue;
      }
      this.waiting.push({ message, ...readMessage(message.data, Date.now()) });
      this.wake();
    }
  }

  private async storeForEver() {
    while (!this.stopping) {
      if (this.waiting.length === 0) {
        await new Promise<void>((resolve) => {
          this.wake = resolve;
          if (this.stopping) resolve();
        });
        continue;
      }
      const isFull = () => this.waiting.length >= BATCH_EVENTS;
      if (!isFull()) await this.pause(BATCH_WAIT_MS);
      this.inWork = this.takeBatch();
      if (await this.storeBatch(this.inWork)) this.inWork = [];
    }
  }

  /** Whole messages with up to BATCH_EVENTS events; a message of more is a batch of its own. */
  private takeBatch(): Held[] {
    let events = 0;
    let size = 0;
    for (const held of this.waiting) {
      events += held.events.length + held.rejected.length;
      if (events > BATCH_EVENTS && size > 0) break;
      size += 1;
    }
    return this.waiting.splice(0, size);
  }

  /** Until it works. False when the app stops before that. */
  private async storeBatch(batch: Held[]): Promise<boolean> {
    for (let attempt = 0; !this.stopping; attempt += 1) {
      const stopTimer = this.metrics.batches.startTimer();
      try {
        await this.writer.write(batch.flatMap(({ events }) => events));
        for (const rejected of batch.flatMap((held) => held.rejected)) await this.writer.bury(rejected);
        stopTimer();
        for (const { message, hasUnknownVersion } of batch) {
          if (!hasUnknownVersion) message.ack();
          else {
            // A newer release will understand it.
            message.nak(UNKNOWN_VERSION_DELAY_MS);
            this.metrics.delayed.inc();
          }
        }
        return true;
      } catch (err) {
        if (attempt === 0)
          this.logger.error({ err, messages: batch.length }, 'cannot store events, trying on');
        await this.pause(Math.min(100 * 2 ** attempt, MAX_BACKOFF_MS));
      }
    }
    return false;
  }

  /** Tells the broker that these messages are not forgotten. */
  private extend() {
    for (const { message } of [...this.waiting, ...this.inWork]) message.working();
  }

  private async observeLag() {
    while (!this.stopping) {
      await this.pause(LAG_INTERVAL_MS);
      if (this.stopping || !this.nats.current) continue;
      try {
        const { num_pending, num_ack_pending } = await (
          await this.nats.manager()
        ).consumers.info(TRACKING_STREAM, TRACKING_CONSUMER);
        this.metrics.lag.set(num_pending + num_ack_pending);
      } catch (err) {
        this.logger.debug({ err }, 'cannot ask for the lag');
      }
    }
  }
}
