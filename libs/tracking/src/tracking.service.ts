import { Inject, Injectable, Optional, type OnModuleInit } from '@nestjs/common';
import { trackingSubject, type TrackingEvent } from '@perkway/domain';
import { APP_NAME, ENV, inboxPrefix, LOGGER, NatsService } from '@perkway/platform';
import type { Logger } from 'pino';
import { Counter, Gauge, Registry } from 'prom-client';
import { AtRiskBuffer } from './at-risk-buffer.js';
import { Outbox, type SqlRunner } from './outbox.js';
import { StreamPublisher } from './stream-publisher.js';

/** Injects other bounds of the buffer for events that neither stream nor outbox could take. */
export const TRACKING_BUFFER = Symbol('TRACKING_BUFFER');
export interface TrackingBuffer {
  maxEvents: number;
  maxCharacters: number;
}
const DEFAULT_BUFFER: TrackingBuffer = { maxEvents: 100_000, maxCharacters: 32 * 1024 * 1024 };

/** How long a customer waits for the stream before the event goes to the outbox. */
const ACK_TIMEOUT_MS = 75;
/** How long a customer waits for the outbox before the event goes to the buffer. */
const OUTBOX_TIMEOUT_MS = 400;
/** In the background nobody waits. */
const BACKGROUND_TIMEOUT_MS = 2_000;
const SHUTDOWN_LIMIT_MS = 4_000;

/** Messages that wait for an acknowledgement; events that arrive meanwhile share the next one. */
const MESSAGES_IN_FLIGHT = 8;
const EVENTS_PER_MESSAGE = 1_000;
/** UTF-16 units, at most 3 bytes each: stays under the broker's max_payload of 1 MB. */
const CHARACTERS_PER_MESSAGE = 250_000;
const MAX_EVENT_BYTES = 900_000;

const RELAY_BATCH = 500;
/** Rows of a replica that died, and of transactions that took longer than the nudges, are found this often. */
const RELAY_POLL_MS = 2_000;
/** Between full batches: a backlog must not starve the customers of this moment. */
const RELAY_PAUSE_MS = 10;
const RETRY_MS = 500;
const FIRST_PROBE_MS = 50;
const MAX_PROBE_MS = 500;

const NO_EVENTS = Buffer.from('{"events":[]}');
const toMessage = (events: readonly string[]): Buffer => Buffer.from(`{"events":[${events.join(',')}]}`);

/** Events that share one message and one promise. */
interface Batch {
  events: string[];
  characters: number;
  durable: Promise<void>;
  resolve: () => void;
}

const newBatch = (): Batch => {
  let resolve!: () => void;
  const durable = new Promise<void>((done) => (resolve = done));
  return { events: [], characters: 0, durable, resolve };
};

/**
 * Takes events until they are durable: acknowledged by JetStream or, when that does not answer, written to the app's
 * own outbox, which is relayed later. While the stream is away (the breaker is open) events go straight to the
 * outbox; only a probe in the background closes the breaker again. Every event arrives at least once; the store
 * counts (account, at, id) once, so a message needs no id of its own and a late arrival does no harm.
 */
@Injectable()
export class TrackingService implements OnModuleInit {
  private readonly publisher: StreamPublisher;
  private readonly outbox: Outbox;
  private readonly buffer: AtRiskBuffer;

  private readonly batches: Batch[] = [];
  private readonly unsettled = new Set<Promise<void>>();
  private isFlushScheduled = false;
  private inFlight = 0;

  private isOpen = true;
  private isProbing = false;
  private probeDelay = FIRST_PROBE_MS;
  private probeTimer: NodeJS.Timeout | undefined;
  private isOutboxAway = false;

  private closing = false;
  private isRelayFailing = false;
  private wakeRelay: () => void = () => undefined;
  private hasNews = false;
  private readonly nudges: (NodeJS.Timeout | undefined)[] = [];
  private background: Promise<void> = Promise.resolve();

  private readonly published: Counter;
  private readonly outboxed: Counter;
  private readonly relayed: Counter;
  private readonly atRisk: Counter;
  private readonly lost: Counter;
  private readonly oldestInOutbox: Gauge;

  constructor(
    // The subject in the stream is `tracking.<app>`.
    @Inject(APP_NAME) app: string,
    // The outbox has a pool of its own, so that an app can track without a data source.
    @Inject(ENV) { DATABASE_URL }: { DATABASE_URL: string },
    private readonly nats: NatsService,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(Registry) registry: Registry,
    @Optional() @Inject(TRACKING_BUFFER) { maxEvents, maxCharacters }: TrackingBuffer = DEFAULT_BUFFER,
  ) {
    this.publisher = new StreamPublisher(nats, trackingSubject(app), inboxPrefix(app), logger, {
      onLost: () => this.open('the connection is lost'),
      onConnected: () => this.probeSoon(0),
    });
    this.outbox = new Outbox(DATABASE_URL, app);
    this.buffer = new AtRiskBuffer(maxEvents, maxCharacters);

    const counter = (name: string, help: string) => new Counter({ name, help, registers: [registry] });
    this.published = counter('tracking_published_total', 'Events acknowledged by the stream at once');
    this.outboxed = counter('tracking_outboxed_total', 'Events written to the outbox instead');
    this.relayed = counter('tracking_relayed_total', 'Events that followed from the outbox to the stream');
    this.atRisk = counter('tracking_at_risk_total', 'Events answered while they were in memory only');
    this.lost = counter(
      'tracking_lost_total',
      'Events dropped: the buffer was full, or too large to be sent',
    );
    this.oldestInOutbox = new Gauge({
      name: 'tracking_outbox_oldest_seconds',
      help: 'Age of the oldest event in the outbox at the last look',
      registers: [registry],
    });
    new Gauge({
      name: 'tracking_buffered',
      help: 'Events that are in memory only',
      registers: [registry],
      collect: gaugeOf(() => this.buffer.size),
    });
    new Gauge({
      name: 'tracking_breaker_open',
      help: '1 while the stream is taken to be away',
      registers: [registry],
      collect: gaugeOf(() => Number(this.isOpen)),
    });
  }

  onModuleInit() {
    void this.publisher.run();
    this.background = this.work();
    // After the last request was answered, before the connections close.
    this.nats.beforeClose(() => this.close());
  }

  /** Resolves when the event is durable, within well under a second whatever is away; never rejects. */
  track(event: TrackingEvent): Promise<void> {
    return this.trackSerialized(JSON.stringify(event));
  }

  /** `track` for an event whose JSON text is at hand. */
  trackSerialized(event: string): Promise<void> {
    if (!this.isSendable(event)) return Promise.resolve();
    let batch = this.batches.at(-1);
    const isFull =
      batch !== undefined &&
      (batch.events.length >= EVENTS_PER_MESSAGE || batch.characters + event.length > CHARACTERS_PER_MESSAGE);
    if (!batch || isFull) {
      batch = newBatch();
      this.batches.push(batch);
    }
    batch.events.push(event);
    batch.characters += event.length;
    // An immediate runs after all requests that were read in this turn of the event loop, so they share a message.
    if (!this.isFlushScheduled) {
      this.isFlushScheduled = true;
      setImmediate(this.flush);
    }
    return batch.durable;
  }

  /**
   * Writes the events in the caller's transaction, so that they exist if and only if it commits; they are relayed soon
   * after. Rejects as any statement of that transaction does.
   */
  async trackInTransaction(runner: SqlRunner, events: readonly TrackingEvent[]): Promise<void> {
    const texts = events.map((event) => JSON.stringify(event)).filter((text) => this.isSendable(text));
    if (texts.length === 0) return;
    await Outbox.insertInto(runner, texts);
    this.relaySoon();
  }

  /**
   * For a statement of the app's own that inserts into `tracking_outbox (event)`, each the JSON text of an event: has
   * them relayed soon. Without it they wait for the next poll.
   */
  relaySoon(): void {
    // The commit comes later, and nobody tells: look twice, the rest is found by the next poll.
    this.nudge(0, 25);
    this.nudge(1, 250);
  }

  private isSendable(event: string): boolean {
    if (event.length < CHARACTERS_PER_MESSAGE || Buffer.byteLength(event) <= MAX_EVENT_BYTES) return true;
    this.lost.inc();
    this.logger.error({ characters: event.length }, 'a tracking event is too large and was dropped');
    return false;
  }

  private readonly flush = () => {
    this.isFlushScheduled = false;
    while (this.batches.length > 0 && (this.isOpen || this.inFlight < MESSAGES_IN_FLIGHT)) {
      const batch = this.batches.shift()!;
      this.unsettled.add(batch.durable);
      void (this.isOpen ? this.keepLocally(batch) : this.publish(batch));
    }
  };

  private async publish(batch: Batch) {
    this.inFlight += 1;
    const stored = await this.publisher.publish(toMessage(batch.events), ACK_TIMEOUT_MS);
    this.inFlight -= 1;
    if (stored) {
      this.published.inc(batch.events.length);
      this.settle(batch);
    } else {
      this.open('it does not acknowledge');
      void this.keepLocally(batch);
    }
    this.flush();
  }

  private async keepLocally(batch: Batch) {
    if (!this.isOutboxAway && (await this.outbox.write(batch.events, OUTBOX_TIMEOUT_MS))) {
      this.outboxed.inc(batch.events.length);
      // The breaker may have closed while this was written.
      if (!this.isOpen) this.wake();
    } else {
      if (!this.isOutboxAway) this.logger.error('neither the tracking stream nor the outbox takes events');
      this.isOutboxAway = true;
      this.atRisk.inc(batch.events.length);
      this.drop(this.buffer.push(batch.events));
      this.wake();
    }
    this.settle(batch);
  }

  private settle(batch: Batch) {
    this.unsettled.delete(batch.durable);
    batch.resolve();
  }

  private drop(count: number) {
    if (count === 0) return;
    this.lost.inc(count);
    this.logger.error({ count }, 'the tracking buffer is full, the oldest events are lost');
  }

  // ---- the breaker

  private open(reason: string) {
    if (!this.isOpen) {
      this.isOpen = true;
      if (!this.closing) this.logger.warn({ reason }, 'tracking stream away, events go to the outbox');
      this.probeDelay = FIRST_PROBE_MS;
    }
    this.probeSoon(this.probeDelay);
    if (this.batches.length > 0) this.flush();
  }

  private probeSoon(delayMs: number) {
    if (this.isProbing || !this.isOpen || this.closing) return;
    clearTimeout(this.probeTimer);
    this.probeTimer = setTimeout(() => void this.probe(), delayMs).unref();
  }

  /** An empty message proves the whole way: connection, stream, room in it. Its consumer stores nothing of it. */
  private async probe() {
    if (this.isProbing) return;
    this.isProbing = true;
    const startedAt = performance.now();
    const isStored = await this.publisher.publish(NO_EVENTS, BACKGROUND_TIMEOUT_MS);
    this.isProbing = false;
    // A stream that answers too late for a customer is as good as away.
    if (isStored && performance.now() - startedAt <= ACK_TIMEOUT_MS) {
      this.isOpen = false;
      this.probeDelay = FIRST_PROBE_MS;
      this.logger.info('tracking stream takes events');
      this.wake();
    } else {
      this.probeDelay = Math.min(this.probeDelay * 2, MAX_PROBE_MS);
      this.probeSoon(this.probeDelay);
    }
  }

  // ---- the background: first what is in memory only, then the outbox

  private async work() {
    while (!this.closing) {
      let pause = RELAY_POLL_MS;
      try {
        if (this.buffer.size > 0) pause = (await this.drainBuffer()) ? 0 : RETRY_MS;
        else if (!this.isOpen) pause = (await this.relay()) ? RELAY_PAUSE_MS : RELAY_POLL_MS;
        this.isRelayFailing = false;
      } catch (err) {
        // Once per outage: the other attempts would say the same.
        if (!this.isRelayFailing) this.logger.warn({ err }, 'cannot read the tracking outbox');
        this.isRelayFailing = true;
      }
      if (pause > 0) await this.rest(pause);
    }
  }

  /** @returns true if something was stored */
  private async drainBuffer(): Promise<boolean> {
    const events = this.buffer.take(EVENTS_PER_MESSAGE, CHARACTERS_PER_MESSAGE);
    if (events.length === 0) return false;
    if (!this.isOpen) {
      if (await this.publisher.publish(toMessage(events), BACKGROUND_TIMEOUT_MS)) {
        this.published.inc(events.length);
        // The next event that needs the outbox tries it again.
        if (this.buffer.size === 0) this.isOutboxAway = false;
        return true;
      }
      this.open('it does not acknowledge');
    }
    if (await this.outbox.write(events, BACKGROUND_TIMEOUT_MS)) {
      this.outboxed.inc(events.length);
      if (this.isOutboxAway) this.logger.info('the tracking outbox takes events');
      this.isOutboxAway = false;
      return true;
    }
    this.drop(this.buffer.putBack(events));
    return false;
  }

  /** @returns true if there may be more */
  private async relay(): Promise<boolean> {
    const { taken, delivered, oldestAge } = await this.outbox.relay(RELAY_BATCH, (events) =>
      this.deliver(events),
    );
    this.oldestInOutbox.set(oldestAge);
    if (!delivered) {
      this.open('it does not acknowledge');
      return false;
    }
    this.relayed.inc(taken);
    return taken === RELAY_BATCH;
  }

  private async deliver(events: string[]): Promise<boolean> {
    const messages: string[][] = [];
    let characters = Infinity;
    for (const event of events) {
      if (characters + event.length > CHARACTERS_PER_MESSAGE) {
        messages.push([]);
        characters = 0;
      }
      messages.at(-1)!.push(event);
      characters += event.length;
    }
    const stored = await Promise.all(
      messages.map((message) => this.publisher.publish(toMessage(message), BACKGROUND_TIMEOUT_MS)),
    );
    return stored.every(Boolean);
  }

  private nudge(slot: number, delayMs: number) {
    this.nudges[slot] ??= setTimeout(() => {
      this.nudges[slot] = undefined;
      this.wake();
    }, delayMs).unref();
  }

  private wake() {
    this.hasNews = true;
    this.wakeRelay();
  }

  /** Waits; a poll is cut short by news, a pause after a batch or a failure is not. */
  private async rest(pauseMs: number) {
    const isPoll = pauseMs === RELAY_POLL_MS;
    if (!(isPoll && this.hasNews))
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, pauseMs).unref();
        if (isPoll)
          this.wakeRelay = () => {
            clearTimeout(timer);
            resolve();
          };
      });
    this.wakeRelay = () => undefined;
    this.hasNews = false;
  }

  private async close() {
    const deadline = Date.now() + SHUTDOWN_LIMIT_MS;
    const isLate = () => Date.now() >= deadline;
    // Each of them is settled within the ack and outbox timeouts.
    this.flush();
    while ((this.batches.length > 0 || this.unsettled.size > 0) && !isLate())
      await Promise.race([...this.unsettled, new Promise((resolve) => setTimeout(resolve, 20))]);
    this.closing = true;
    clearTimeout(this.probeTimer);
    for (const nudge of this.nudges) clearTimeout(nudge);
    this.wakeRelay();
    await this.background;
    while (this.buffer.size > 0 && !isLate()) if (!(await this.drainBuffer())) break;
    if (this.buffer.size > 0) {
      this.lost.inc(this.buffer.size);
      this.logger.error({ count: this.buffer.size }, 'stopping with tracking events in memory only: lost');
    }
    await this.outbox.close().catch(() => undefined);
  }
}

function gaugeOf(value: () => number) {
  return function collect(this: Gauge) {
    this.set(value());
  };
}
