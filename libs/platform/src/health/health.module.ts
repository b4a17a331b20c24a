import { Controller, Get, Inject, Injectable, Module, Optional, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { DatabaseState } from '../database/database-state.js';
import { Public } from '../http/public.decorator.js';

/** Set when the process is asked to stop: it finishes its requests and gets no new ones. */
@Injectable()
export class DrainState {
  private readonly controller = new AbortController();

  /** Aborted when the drain begins. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  begin() {
    this.controller.abort();
  }
}

export interface HealthOptions {
  /**
   * Whether readiness needs the database: `false` if the app works without it, `once` if it only needs it at start.
   * Default: true. No app is ready if the schema lacks a migration.
   */
  needsDatabase?: boolean | 'once';
  /** The response body. If set, an app that is not ready responds with 500 instead of 503. */
  body?: (healthy: boolean) => object;
}
export const HEALTH_OPTIONS = Symbol('HEALTH_OPTIONS');

export interface Health {
  status: number;
  body: object;
}

@Injectable()
export class HealthService {
  private readonly conditions: (() => boolean)[] = [];

  constructor(
    private readonly drain: DrainState,
    @Inject(HEALTH_OPTIONS) private readonly options: HealthOptions,
    @Optional() private readonly database?: DatabaseState,
  ) {}

  /** An app's own readiness condition, checked by every probe. */
  require(condition: () => boolean): void {
    this.conditions.push(condition);
  }

  live(): Health {
    return this.respond(true);
  }

  /** Readiness depends on the app's own database and conditions, not on NATS or other apps. */
  async ready(): Promise<Health> {
    const isAble = !this.drain.signal.aborted && this.conditions.every((condition) => condition());
    return this.respond(isAble && (await this.isDatabaseReady()));
  }

  private async isDatabaseReady(): Promise<boolean> {
    const { database } = this;
    const { needsDatabase = true } = this.options;
    if (!database || (needsDatabase !== true && database.hasBeenCurrent)) return true;
    const state = await database.check();
    return state === 'current' || (state === 'unavailable' && needsDatabase === false);
  }

  private respond(healthy: boolean): Health {
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

/** Serves `/livez` and `/readyz`. */
@Module({
  controllers: [HealthController],
  providers: [DrainState, HealthService],
  exports: [DrainState, HealthService],
})
export class HealthModule {}
