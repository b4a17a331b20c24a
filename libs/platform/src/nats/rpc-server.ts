import { ServerNats } from '@nestjs/microservices';
import type { NatsConnection, Subscription } from '@nats-io/transport-node';
import type { NatsService } from './nats.service.js';
import { isTooLarge, refusal } from './rpc-failure.js';

/**
 * Nest's NATS server over the app's own connection. Replicas of an app share its requests (queue group). Subscribes
 * once the broker is connected, and unsubscribes before the app closes.
 */
export class RpcServer extends ServerNats {
  private readonly ownSubscriptions: Subscription[] = [];

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
        this.ownSubscriptions.push(subscription);
        return subscription;
      },
    });
  }

  /**
   * Replies with an error if a reply is too large for one message. Without any reply, the caller would consider this
   * app unavailable.
   */
  override getPublisher(...args: Parameters<ServerNats['getPublisher']>) {
    const publish = super.getPublisher(...args);
    return (response: object) => {
      try {
        publish(response);
      } catch (error) {
        if (!isTooLarge(error)) throw error;
        this.logger.error(error);
        publish({ err: refusal('PAYLOAD_TOO_LARGE'), isDisposed: true });
      }
    };
  }

  override async close() {
    for (const subscription of this.ownSubscriptions.splice(0)) subscription.unsubscribe();
  }
}
