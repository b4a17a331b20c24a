import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { fastify, type FastifyInstance } from 'fastify';
import { Registry } from 'prom-client';
import { ENV } from '../config/app-tokens.js';
import type { PlatformEnv } from '../config/load-env.js';
import { HealthService, sendHealth } from '../health/health.module.js';

/** `/metrics` on a port that is not published, with `/livez` and `/readyz` beside it, where METRICS_PORT is set. */
@Injectable()
export class MetricsServer implements OnApplicationBootstrap, OnApplicationShutdown {
  private server: FastifyInstance | undefined;

  constructor(
    @Inject(ENV) private readonly env: PlatformEnv,
    @Inject(Registry) private readonly registry: Registry,
    private readonly health: HealthService,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    if (this.env.METRICS_PORT === undefined) return;
    const server = (this.server = fastify({ forceCloseConnections: true }));
    server.get('/metrics', async (_request, reply) =>
      reply.header('content-type', this.registry.contentType).send(await this.registry.metrics()),
    );
    server.get('/livez', (_request, reply) => sendHealth(reply, this.health.live()));
    server.get('/readyz', async (_request, reply) => sendHealth(reply, await this.health.ready()));
    await server.listen({ port: this.env.METRICS_PORT, host: this.env.HOST });
  }

  /** After the app has drained: until then there is something to see. */
  async onApplicationShutdown(): Promise<void> {
    await this.server?.close();
  }
}
