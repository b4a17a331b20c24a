import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { jetstream, jetstreamManager, type JetStreamClient, type JetStreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { APP_NAME, ENV } from '../config/app-tokens.js';
import type { PlatformEnv } from '../config/load-env.js';
import { LOGGER } from '../logging/logger.js';
import { asNatsRefusal, natsConnectOptions, type NatsRefusal } from './connect-options.js';

const FIRST_CONNECT_RETRY_MS = 500;

/**
 * The app's one connection, for JetStream and for request/reply. The app starts and stays up without a broker:
 * `current` is null until the broker has been reached for the first time. A broker that refuses it then is another
 * matter: `refused` tells.
 */
@Injectable()
export class NatsService implements OnModuleInit, OnApplicationShutdown {
  private connection: NatsConnection | null = null;
  private client: JetStreamClient | null = null;
  private closed = false;
  private readonly waiting: ((connection: NatsConnection) => void)[] = [];
  private readonly lastWork: (() => Promise<void>)[] = [];
  private refuse: (refusal: NatsRefusal) => void = () => undefined;

  /** Resolves if the broker refuses the app before it was ever connected: nothing but a new start helps. */
  readonly refused = new Promise<NatsRefusal>((resolve) => (this.refuse = resolve));

  constructor(
    @Inject(ENV) private readonly env: PlatformEnv,
    @Inject(APP_NAME) private readonly app: string,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onModuleInit() {
    void this.connectInBackground();
  }

  get current(): NatsConnection | null {
    return this.connection;
  }

  get jetstream(): JetStreamClient | null {
    return this.client;
  }

  /** Resolves once the broker has been reached; never, if the app is closed before. */
  connected(): Promise<NatsConnection> {
    if (this.connection) return Promise.resolve(this.connection);
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  async manager(timeout = 2_000): Promise<JetStreamManager> {
    return jetstreamManager(await this.connected(), { timeout, checkAPI: false });
  }

  /**
   * Work to finish after the last request was answered and before the connection closes, such as publishing what is
   * pending. Must have a time limit.
   */
  beforeClose(work: () => Promise<void>) {
    this.lastWork.push(work);
  }

  /** After the HTTP server has answered what it had: those answers may need the broker. */
  async onApplicationShutdown() {
    await Promise.allSettled(this.lastWork.map((work) => work()));
    this.closed = true;
    await this.connection?.close().catch(() => undefined);
  }

  private async connectInBackground() {
    for (let attempt = 1; !this.closed; attempt += 1) {
      try {
        const connection = await connect(natsConnectOptions(this.env, this.app));
        if (this.closed) return void (await connection.close());
        this.connection = connection;
        this.client = jetstream(connection, { timeout: 2_000 });
        this.logger.info('connected to NATS');
        for (const resolve of this.waiting.splice(0)) resolve(connection);
        return void this.logStatus(connection);
      } catch (err) {
        const refusal = asNatsRefusal(err);
        if (refusal) return this.refuse(refusal);
        if (attempt === 1) this.logger.warn({ err }, 'cannot connect to NATS yet, trying on');
      }
      await new Promise((resolve) => setTimeout(resolve, FIRST_CONNECT_RETRY_MS).unref());
    }
  }

  private async logStatus(connection: NatsConnection) {
    let isRefused = false;
    for await (const status of connection.status())
      if (status.type === 'disconnect') this.logger.warn('NATS connection lost');
      else if (status.type === 'error') {
        const refusal = asNatsRefusal(status.error);
        // One that asks again and again is refused again and again.
        if (refusal && isRefused) continue;
        isRefused = refusal !== undefined;
        this.logger.error(refusal?.message ?? `NATS: ${status.error.message}`);
      } else if (status.type === 'reconnect') {
        isRefused = false;
        this.logger.info('NATS connection restored');
      }
  }
}
