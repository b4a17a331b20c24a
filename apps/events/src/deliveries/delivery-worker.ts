import { setTimeout as sleep } from 'node:timers/promises';
import {
  Inject,
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { Clock, DatabaseState, ENV, LOGGER, Loop } from '@perkway/platform';
import type { Logger } from 'pino';
import type { EventsEnv } from '../env.js';
import { DeliveryEngine } from './delivery-engine.js';
import { DeliveryMetrics } from './delivery-metrics.js';
import { DeliveryQueue } from './delivery-queue.js';
import { Sender } from './sender.js';

/** Interval of checks while there is work. */
const POLL_MS = 250;
/**
 * Interval of checks while there is none. They only find what a dead replica has left; everything else wakes the
 * worker. Polling works behind every connection pooler, LISTEN does not.
 */
const IDLE_POLL_MS = 5_000;
const FAN_OUT_PAUSE_MS = 5;
/** Pause after an attempt has ended, so that the next claim takes several deliveries. */
const CLAIM_PAUSE_MS = 10;
const RETRY_MS = 1_000;
const RETENTION_MS = 10 * 60_000;
const MEASURE_MS = 15_000;
const DAY_MS = 86_400_000;
/** On shutdown, attempts that take longer are left to other replicas. */
const DRAIN_MS = 5_000;

/** Runs the deliveries of this replica in the background. */
@Injectable()
export class DeliveryWorker implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly engine: DeliveryEngine;
  private readonly claims: Loop;
  private readonly fanOut: Loop;
  private readonly loops: Loop[];

  constructor(
    queue: DeliveryQueue,
    private readonly sender: Sender,
    clock: Clock,
    database: DatabaseState,
    @Inject(ENV) env: EventsEnv,
    @Inject(LOGGER) logger: Logger,
    metrics: DeliveryMetrics,
  ) {
    const loop = (task: string, run: () => Promise<number>, minPauseMs?: number) =>
      new Loop({ task, everyMs: RETRY_MS, minPauseMs, run }, logger, database.whenCurrent);
    this.claims = loop(
      'claim deliveries',
      async () => {
        if ((await this.engine.start()) > 0) return POLL_MS;
        const now = clock.now();
        const next = await queue.nextDue(new Date(now));
        return next ? Math.min(IDLE_POLL_MS, next.getTime() - now) : IDLE_POLL_MS;
      },
      CLAIM_PAUSE_MS,
    );
    this.fanOut = loop(
      'make deliveries',
      async () => {
        const { wasBehind, hasMore } = await queue.fanOut(new Date(clock.now()));
        if (wasBehind) this.claims.wake();
        if (hasMore) return 0;
        return wasBehind ? POLL_MS : IDLE_POLL_MS;
      },
      FAN_OUT_PAUSE_MS,
    );
    this.engine = new DeliveryEngine(
      queue,
      sender,
      env.WEBHOOK_SECRET_KEYS,
      clock,
      metrics,
      logger,
      (isUrgent) => this.claims.wake(isUrgent),
    );
    this.loops = [
      this.claims,
      this.fanOut,
      loop('measure deliveries', async () => {
        metrics.backlog(await queue.backlog(new Date(clock.now())));
        return MEASURE_MS;
      }),
      loop('delete old deliveries', async () => {
        await queue.releaseForgotten();
        await queue.deleteBefore(new Date(clock.now() - env.EVENTS_RETENTION_DAYS * DAY_MS));
        return RETENTION_MS;
      }),
    ];
  }

  onApplicationBootstrap() {
    for (const loop of this.loops) loop.start();
  }

  /** Creates the deliveries of events that were just stored. */
  feedGrew(): void {
    this.fanOut.wake();
  }

  /** Creates and claims the deliveries that a client has requested. */
  wake(): void {
    this.fanOut.wake();
    this.claims.wake();
  }

  async beforeApplicationShutdown() {
    await Promise.all(this.loops.map((loop) => loop.stop()));
    await Promise.race([this.engine.whenIdle(), sleep(DRAIN_MS, undefined, { ref: false })]);
    this.engine.abandon();
    await this.sender.close();
  }
}
