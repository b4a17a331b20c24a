import { Controller, Get, Inject, Injectable, Module, Optional, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { DataSource } from 'typeorm';
import type { FastifyReply } from 'fastify';
import { Public } from '../http/public.decorator.js';

/** Shorter than the second after which a Kubernetes probe gives up, so that the answer is always ours. */
const PING_TIMEOUT_MS = 800;

/** Set when the process has been asked to stop: it answers what it has, and gets no new traffic. */
@Injectable()
export class DrainState {
  draining = false;
}

export interface HealthOptions {
  /** False for an app that can do its work without its database (its outbox only). Default true. */
  needsDatabase?: boolean;
  /** The body of the answer. */
  body?: (healthy: boolean) => object;
}
export const HEALTH_OPTIONS = Symbol('HEALTH_OPTIONS');

export interface Health {
  status: number;
  body: object;
}

@Injectable()
export class HealthService {
  constructor(
    private readonly drain: DrainState,
    @Inject(HEALTH_OPTIONS) private readonly options: HealthOptions,
    @Optional() private readonly dataSource?: DataSource,
  ) {}

  live(): Health {
    return this.answer(true);
  }

  /** Readiness depends on the app's own database only: not on NATS, not on other apps. */
  async ready(): Promise<Health> {
    return this.answer(!this.drain.draining && (await this.isDatabaseUp()));
  }

  private async isDatabaseUp(): Promise<boolean> {
    if (!this.dataSource || this.options.needsDatabase === false) return true;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => (timer = setTimeout(resolve, PING_TIMEOUT_MS, false)));
    const answered = this.dataSource.query('select 1').then(
      () => true,
      () => false,
    );
    const isUp = await Promise.race([answered, late]);
    clearTimeout(timer);
    return isUp;
  }

  private answer(healthy: boolean): Health {
    const body = this.options.body ?? ((ok: boolean) => ({ status: ok ? 'ok' : 'unavailable' }));
    const notReady = this.options.body ? 500 : 503;
    return { status: healthy ? 200 : notReady, body: body(healthy) };
  }
}

export const sendHealth = (reply: FastifyReply, { status, body }: Health): FastifyReply =>
  reply.code(status).header('cache-control', 'no-store').send(body);

@ApiExcludeController()
@Public()
@Controller()
class HealthController {
  constructor(private readonly health: HealthService) {}

  @Get('livez')
  live(@Res() reply: FastifyReply) {
    void sendHealth(reply, this.health.live());
  }

  @Get('readyz')
  async ready(@Res() reply: FastifyReply) {
    void sendHealth(reply, await this.health.ready());
  }
}

/** `/livez` and `/readyz`. */
@Module({
  controllers: [HealthController],
  providers: [DrainState, HealthService],
  exports: [DrainState, HealthService],
})
export class HealthModule {}
