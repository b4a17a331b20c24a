import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { jetstream, jetstreamManager, type JetStreamClient, type JetStreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { APP_NAME, ENV } from '../config/app-tokens.js';
import type { PlatformEnv } from '../config/load-env.js';
import { LOGGER } from '../logging/logger.js';
import { asNatsError, natsConnectOptions, type NatsError } from './connect-options.js';

const FIRST_CONNECT_RETRY_MS = 500;

/**
 * The app's one connection, for JetStream and for request/reply. The app starts and keeps running without a broker:
 * `current` is null until the first connection. If the broker rejects that connection, `refused` resolves.
 */
@Injectable()
export class NatsService implements OnModuleInit, OnApplicationShutdown {
  private connection: NatsConnection | null = null;
  private client: JetStreamClient | null = null;
  private closed = false;
  private readonly waiting: ((connection: NatsConnection) => void)[] = [];
  private readonly lastWork: (() => Promise<void>)[] = [];
  private refuse: (refusal: NatsError) => void = () => undefined;

  /** Resolves if the app's first connection fails for a reason that only a person can fix, such as a wrong password. */
  readonly refused = new Promise<NatsError>((resolve) => (this.refuse = resolve));

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

  /** Resolves once connected; never if the app closes first. */
  connected(): Promise<NatsConnection> {
    if (this.connection) return Promise.resolve(this.connection);
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  async manager(timeout = 2_000): Promise<JetStreamManager> {
    return jetstreamManager(await this.connected(), { timeout, checkAPI: false });
  }

  /**
   * Registers work to do after the last response and before the connection closes, such as publishing pending events.
   * The work must have a timeout.
   */
  beforeClose(work: () => Promise<void>) {
    this.lastWork.push(work);
  }

  /** Runs after the HTTP server has finished its requests, which may need the broker. */
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
        const refusal = asNatsError(err);
        if (refusal) return this.refuse(refusal);
        if (attempt === 1) this.logger.warn({ err }, 'cannot connect to NATS yet, retrying');
      }
      await new Promise((resolve) => setTimeout(resolve, FIRST_CONNECT_RETRY_MS).unref());
    }
  }

  private async logStatus(connection: NatsConnection) {
    let isRefused = false;
    for await (const status of connection.status())
      if (status.type === 'disconnect') this.logger.warn('NATS connection lost');
      else if (status.type === 'error') {
        const refusal = asNatsError(status.error);
        // Log repeated rejections once.
        if (refusal && isRefused) continue;
        isRefused = refusal !== undefined;
        this.logger.error(refusal?.message ?? `NATS: ${status.error.message}`);
      } else if (status.type === 'reconnect') {
        isRefused = false;
        this.logger.info('NATS connection restored');
      }
  }
}
