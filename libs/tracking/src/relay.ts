import { isDatabaseGone } from '@perkway/platform';
import type { Logger } from 'pino';
import type { AtRiskBuffer } from './at-risk-buffer.js';
import { CommittedEvents } from './committed-events.js';
import type { Outbox } from './outbox.js';
import {
  CHARACTERS_PER_MESSAGE,
  EVENTS_PER_MESSAGE,
  splitIntoMessages,
  toMessage,
} from './tracking-messages.js';
import type { TrackingMetrics } from './tracking-metrics.js';
import type { TrackingStream } from './tracking-stream.js';

/** Background work can wait longer than requests. */
const BACKGROUND_TIMEOUT_MS = 2_000;
const BATCH = 500;
/** Interval between polls. They find rows of dead replicas and of transactions that commit after `wakeSoon` checked. */
const POLL_MS = 2_000;
/** Pause between full batches, so that a backlog does not starve current requests. */
const PAUSE_MS = 10;
const RETRY_MS = 500;

/**
 * Publishes events in the background that did not reach the stream at once: first those only in memory, then the
 * outbox.
 */
export class Relay {
  private isStopping = false;
  private isFailing = false;
  private isWoken = false;
  private endPoll: () => void = () => undefined;
  private readonly wakeTimers: (NodeJS.Timeout | undefined)[] = [];
  private readonly committed = new CommittedEvents();
  private running: Promise<void> = Promise.resolve();

  constructor(
    private readonly stream: TrackingStream,
    private readonly outbox: Outbox,
    private readonly buffer: AtRiskBuffer,
    private readonly metrics: TrackingMetrics,
    private readonly logger: Logger,
  ) {
    stream.on('back', () => this.wake());
    outbox.on('lost', () => this.republishCommitted());
  }

  start(): void {
    this.running = this.run();
  }

  /** Starts the next round now, unless the relay pauses after a batch or a failure. */
  wake(): void {
    this.isWoken = true;
    this.endPoll();
  }

  /**
   * Checks for rows after 25 and 250 ms, because nothing tells the relay when the caller's transaction commits. The next
   * poll finds rows that come later.
   */
  wakeSoon(): void {
    this.wakeAfter(0, 25);
    this.wakeAfter(1, 250);
  }

  /** Remembers events that were just written to the outbox. */
  remember(events: readonly string[]): void {
    this.committed.add(events);
  }

  /**
   * Publishes recently committed events from memory, because the database that takes over may lack them. Those that it
   * has are published twice and count once.
   */
  private republishCommitted(): void {
    const events = this.committed.takeAll();
    if (events.length === 0 || this.isStopping) return;
    this.logger.warn(
      { count: events.length },
      'the database is down: publishing the latest events from memory',
    );
    this.reportDropped(this.buffer.push(events));
    this.wake();
  }

  /**
   * Keeps events in memory that could not be written to the outbox. They are lost if the process dies before the relay
   * stores them.
   */
  keepInMemory(events: readonly string[]): void {
    this.metrics.atRisk.inc(events.length);
    this.reportDropped(this.buffer.push(events));
    this.wake();
  }

  /** Stores the events that are in memory, until `isLate`. Other replicas or the next start relay the outbox. */
  async stop(isLate: () => boolean): Promise<void> {
    this.isStopping = true;
    for (const timer of this.wakeTimers) clearTimeout(timer);
    // Wakes the loop even if it waits for its next poll.
    this.wake();
    await this.running;
    while (this.buffer.size > 0 && !isLate()) if (!(await this.drainBuffer())) break;
    if (this.buffer.size === 0) return;
    this.metrics.lost.inc(this.buffer.size);
    this.logger.error(
      { count: this.buffer.size },
      'stopped with tracking events only in memory: they are lost',
    );
  }

  private async run() {
    while (!this.isStopping) {
      let pause = POLL_MS;
      try {
        if (this.buffer.size > 0) pause = (await this.drainBuffer()) ? 0 : RETRY_MS;
        else {
          // Measured also while the stream is down, because the alert on the oldest event reports exactly that.
          const { events, oldestS } = await this.outbox.backlog();
          this.metrics.inOutbox.set(events);
          this.metrics.oldestInOutbox.set(oldestS);
          if (events > 0 && !this.stream.isUnavailable && (await this.drainOutbox())) pause = PAUSE_MS;
          this.isFailing = false;
        }
      } catch (err) {
        // Logged once per outage.
        if (!this.isFailing) this.logger.warn({ err }, 'cannot read the tracking outbox');
        // A busy database may be late once; failing twice in a row means that it may be lost.
        if (this.isFailing || isDatabaseGone(err)) this.republishCommitted();
        this.isFailing = true;
      }
      if (pause > 0) await this.wait(pause);
    }
  }

  /** @returns true if something was stored */
  private async drainBuffer(): Promise<boolean> {
    const events = this.buffer.take(EVENTS_PER_MESSAGE, CHARACTERS_PER_MESSAGE);
    if (events.length === 0) return false;
    if (!this.stream.isUnavailable && (await this.publish(events))) {
      this.metrics.published.inc(events.length);
      // The next event that needs the outbox tries it again.
      if (this.buffer.size === 0) this.outbox.isUnavailable = false;
      return true;
    }
    if (await this.outbox.write(events, BACKGROUND_TIMEOUT_MS)) {
      this.metrics.outboxed.inc(events.length);
      this.remember(events);
      if (this.outbox.isUnavailable) this.logger.info('the tracking outbox accepts events again');
      this.outbox.isUnavailable = false;
      return true;
    }
    this.reportDropped(this.buffer.putBack(events));
    return false;
  }

  /** @returns true if there may be more */
  private async drainOutbox(): Promise<boolean> {
    const { taken, delivered } = await this.outbox.relay(BATCH, async (events) => {
      const stored = await Promise.all(splitIntoMessages(events).map((message) => this.publish(message)));
      return stored.every(Boolean);
    });
    if (!delivered) return false;
    this.metrics.relayed.inc(taken);
    return taken === BATCH;
  }

  private publish(events: readonly string[]): Promise<boolean> {
    return this.stream.publish(toMessage(events), BACKGROUND_TIMEOUT_MS);
  }

  private reportDropped(count: number) {
    if (count === 0) return;
    this.metrics.lost.inc(count);
    this.logger.error({ count }, 'the tracking buffer is full; dropped the oldest events');
  }

  private wakeAfter(slot: number, delayMs: number) {
    this.wakeTimers[slot] ??= setTimeout(() => {
      this.wakeTimers[slot] = undefined;
      this.wake();
    }, delayMs).unref();
  }

  /** Waits. `wake` ends the wait for the next poll, but not the pause after a batch or a failure. */
  private async wait(pauseMs: number) {
    const isPoll = pauseMs === POLL_MS;
    if (!(isPoll && this.isWoken))
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, pauseMs).unref();
        if (isPoll)
          this.endPoll = () => {
            clearTimeout(timer);
            resolve();
          };
      });
    this.endPoll = () => undefined;
    this.isWoken = false;
  }
}
