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
import { isHidden } from '../http/hidden-addresses.js';

/**
 * `/metrics` on a port that is not published, with `/livez` and `/readyz` beside it and whatever else the public port
 * does not show, where METRICS_PORT is set.
 */
@Injectable()
export class MetricsServer
  implements OnApplicationBootstrap, BeforeApplicationShutdown, OnApplicationShutdown
{
  private server: FastifyInstance | undefined;
  /** Of requests to the app: its own server does not know of them. */
  private readonly underWay = new Set<ServerResponse>();

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
        createServer((request, response) => {
          if (!isHidden(request.url!, this.env)) return own(request, response);
          this.underWay.add(response);
          response.once('close', () => this.underWay.delete(response));
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

  /** While everything that they need is there; the whole drain has a limit. */
  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all([...this.underWay].map((response) => once(response, 'close')));
  }

  /** After the app has drained: until then there is something to see. */
  async onApplicationShutdown(): Promise<void> {
    await this.server?.close();
  }
}
