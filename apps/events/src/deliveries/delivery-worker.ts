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

/** Between two looks where nothing is known to be due. Polling works behind every pooler, LISTEN does not. */
const POLL_MS = 250;
/** After the first attempt has ended, so that a claim takes several deliveries. */
const MIN_PAUSE_MS = 5;
const RETRY_MS = 1_000;
const RETENTION_MS = 10 * 60_000;
const MEASURE_MS = 15_000;
const DAY_MS = 86_400_000;
/** Attempts that take longer are left to another replica, after their lease. */
const DRAIN_MS = 5_000;

/** Runs the deliveries of this replica in the background. */
@Injectable()
export class DeliveryWorker implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly engine: DeliveryEngine;
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
    const loop = (task: string, run: () => Promise<number>) =>
      new Loop({ task, everyMs: RETRY_MS, minPauseMs: MIN_PAUSE_MS, run }, logger, database.whenCurrent);
    const claims = loop('claim deliveries', async () => {
      await this.engine.start();
      return POLL_MS;
    });
    this.engine = new DeliveryEngine(queue, sender, env.WEBHOOK_SECRET_KEYS, clock, metrics, logger, () =>
      claims.wake(),
    );
    this.loops = [
      claims,
      loop('make deliveries', async () => {
        const hasMore = await queue.fanOut(new Date(clock.now()));
        return hasMore ? MIN_PAUSE_MS : POLL_MS;
      }),
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

  async beforeApplicationShutdown() {
    await Promise.all(this.loops.map((loop) => loop.stop()));
    await Promise.race([this.engine.whenIdle(), sleep(DRAIN_MS, undefined, { ref: false })]);
    this.engine.abandon();
    this.sender.close();
  }
}
