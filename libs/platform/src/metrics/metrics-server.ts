import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { fastify, type FastifyInstance } from 'fastify';
import { createServer } from 'node:http';
import { Registry } from 'prom-client';
import { ENV } from '../config/app-tokens.js';
import type { PlatformEnv } from '../config/load-env.js';
import { HealthService, sendHealth } from '../health/health.module.js';
import { isHidden } from '../http/hidden-addresses.js';

/**
 * `/metrics` on a port that is not published, with `/livez` and `/readyz` beside it and whatever else the public port
 * does not show, where METRICS_PORT is set.
 */
@Injectable()
export class MetricsServer implements OnApplicationBootstrap, OnApplicationShutdown {
  private server: FastifyInstance | undefined;

  constructor(
    @Inject(ENV) private readonly env: PlatformEnv,
    @Inject(Registry) private readonly registry: Registry,
    private readonly health: HealthService,
    private readonly app: HttpAdapterHost,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    if (this.env.METRICS_PORT === undefined) return;
    const app = this.app.httpAdapter.getInstance<FastifyInstance>();
    const server = (this.server = fastify({
      forceCloseConnections: true,
      serverFactory: (own) =>
        createServer((request, response) =>
          isHidden(request.url!, this.env) ? app.routing(request, response) : own(request, response),
        ),
    }));
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
