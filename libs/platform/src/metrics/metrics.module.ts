import { Controller, Get, Global, Module, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { APP_NAME } from '../config/app-tokens.js';
import { HealthModule } from '../health/health.module.js';
import { Public } from '../http/public.decorator.js';
import { MetricsServer } from './metrics-server.js';

/**
 * Interval of samples of the event-loop lag. Each wakes the idle process and takes 65 us. The measured lag contains the
 * interval, so the threshold of the alert depends on it.
 */
const LAG_SAMPLE_MS = 200;

/** Serves the metrics on the public port if METRICS_PORT is not set. */
@ApiExcludeController()
@Controller()
export class MetricsController {
  constructor(private readonly registry: Registry) {}

  @Public()
  @Get('metrics')
  async metrics(@Res() reply: FastifyReply) {
    const text = await this.registry.metrics();
    void reply.header('content-type', this.registry.contentType).send(text);
  }
}

/** Provides the app's `Registry`, and its server where METRICS_PORT is set. */
@Global()
@Module({
  imports: [HealthModule],
  providers: [
    MetricsServer,
    {
      provide: Registry,
      inject: [APP_NAME],
      useFactory: (app: string) => {
        const registry = new Registry();
        registry.setDefaultLabels({ app });
        collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LAG_SAMPLE_MS });
        return registry;
      },
    },
  ],
  exports: [Registry],
})
export class MetricsModule {}
