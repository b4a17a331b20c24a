import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { ClientNats } from '@nestjs/microservices';
import { unavailable } from '@perkway/domain';
import { firstValueFrom, retry, timeout } from 'rxjs';
import { NATS_OPTIONS, natsConnectOptions, type NatsOptions } from './nats.service.js';

const REQUEST_TIMEOUT_MS = 1_000;

/** Asks another app over NATS: a timeout and one retry, then 503. */
@Injectable()
export class RpcClient implements OnModuleInit, OnApplicationShutdown {
  private readonly client: ClientNats;

  constructor(@Inject(NATS_OPTIONS) options: NatsOptions) {
    this.client = new ClientNats(natsConnectOptions(options));
  }

  onModuleInit() {
    // Waits for the broker in the background; requests meanwhile run into their timeout.
    this.client.connect().catch(() => undefined);
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

  // After the last request was answered.
  async onApplicationShutdown() {
    await this.client.close().catch(() => undefined);
  }
}
