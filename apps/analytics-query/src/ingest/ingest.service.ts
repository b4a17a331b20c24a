import type { NatsConnection } from '@nats-io/transport-node';
import { Inject, Injectable, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { TRACKING_CONSUMER, TRACKING_STREAM, type Erasure } from '@perkway/domain';
import { ENV, LOGGER, Loops, NatsService } from '@perkway/platform';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { AnalyticsQueryEnv } from '../env.js';
import { eraseFromMessage } from '../erasures/erase-from-message.js';
import { StreamEraser } from '../erasures/stream-eraser.js';
import { BatchWriter } from './batch-writer.js';
import { IngestMetrics } from './ingest-metrics.js';
import { Pull, type StreamMessage } from '@perkway/tracking/pull';
import { readMessage, type ReadMessage } from '@perkway/tracking/read-message';
import { ACK_WAIT_MS, ensureTrackingStreams, lagOf, purgeAcknowledged } from './tracking-streams.js';

const BATCH_EVENTS = 1_000;
const BATCH_WAIT_MS = 50;
/** Batches stored concurrently: one is prepared while Postgres works on the other. */
const CONCURRENT_BATCHES = 2;
/** Fetching pauses while messages that are fetched and not yet stored have this many bytes. */
const MAX_HELD_BYTES = 8 * 1024 * 1024;
/**
 * Limits of one fetch. The broker closes the connection if it has to buffer too much between two reads of the socket by
 * this app.
 */
const FETCH_MESSAGES = 1_000;
const FETCH_BYTES = 4 * 1024 * 1024;
/** How long a fetch waits for messages. Long, so that an idle app sends few requests. */
const FETCH_MS = 20_000;
/** The same while two streams are read in turn. */
const SHARED_FETCH_MS = 1_000;
/** How often the broker is told that messages are still in progress. */
const EXTEND_MS = ACK_WAIT_MS / 3;
/** Redelivery delay of a message from which an erased person could not be removed. */
const ERASE_AGAIN_MS = 10_000;
const UNKNOWN_VERSION_DELAY_MS = 60_000;
const MAX_BACKOFF_MS = 5_000;
const STOP_LIMIT_MS = 5_000;
const END_LIMIT_MS = 1_500;
const LAG_INTERVAL_MS = 5_000;

/** Sleeps without keeping the process alive. */
const unrefSleep = (ms: number): Promise<void> => sleep(ms, undefined, { ref: false });

interface HeldMessage extends ReadMessage {
  message: StreamMessage;
  bytes: number;
}
const eventsIn = ({ events, rejected }: ReadMessage): number => events.length + rejected.length;

/**
 * Moves events from the stream into the event store: fetches ahead, stores in batches, acknowledges after the commit.
 * Failed batches are retried until they succeed; meanwhile the broker is told that their messages are in progress.
 */
@Injectable()
export class IngestService implements OnModuleInit, BeforeApplicationShutdown {
  private stopping = false;
  private readonly stopWaiting = new AbortController();
  /** Messages fetched and not yet in a batch. */
  private waiting: HeldMessage[] = [];
  private waitingEvents = 0;
  /** Messages of the batches that are being stored. */
  private readonly storingNow = new Set<HeldMessage>();
  private heldBytes = 0;
  private pull?: Pull;
  /** Streams to read; also the stream of an earlier release while it has events. */
  private streams = [TRACKING_STREAM];
  private hasUpdatedStreams = false;
  /** Wakes `nextBatch`: when a batch is full, when the first message arrives, and when the app stops. */
  private wake: () => void = () => undefined;
  /** The last call of `nextBatch`. The next one starts after it, so that batches are taken one at a time. */
  private lastTake: Promise<unknown> = Promise.resolve();
  private fetching: Promise<void> = Promise.resolve();
  private storing: Promise<unknown> = Promise.resolve();
  private extendTimer?: NodeJS.Timeout;
  private hasWarned = false;

  constructor(
    @Inject(ENV) private readonly env: AnalyticsQueryEnv,
    private readonly nats: NatsService,
    private readonly writer: BatchWriter,
    private readonly eraser: StreamEraser,
    private readonly metrics: IngestMetrics,
    @Inject(LOGGER) private readonly logger: Logger,
    loops: Loops,
  ) {
    loops.add({ task: 'check the stream', everyMs: LAG_INTERVAL_MS, run: () => this.checkStream() });
  }

  onModuleInit() {
    this.fetching = this.fetchUntilStopped();
    this.storing = Promise.all(Array.from({ length: CONCURRENT_BATCHES }, () => this.storeUntilStopped()));
    this.extendTimer = setInterval(() => this.extend(), EXTEND_MS).unref();
  }

  /**
   * Runs before the connections to broker and database close. Messages that are not stored are handed back, so that
   * none stay pending.
   */
  async beforeApplicationShutdown() {
    this.stopping = true;
    this.wake();
    this.stopWaiting.abort();
    this.pull?.end();
    // Nothing ends the fetch if the broker cannot be reached.
    setTimeout(() => this.pull?.close(), END_LIMIT_MS).unref();
    await Promise.race([Promise.all([this.fetching, this.storing]), unrefSleep(STOP_LIMIT_MS)]);
    clearInterval(this.extendTimer);
    for (const { message } of [...this.waiting, ...this.storingNow]) message.nak();
    await Promise.race([this.nats.current?.flush().catch(() => undefined), unrefSleep(1_000)]);
  }

  private pause(ms: number): Promise<void> {
    return sleep(ms, undefined, { signal: this.stopWaiting.signal }).catch(() => undefined);
  }

  private async fetchUntilStopped() {
    let connection: NatsConnection | null = null;
    let failures = 0;
    while (!this.stopping) {
      try {
        connection ??= await this.connectToStreams();
        if (!connection) continue;
        if (this.heldBytes >= MAX_HELD_BYTES) {
          await this.pause(20);
          continue;
        }
        for (const stream of this.streams) await this.fetch(connection, stream);
        if (this.streams.length > 1) await this.ensureStreams();
        failures = 0;
      } catch (err) {
        // The broker may have lost the stream or the consumer with its disk, so find or create them again.
        connection = null;
        if (failures++ === 0) this.logger.warn({ err }, 'cannot fetch tracking events, retrying');
        await this.pause(Math.min(100 * 2 ** failures, MAX_BACKOFF_MS / 5));
      }
    }
  }

  /** Returns the connection once the streams and the consumer exist, or null if the app stops first. */
  private async connectToStreams(): Promise<NatsConnection | null> {
    const isStopped = new Promise<null>((resolve) => {
      if (this.stopping) resolve(null);
      this.stopWaiting.signal.addEventListener('abort', () => resolve(null), { once: true });
    });
    const connection = await Promise.race([this.nats.connected(), isStopped]);
    if (!connection) return null;
    this.warnOfOldBroker(connection);
    await this.ensureStreams();
    return connection;
  }

  private warnOfOldBroker(connection: NatsConnection) {
    const { version = '' } = connection.info ?? {};
    const [major = 0, minor = 0] = version.split('.').map(Number);
    if (this.hasWarned || major > 2 || (major === 2 && minor >= 10)) return;
    this.hasWarned = true;
    this.logger.warn(
      `nats-server ${version} is older than 2.10: it cannot sync each event to disk, and in a cluster acknowledged messages may stay on a single replica when a leader dies`,
    );
  }

  private async ensureStreams() {
    const settings = {
      replicas: this.env.TRACKING_REPLICAS,
      maxBytes: this.env.TRACKING_MAX_BYTES,
      maxAgeMs: this.env.TRACKING_MAX_AGE_HOURS * 3_600_000,
    };
    this.streams = await ensureTrackingStreams(await this.nats.manager(), settings, !this.hasUpdatedStreams);
    this.hasUpdatedStreams = true;
  }

  private async fetch(connection: NatsConnection, stream: string) {
    // The app may have stopped while the streams were looked up.
    if (this.stopping) return;
    this.pull = new Pull(connection, 'analytics-query', stream, TRACKING_CONSUMER);
    await this.pull.run(
      {
        messages: FETCH_MESSAGES,
        // At least one message must fit.
        bytes: Math.max(FETCH_BYTES, 2 * (connection.info?.max_payload ?? 0)),
        expiresMs: this.streams.length > 1 ? SHARED_FETCH_MS : FETCH_MS,
      },
      (message) => this.hold(message),
    );
  }

  private hold(message: StreamMessage) {
    if (this.stopping) return message.nak();
    const held = {
      message,
      bytes: message.data.length,
      ...readMessage(message.data, message.source, Date.now()),
    };
    this.waiting.push(held);
    this.heldBytes += held.bytes;
    this.waitingEvents += eventsIn(held);
    if (this.waiting.length === 1 || this.isFull) this.wake();
  }

  private get isFull(): boolean {
    return this.waitingEvents >= BATCH_EVENTS;
  }

  private async storeUntilStopped() {
    while (!this.stopping) {
      const take = this.lastTake.then(() => this.nextBatch());
      this.lastTake = take;
      const batch = await take;
      if (batch.length === 0 || !(await this.storeBatch(batch))) continue;
      for (const held of batch) {
        this.storingNow.delete(held);
        this.heldBytes -= held.bytes;
      }
    }
  }

  /** Waits for a first message, then up to BATCH_WAIT_MS for a full batch. Returns no messages if the app stops. */
  private async nextBatch(): Promise<HeldMessage[]> {
    if (this.waiting.length === 0) await this.woken();
    if (!this.isFull && !this.stopping) await Promise.race([this.woken(), this.pause(BATCH_WAIT_MS)]);
    if (this.stopping) return [];
    const batch = this.takeBatch();
    for (const held of batch) this.storingNow.add(held);
    return batch;
  }

  private woken(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve;
      if (this.stopping) resolve();
    });
  }

  /** Takes whole messages with up to BATCH_EVENTS events; a message with more is a batch of its own. */
  private takeBatch(): HeldMessage[] {
    let events = 0;
    let size = 0;
    for (const held of this.waiting) {
      if (events + eventsIn(held) > BATCH_EVENTS && size > 0) break;
      events += eventsIn(held);
      size += 1;
    }
    this.waitingEvents -= events;
    return this.waiting.splice(0, size);
  }

  /** Retries until the batch is stored. Returns false if the app stops first. */
  private async storeBatch(batch: HeldMessage[]): Promise<boolean> {
    for (let attempt = 0; !this.stopping; attempt += 1) {
      const stopTimer = this.metrics.batches.startTimer();
      try {
        const erasures = await this.writer.write(batch.flatMap(({ events }) => events));
        for (const rejected of batch.flatMap((held) => held.rejected))
          erasures.push(...(await this.writer.deadLetter(rejected)));
        stopTimer();
        for (const { message, hasUnknownVersion } of batch) {
          if (erasures.length > 0 && !(await this.eraseFrom(message, erasures))) message.nak(ERASE_AGAIN_MS);
          else if (!hasUnknownVersion) message.ack();
          else {
            // A newer release will be able to read it.
            message.nak(UNKNOWN_VERSION_DELAY_MS);
            this.metrics.delayed.inc();
          }
        }
        return true;
      } catch (err) {
        if (attempt === 0)
          this.logger.error({ err, messages: batch.length }, 'cannot store events, retrying');
        await this.pause(Math.min(100 * 2 ** attempt, MAX_BACKOFF_MS));
      }
    }
    return false;
  }

  /** Removes erased journeys from a message in the stream. Returns whether the message no longer names any. */
  private async eraseFrom({ data, sequence }: StreamMessage, erasures: Erasure[]): Promise<boolean> {
    if (eraseFromMessage(data, erasures) === undefined) return true;
    try {
      await this.eraser.eraseMessage(sequence, erasures);
      return true;
    } catch (err) {
      this.logger.warn({ err }, 'cannot remove an erased journey from the stream yet');
      return false;
    }
  }

  /** Tells the broker that these messages are still in progress. */
  private extend() {
    for (const { message } of [...this.waiting, ...this.storingNow]) message.working();
  }

  private async checkStream() {
    if (!this.nats.current) return;
    const manager = await this.nats.manager();
    const lags = await Promise.all(this.streams.map((stream) => lagOf(manager, stream)));
    this.metrics.lag.set(lags.reduce((sum, { messages }) => sum + messages, 0));
    this.metrics.lagAge.set(Math.max(...lags.map(({ ageMs }) => ageMs)) / 1_000);
    await purgeAcknowledged(manager);
  }
}
