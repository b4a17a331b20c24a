import { inboxPrefix, trackingSubject } from '@perkway/domain';
import type { NatsService } from '@perkway/platform';
import { EventEmitter } from 'node:events';
import type { Logger } from 'pino';
import { NO_EVENTS } from './tracking-messages.js';

type Connection = NonNullable<NatsService['current']>;

/** Requests wait this long for an acknowledgement. A stream that takes longer counts as down. */
export const ACK_TIMEOUT_MS = 75;
const PROBE_TIMEOUT_MS = 2_000;
const FIRST_PROBE_MS = 50;
const MAX_PROBE_MS = 500;

/**
 * The app's subject in JetStream. A circuit breaker keeps requests from waiting for a stream that is down: any failure
 * opens it, and only a background probe closes it. Emits `back` then.
 *
 * Uses one subscription and a reply subject per message instead of `JetStreamClient.publish`, which costs about 43 us
 * per message.
 */
export class TrackingStream extends EventEmitter<{ back: [] }> {
  private readonly subject: string;
  private readonly replyPrefix: string;
  private connection: Connection | null = null;
  private counter = 0;
  /** Messages in flight by reply token; called with whether the stream has stored the message. */
  private readonly awaited = new Map<string, (stored: boolean) => void>();

  private unavailable = true;
  private isProbing = false;
  private isStopped = false;
  private probeDelay = FIRST_PROBE_MS;
  private probeTimer: NodeJS.Timeout | undefined;

  constructor(
    private readonly nats: NatsService,
    app: string,
    private readonly logger: Logger,
  ) {
    super();
    this.subject = trackingSubject(app);
    this.replyPrefix = `${inboxPrefix(app)}.tracking.${Math.random().toString(36).slice(2, 12)}.`;
  }

  get isUnavailable(): boolean {
    return this.unavailable;
  }

  /** Follows the app's connection, which reconnects by itself, until the app closes it. */
  async run(): Promise<void> {
    try {
      await this.follow(await this.nats.connected());
    } catch (err) {
      this.logger.error({ err }, 'tracking cannot use the NATS connection');
    }
    this.lose();
  }

  /** Stops probing. */
  stop(): void {
    this.isStopped = true;
    clearTimeout(this.probeTimer);
  }

  /**
   * @returns true if the stream has stored the message; false if it timed out, was refused, or the stream is missing or
   * unreachable. A message that timed out may still arrive.
   */
  async publish(payload: Uint8Array, timeoutMs: number): Promise<boolean> {
    const isStored = await this.send(payload, timeoutMs);
    if (!isStored) this.markUnavailable('no acknowledgement');
    return isStored;
  }

  private send(payload: Uint8Array, timeoutMs: number): Promise<boolean> {
    const { connection } = this;
    if (!connection) return Promise.resolve(false);
    return new Promise((resolve) => {
      const token = (this.counter++).toString(36);
      const settle = (stored: boolean) => {
        clearTimeout(timer);
        this.awaited.delete(token);
        resolve(stored);
      };
      // After a long event-loop iteration, timers run before acknowledgements that have already arrived are read, so
      // give up only after reading them: setImmediate runs after the I/O of this iteration.
      const timer = setTimeout(() => setImmediate(() => this.awaited.get(token)?.(false)), timeoutMs);
      this.awaited.set(token, settle);
      try {
        connection.publish(this.subject, payload, { reply: this.replyPrefix + token });
      } catch (err) {
        this.logger.warn({ err }, 'cannot publish tracking events');
        settle(false);
      }
    });
  }

  private async follow(connection: Connection) {
    connection.subscribe(`${this.replyPrefix}*`, {
      callback: (error, message) => {
        if (error) return;
        this.awaited.get(message.subject.slice(this.replyPrefix.length))?.(isAcknowledged(message.data));
      },
    });
    this.use(connection);
    for await (const { type } of connection.status())
      if (type === 'disconnect') this.lose();
      else if (type === 'reconnect') this.use(connection);
  }

  /** Starts to use the connection. The stream counts as down until a probe succeeds. */
  private use(connection: Connection) {
    this.connection = connection;
    this.probeIn(0);
  }

  private lose() {
    if (!this.connection) return;
    this.connection = null;
    this.markUnavailable('the connection is lost');
    for (const settle of [...this.awaited.values()]) settle(false);
  }

  private markUnavailable(reason: string) {
    if (!this.unavailable) {
      this.unavailable = true;
      if (!this.isStopped) this.logger.warn({ reason }, 'tracking stream is down, events go to the outbox');
      this.probeDelay = FIRST_PROBE_MS;
    }
    this.probeIn(this.probeDelay);
  }

  private probeIn(delayMs: number) {
    if (this.isProbing || !this.unavailable || this.isStopped) return;
    clearTimeout(this.probeTimer);
    this.probeTimer = setTimeout(() => void this.probe(), delayMs).unref();
  }

  /** Publishes a message without events, which proves the whole path: connection, stream, room in it. */
  private async probe() {
    if (this.isProbing) return;
    this.isProbing = true;
    const startedAt = performance.now();
    const isStored = await this.send(NO_EVENTS, PROBE_TIMEOUT_MS);
    this.isProbing = false;
    if (isStored && performance.now() - startedAt <= ACK_TIMEOUT_MS) {
      this.unavailable = false;
      this.probeDelay = FIRST_PROBE_MS;
      this.logger.info('the tracking stream accepts events again');
      this.emit('back');
    } else {
      this.probeDelay = Math.min(this.probeDelay * 2, MAX_PROBE_MS);
      this.probeIn(this.probeDelay);
    }
  }
}

/**
 * Success is `{"stream":"TRACKING_EVENTS","seq":1}`. An error has a member `error`; "no responders" (503) has an empty
 * body.
 */
const isAcknowledged = (body: Uint8Array): boolean => {
  if (body.length === 0) return false;
  try {
    const reply = JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.length).toString()) as {
      error?: unknown;
      stream?: unknown;
    };
    return !reply.error && typeof reply.stream === 'string' && reply.stream !== '';
  } catch {
    return false;
  }
};
