import { Controller, Get, Global, Inject, Module, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { APP_NAME } from '../config/app-tokens.js';
import { Public } from '../http/public.decorator.js';

@ApiExcludeController()
@Controller()
class MetricsController {
  constructor(@Inject(Registry) private readonly registry: Registry) {}

  @Public()
  @Get('metrics')
  async metrics(@Res() reply: FastifyReply) {
    const text = await this.registry.metrics();
    void reply.header('content-type', this.registry.contentType).send(text);
  }
}

/** `/metrics` in the Prometheus text format, and the app's own `Registry` for injection. */
@Global()
@Module({
  controllers: [MetricsController],
  providers: [
    {
      provide: Registry,
      inject: [APP_NAME],
      useFactory: (app: string) => {
        const registry = new Registry();
        registry.setDefaultLabels({ app });
        collectDefaultMetrics({ register: registry });
        return registry;
      },
    },
  ],
  exports: [Registry],
})
export class MetricsModule {}
