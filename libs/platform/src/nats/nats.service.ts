import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { jetstream, jetstreamManager, type JetStreamClient, type JetStreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { LOGGER } from '../logging/logger.js';

export const NATS_OPTIONS = Symbol('NATS_OPTIONS');
export interface NatsOptions {
  url: string;
  app: string;
}

/** Reconnects for ever; an app starts and stays up without a broker. */
export const natsConnectOptions = ({ url, app }: NatsOptions) => ({
  servers: url.split(','),
  name: app,
  // Each app listens on its own inboxes, so that the broker can keep them apart.
  inboxPrefix: `_INBOX_${app.replaceAll('-', '_')}`,
  maxReconnectAttempts: -1,
  reconnectTimeWait: 250,
  reconnectJitter: 100,
  waitOnFirstConnect: true,
  timeout: 2_000,
  pingInterval: 10_000,
  maxPingOut: 2,
});

/** The app's connection for JetStream. Null until the broker has been reached for the first time. */
@Injectable()
export class NatsService implements OnModuleInit, OnApplicationShutdown {
  private connection: NatsConnection | null = null;
  private client: JetStreamClient | null = null;
  private closed = false;
  private readonly waiting: ((connection: NatsConnection) => void)[] = [];
  private readonly lastWork: (() => Promise<void>)[] = [];

  constructor(
    @Inject(NATS_OPTIONS) private readonly options: NatsOptions,
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

  /** Resolves once the broker has been reached. */
  connected(): Promise<NatsConnection> {
    if (this.connection) return Promise.resolve(this.connection);
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  async manager(timeout = 2_000): Promise<JetStreamManager> {
    return jetstreamManager(await this.connected(), { timeout, checkAPI: false });
  }

  /** Work to finish after the last request was answered and before the connection closes. Must have a time limit. */
  beforeClose(work: () => Promise<void>) {
    this.lastWork.push(work);
  }

  // Not earlier: requests that are being answered while the app drains still need the broker.
  async onApplicationShutdown() {
    await Promise.allSettled(this.lastWork.map((work) => work()));
    this.closed = true;
    await this.connection?.close().catch(() => undefined);
  }

  private async connectInBackground() {
    while (!this.closed) {
      try {
        const connection = await connect(natsConnectOptions(this.options));
        if (this.closed) return void connection.close().catch(() => undefined);
        this.connection = connection;
        this.client = jetstream(connection, { timeout: 2_000 });
        this.logger.info('connected to NATS');
        for (const resolve of this.waiting.splice(0)) resolve(connection);
        void this.logStatus(connection);
        // Resolves only when the client itself gives up (credentials refused): start over.
        const reason = await connection.closed();
        this.connection = null;
        this.client = null;
        if (!this.closed) this.logger.error({ err: reason }, 'NATS connection closed');
      } catch (err) {
        this.logger.error({ err }, 'cannot connect to NATS');
      }
      if (!this.closed) await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
  }

  private async logStatus(connection: NatsConnection) {
    for await (const { type } of connection.status())
      if (type === 'disconnect') this.logger.warn('NATS connection lost');
      else if (type === 'reconnect') this.logger.info('NATS connection restored');
  }
}
