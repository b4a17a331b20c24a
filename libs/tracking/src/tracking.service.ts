import { Inject, Injectable, Optional, type OnModuleInit } from '@nestjs/common';
import type { Erasure, TrackingEvent } from '@perkway/domain';
import { APP_NAME, ENV, LOGGER, NatsService } from '@perkway/platform';
import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import { AtRiskBuffer } from './at-risk-buffer.js';
import { Outbox, type SqlRunner } from './outbox.js';
import { Relay } from './relay.js';
import { isSendable, toMessage } from './tracking-messages.js';
import { TrackingMetrics } from './tracking-metrics.js';
import { ACK_TIMEOUT_MS, TrackingStream } from './tracking-stream.js';
import { WaitingEvents, type Batch } from './waiting-events.js';

/** Injects other limits for the buffer of events that neither stream nor outbox could take. */
export const TRACKING_BUFFER = Symbol('TRACKING_BUFFER');
export interface TrackingBuffer {
  maxEvents: number;
  maxCharacters: number;
}
const DEFAULT_BUFFER: TrackingBuffer = { maxEvents: 100_000, maxCharacters: 32 * 1024 * 1024 };

/** How long a request waits for the outbox before its event goes to the buffer. */
const OUTBOX_TIMEOUT_MS = 400;
const SHUTDOWN_LIMIT_MS = 4_000;
/** Messages in flight; events that arrive meanwhile share the next one. */
const MESSAGES_IN_FLIGHT = 8;

/**
 * Makes events durable: acknowledged by JetStream or, if that does not respond, written to the app's own outbox and
 * relayed later. While the stream is down, events go straight to the outbox (docs/adr/0007-tracking-publisher.md).
 * Delivery is at least once; the event store counts (account, at, id) once, so messages need no id and late duplicates
 * are harmless.
 */
@Injectable()
export class TrackingService implements OnModuleInit {
  private readonly stream: TrackingStream;
  private readonly outbox: Outbox;
  private readonly relay: Relay;
  private readonly metrics: TrackingMetrics;

  private readonly waiting = new WaitingEvents();
  private readonly unsettled = new Set<Promise<void>>();
  private isFlushScheduled = false;
  private inFlight = 0;

  constructor(
    // The subject in the stream is `tracking.<app>`.
    @Inject(APP_NAME) app: string,
    // The outbox has its own pool, so an app can track without a data source.
    @Inject(ENV) { DATABASE_URL }: { DATABASE_URL: string },
    private readonly nats: NatsService,
    @Inject(LOGGER) private readonly logger: Logger,
    registry: Registry,
    @Optional() @Inject(TRACKING_BUFFER) { maxEvents, maxCharacters }: TrackingBuffer = DEFAULT_BUFFER,
  ) {
    this.stream = new TrackingStream(nats, app, logger);
    this.outbox = new Outbox(DATABASE_URL, app);
    const buffer = new AtRiskBuffer(maxEvents, maxCharacters);
    this.metrics = new TrackingMetrics(registry, buffer, this.stream);
    this.relay = new Relay(this.stream, this.outbox, buffer, this.metrics, logger);
  }

  onModuleInit() {
    void this.stream.run();
    this.relay.start();
    // After the response to the last request, before the connections close.
    this.nats.beforeClose(() => this.close());
  }

  /**
   * Resolves well within a second: when the event is durable, or only in memory if stream and outbox are down. Never
   * rejects.
   */
  track(event: TrackingEvent): Promise<void> {
    return this.trackSerialized(JSON.stringify(event));
  }

  /** `track` for an event that is already serialized. */
  trackSerialized(event: string): Promise<void> {
    if (!this.accepts(event)) return Promise.resolve();
    const durable = this.waiting.add(event);
    // An immediate runs after all requests read in this event-loop iteration, so their events share a message.
    if (!this.isFlushScheduled) {
      this.isFlushScheduled = true;
      setImmediate(this.flush);
    }
    return durable;
  }

  /**
   * Writes the events in the caller's transaction, so they exist only if it commits; they are relayed soon after.
   * Rejects like any statement of that transaction.
   */
  async trackInTransaction(runner: SqlRunner, events: readonly TrackingEvent[]): Promise<void> {
    const texts = events.map((event) => JSON.stringify(event)).filter((text) => this.accepts(text));
    if (texts.length === 0) return;
    await Outbox.insertInto(runner, texts);
    this.relaySoon();
  }

  /**
   * Relays rows soon that the app itself inserted into `tracking_outbox (event)`, each the JSON of an event. Otherwise
   * they wait for the next poll.
   *
   * @param committed events whose transaction has committed. Call this before responding to the request: then they
   * arrive even if the database fails over to a standby that lacks them
   */
  relaySoon(committed: readonly string[] = []): void {
    this.relay.remember(committed);
    this.relay.wakeSoon();
  }

  /** Erases a person from the events in the outbox; analytics-query erases events in flight when they arrive. */
  erase(erasure: Erasure): Promise<void> {
    return this.outbox.erase(erasure);
  }

  private accepts(event: string): boolean {
    if (isSendable(event)) return true;
    this.metrics.lost.inc();
    this.logger.error({ characters: event.length }, 'dropped a tracking event that is too large');
    return false;
  }

  private readonly flush = () => {
    this.isFlushScheduled = false;
    while (this.stream.isUnavailable || this.inFlight < MESSAGES_IN_FLIGHT) {
      const batch = this.waiting.takeBatch();
      if (!batch) return;
      this.unsettled.add(batch.durable);
      void (this.stream.isUnavailable ? this.keepLocally(batch) : this.publish(batch));
    }
  };

  private async publish(batch: Batch) {
    this.inFlight += 1;
    const stored = await this.stream.publish(toMessage(batch.events), ACK_TIMEOUT_MS);
    this.inFlight -= 1;
    if (stored) {
      this.metrics.published.inc(batch.events.length);
      this.settle(batch);
    } else void this.keepLocally(batch);
    this.flush();
  }

  private async keepLocally(batch: Batch) {
    if (!this.outbox.isUnavailable && (await this.outbox.write(batch.events, OUTBOX_TIMEOUT_MS))) {
      this.metrics.outboxed.inc(batch.events.length);
      this.relay.remember(batch.events);
      // The stream may have come back meanwhile.
      if (!this.stream.isUnavailable) this.relay.wake();
    } else {
      if (!this.outbox.isUnavailable)
        this.logger.error('neither the tracking stream nor the outbox accepts events');
      this.outbox.isUnavailable = true;
      this.relay.keepInMemory(batch.events);
    }
    this.settle(batch);
  }

  private settle(batch: Batch) {
    this.unsettled.delete(batch.durable);
    batch.settle();
  }

  private async close() {
    const deadline = Date.now() + SHUTDOWN_LIMIT_MS;
    const isLate = () => Date.now() >= deadline;
    // Each batch settles within the timeouts of the stream and the outbox.
    this.flush();
    while ((!this.waiting.isEmpty || this.unsettled.size > 0) && !isLate())
      await Promise.race([...this.unsettled, new Promise((resolve) => setTimeout(resolve, 20))]);
    this.stream.stop();
    await this.relay.stop(isLate);
    await this.outbox.close().catch(() => undefined);
  }
}
