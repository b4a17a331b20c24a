import {
  createInbox,
  nanos,
  type Msg,
  type NatsConnection,
  type Subscription,
} from '@nats-io/transport-node';
import { inboxPrefix, TRACKING_CONSUMER } from '@perkway/domain';

/** A message of the stream and what can be said to the broker about it. */
export interface StreamMessage {
  data: Uint8Array;
  /** Its number in the stream. */
  sequence: number;
  ack(): void;
  /** @param delayMs after which it is delivered again */
  nak(delayMs?: number): void;
  /** It is not forgotten: the acknowledgement time begins anew. */
  working(): void;
}

export interface PullLimits {
  messages: number;
  /** Of the messages with their subjects and headers; one that is larger is never delivered. */
  bytes: number;
  expiresMs: number;
}

/** Nothing was heard for this long, neither message nor heartbeat: the broker is gone, or the consumer. */
const SILENCE_MS = 4_000;
const HEARTBEAT_MS = 500;
/** No messages, the time is over, or the next message is beyond the bytes asked for. */
const ENDS = [404, 408, 409];
const TOO_LARGE = /maxbytes/i;
const HEARTBEAT = 100;

/**
 * One request for messages, with a limit of both their number and their bytes, of which the client's own `fetch` takes only
 * one: bytes, so that a burst of large messages does not come faster than it is read, and the broker hangs up.
 */
export class Pull {
  private subscription?: Subscription;

  constructor(
    private readonly connection: NatsConnection,
    private readonly stream: string,
  ) {}

  /**
   * Resolves when the request has ended and all that the broker sent for it has been handed over.
   * @throws when the broker says nothing, or that there is no consumer
   */
  async run({ messages, bytes, expiresMs }: PullLimits, onMessage: (message: StreamMessage) => void) {
    const inbox = createInbox(inboxPrefix('analytics-query'));
    let received = 0;
    // By a callback: an iterator costs a promise for each message.
    await new Promise<void>((resolve, reject) => {
      const subscription = this.connection.subscribe(inbox, {
        callback: (error, message) => {
          if (error) return reject(error);
          silence.refresh();
          const status = message.data.length === 0 ? message.headers?.code : undefined;
          if (status === HEARTBEAT) return;
          if (status) {
            if (ENDS.includes(status) && !isLoss(message)) return resolve();
            return reject(new Error(`the broker answered ${status} ${message.headers?.description}`));
          }
          onMessage(new PulledMessage(message));
          if ((received += 1) === messages) resolve();
        },
      });
      this.subscription = subscription;
      const silence = setTimeout(() => subscription.unsubscribe(), SILENCE_MS);
      void subscription.closed.then(() => {
        clearTimeout(silence);
        reject(new Error('the broker does not answer a request for messages'));
      });
      this.connection.publish(
        `$JS.API.CONSUMER.MSG.NEXT.${this.stream}.${TRACKING_CONSUMER}`,
        JSON.stringify({
          batch: messages,
          max_bytes: bytes,
          expires: nanos(expiresMs),
          idle_heartbeat: nanos(HEARTBEAT_MS),
        }),
        { reply: inbox },
      );
    }).finally(() => this.close());
  }

  /** Gives the request up. What was on its way is delivered again later. */
  close(): void {
    this.subscription?.unsubscribe();
  }
}

/** 409 stands for the end by size and for a consumer that was deleted meanwhile. */
const isLoss = ({ headers }: Msg): boolean => headers?.code === 409 && !TOO_LARGE.test(headers.description);

class PulledMessage implements StreamMessage {
  constructor(private readonly message: Msg) {}

  get data(): Uint8Array {
    return this.message.data;
  }

  /** `$JS.ACK.<stream>.<consumer>.<deliveries>.<sequence>...`, before the stream the domain and account where there are such. */
  get sequence(): number {
    const tokens = (this.message.reply ?? '').split('.');
    return Number(tokens[tokens.length > 9 ? 7 : 5]);
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
