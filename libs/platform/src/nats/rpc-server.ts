import { ServerNats } from '@nestjs/microservices';
import type { NatsConnection, Subscription } from '@nats-io/transport-node';
import type { NatsService } from './nats.service.js';
import { isTooLarge, refusal } from './rpc-failure.js';

/**
 * Nest's NATS server over the app's own connection. Replicas of an app share its requests (queue group). It begins to
 * answer when the broker has been reached, and stops before the app closes.
 */
export class RpcServer extends ServerNats {
  private readonly answering: Subscription[] = [];

  constructor(
    private readonly nats: NatsService,
    app: string,
  ) {
    super({ queue: app });
  }

  override async listen(callback: (error?: unknown) => void) {
    this.bindEvents(await this.nats.connected());
    callback();
  }

  override bindEvents(connection: Pick<NatsConnection, 'subscribe'>) {
    super.bindEvents({
      subscribe: (...args: Parameters<NatsConnection['subscribe']>) => {
        const subscription = connection.subscribe(...args);
        this.answering.push(subscription);
        return subscription;
      },
    });
  }

  /** An answer that is too large for a message is a fault of this app: without any, its asker would take it for away. */
  override getPublisher(...args: Parameters<ServerNats['getPublisher']>) {
    const publish = super.getPublisher(...args);
    return (answer: object) => {
      try {
        publish(answer);
      } catch (error) {
        if (!isTooLarge(error)) throw error;
        this.logger.error(error);
        publish({ err: refusal('PAYLOAD_TOO_LARGE'), isDisposed: true });
      }
    };
  }

  override async close() {
    for (const subscription of this.answering.splice(0)) subscription.unsubscribe();
  }
}
