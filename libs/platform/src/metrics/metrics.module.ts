import { Controller, Get, Global, Inject, Module, Res, type DynamicModule } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { collectDefaultMetrics, Registry } from 'prom-client';
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
@Module({})
export class MetricsModule {
  static register(app: string): DynamicModule {
    const registry = new Registry();
    registry.setDefaultLabels({ app });
    return {
      module: MetricsModule,
      controllers: [MetricsController],
      providers: [
        {
          provide: Registry,
          useFactory: () => {
            collectDefaultMetrics({ register: registry });
            return registry;
          },
        },
      ],
      exports: [Registry],
    };
  }
}
