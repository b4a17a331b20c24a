import {
  createInbox,
  nanos,
  type Msg,
  type NatsConnection,
  type Subscription,
} from '@nats-io/transport-node';
import { inboxPrefix, sourceOf, TRACKING_SOURCE_HEADER } from '@perkway/domain';

/** A message of the stream, and how to acknowledge it. */
export interface StreamMessage {
  data: Uint8Array;
  /** The subject that it was first published to. */
  source: string;
  /** Its sequence number in the stream. */
  sequence: number;
  /** When the stream stored it, epoch milliseconds. */
  storedAt: number;
  /** Messages that wait behind it. */
  pending: number;
  ack(): void;
  /** @param delayMs delay until it is redelivered */
  nak(delayMs?: number): void;
  /** Tells the broker that it is in progress: restarts the acknowledgement timeout. */
  working(): void;
}

export interface PullLimits {
  messages: number;
  /** Counts subjects and headers too; a larger message is never delivered. */
  bytes: number;
  expiresMs: number;
}

/** After this long without a message or heartbeat, the broker or the consumer is considered gone. */
const SILENCE_MS = 4_000;
/** Interval of heartbeats. The broker accepts no more than half the expiry of a fetch, so short fetches use that. */
const MAX_HEARTBEAT_MS = 1_500;
/**
 * If the broker sends no end, a fetch ends this long after its expiry: there is none if messages are delivered at the
 * moment of expiry. Long enough for messages that a busy process has not read yet.
 */
const END_GRACE_MS = 1_000;
/** No messages, expired, or the next message exceeds the requested bytes. */
const ENDS = [404, 408, 409];
const TOO_LARGE = /maxbytes/i;
const HEARTBEAT = 100;
/** From nanoseconds to milliseconds. */
const NANOSECOND_DIGITS = 6;

/**
 * One fetch with limits on both messages and bytes; the client's own `fetch` takes only one of them. The limit on bytes
 * keeps a burst of large messages from arriving faster than it is read, which would make the broker close the
 * connection.
 */
export class Pull {
  private subscription?: Subscription;
  private isEnding = false;

  constructor(
    private readonly connection: NatsConnection,
    private readonly app: string,
    private readonly stream: string,
    private readonly consumer: string,
  ) {}

  /**
   * Resolves when the fetch has ended and all its messages have been handed over.
   * @throws if the broker is silent, or there is no consumer
   */
  async run({ messages, bytes, expiresMs }: PullLimits, onMessage: (message: StreamMessage) => void) {
    const inbox = createInbox(inboxPrefix(this.app));
    let received = 0;
    // A callback, because an iterator costs a promise per message.
    await new Promise<void>((resolve, reject) => {
      let hasResponded = false;
      const subscription = this.connection.subscribe(inbox, {
        callback: (error, message) => {
          if (error) return reject(error);
          silence.refresh();
          hasResponded = true;
          const status = message.data.length === 0 ? message.headers?.code : undefined;
          if (status === HEARTBEAT) return;
          if (status) {
            if (ENDS.includes(status) && !isLoss(message)) return resolve();
            return reject(new Error(`the broker responded with ${status} ${message.headers?.description}`));
          }
          onMessage(new PulledMessage(message));
          if ((received += 1) === messages) resolve();
        },
      });
      this.subscription = subscription;
      const silence = setTimeout(() => subscription.unsubscribe(), SILENCE_MS);
      const end = setTimeout(() => hasResponded && resolve(), expiresMs + END_GRACE_MS);
      void subscription.closed.then(() => {
        clearTimeout(silence);
        clearTimeout(end);
        if (this.isEnding) resolve();
        else reject(new Error('the broker does not respond to a fetch'));
      });
      this.connection.publish(
        `$JS.API.CONSUMER.MSG.NEXT.${this.stream}.${this.consumer}`,
        JSON.stringify({
          batch: messages,
          max_bytes: bytes,
          expires: nanos(expiresMs),
          idle_heartbeat: nanos(Math.min(MAX_HEARTBEAT_MS, expiresMs / 2)),
        }),
        { reply: inbox },
      );
    }).finally(() => this.close());
  }

  /** Ends the fetch soon. Messages that the broker has already sent are still handed over. */
  end(): void {
    this.isEnding = true;
    this.subscription?.drain().catch(() => this.close());
  }

  /** Cancels the fetch. Messages in flight are redelivered later. */
  close(): void {
    this.subscription?.unsubscribe();
  }
}

/** 409 means that the byte limit was reached, or that the consumer was deleted. */
const isLoss = ({ headers }: Msg): boolean => headers?.code === 409 && !TOO_LARGE.test(headers.description);

class PulledMessage implements StreamMessage {
  constructor(private readonly message: Msg) {}

  get data(): Uint8Array {
    return this.message.data;
  }

  get source(): string {
    return sourceOf(this.message.subject, this.message.headers?.get(TRACKING_SOURCE_HEADER));
  }

  get sequence(): number {
    return Number(this.token(1));
  }

  get storedAt(): number {
    return Number(this.token(3).slice(0, -NANOSECOND_DIGITS));
  }

  get pending(): number {
    return Number(this.token(4));
  }

  /**
   * Returns a token of `$JS.ACK.<stream>.<consumer>.<deliveries>.<sequence>.<consumer sequence>.<time>.<pending>`. The
   * deliveries have index 0. Domain and account precede the stream if there are any.
   */
  private token(index: number): string {
    const tokens = (this.message.reply ?? '').split('.');
    return tokens[(tokens.length > 9 ? 6 : 4) + index] ?? '';
  }

  ack() {
    this.message.respond('+ACK');
  }

  nak(delayMs?: number) {
    this.message.respond(
      delayMs === undefined ? '-NAK' : `-NAK ${JSON.stringify({ delay: nanos(delayMs) })}`,
    );
  }

  working() {
    this.message.respond('+WPI');
  }
}
