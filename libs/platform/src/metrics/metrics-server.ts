import {
  Inject,
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { fastify, type FastifyInstance } from 'fastify';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { Registry } from 'prom-client';
import { ENV } from '../config/app-tokens.js';
import type { PlatformEnv } from '../config/load-env.js';
import { HealthService, sendHealth } from '../health/health.module.js';
import { isInside } from '../http/internal-routes.js';

/** Serves `/metrics`, `/livez`, `/readyz` and the internal routes on METRICS_PORT, which is not published. */
@Injectable()
export class MetricsServer
  implements OnApplicationBootstrap, BeforeApplicationShutdown, OnApplicationShutdown
{
  private server: FastifyInstance | undefined;
  /** Responses in progress of the app's internal routes, which the app's own server does not know of. */
  private readonly openResponses = new Set<ServerResponse>();

  constructor(
    @Inject(ENV) private readonly env: PlatformEnv,
    private readonly registry: Registry,
    private readonly health: HealthService,
    private readonly app: HttpAdapterHost,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    if (this.env.METRICS_PORT === undefined) return;
    const app = this.app.httpAdapter.getInstance<FastifyInstance>();
    const server = (this.server = fastify({
      forceCloseConnections: true,
      serverFactory: (own) =>
        createServer((request, response) => {
          if (!isInside(request.url!, this.env)) return own(request, response);
          this.openResponses.add(response);
          response.once('close', () => this.openResponses.delete(response));
          app.routing(request, response);
        }),
    }));
    server.get('/metrics', async (_request, reply) =>
      reply.header('content-type', this.registry.contentType).send(await this.registry.metrics()),
    );
    server.get('/livez', (_request, reply) => sendHealth(reply, this.health.live()));
    server.get('/readyz', async (_request, reply) => sendHealth(reply, await this.health.ready()));
    await server.listen({ port: this.env.METRICS_PORT, host: this.env.HOST });
  }

  /** Waits while requests run; the whole drain has a deadline. */
  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all([...this.openResponses].map((response) => once(response, 'close')));
  }

  /** Closed after the app has drained, so that metrics stay visible until then. */
  async onApplicationShutdown(): Promise<void> {
    await this.server?.close();
  }
}
