import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { ClientNats } from '@nestjs/microservices';
import { unavailable } from '@perkway/domain';
import { firstValueFrom, retry, timeout } from 'rxjs';
import { APP_NAME } from '../config/app-tokens.js';
import { inboxPrefix, NatsService } from './nats.service.js';

const REQUEST_TIMEOUT_MS = 1_000;

/** Nest's NATS client over the app's own connection, which looks after itself. */
class SharedConnectionClient extends ClientNats {
  constructor(
    private readonly nats: NatsService,
    app: string,
  ) {
    super({ inboxPrefix: inboxPrefix(app) });
  }

  override async connect() {
    this.natsClient = await this.nats.connected();
    return this.natsClient;
  }
}

/** Asks another app over NATS: a timeout and one retry, then 503. */
@Injectable()
export class RpcClient implements OnApplicationShutdown {
  private readonly client: SharedConnectionClient;

  constructor(@Inject(NatsService) nats: NatsService, @Inject(APP_NAME) app: string) {
    this.client = new SharedConnectionClient(nats, app);
  }

  /**
   * @param subject one of `SUBJECTS` of the domain library
   * @param owner how the answering app is named in the error
   * @throws DomainError DEPENDENCY_UNAVAILABLE when nobody answers in time
   */
  async request<Reply>(
    subject: string,
    data: object,
    owner: string,
    timeoutMs = REQUEST_TIMEOUT_MS,
  ): Promise<Reply> {
    try {
      return await firstValueFrom(this.client.send<Reply>(subject, data).pipe(timeout(timeoutMs), retry(1)));
    } catch {
      throw unavailable(owner);
    }
  }

  onApplicationShutdown() {
    this.client.handleClose();
  }
}
