import { setTimeout as sleep } from 'node:timers/promises';
import {
  Inject,
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { Clock, DatabaseState, ENV, LOGGER } from '@perkway/platform';
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
  private readonly loops: Promise<void>[] = [];
  private readonly stopping = new AbortController();
  /** Aborted when attempts have ended since the last claim, so that others can start. */
  private room = new AbortController();

  constructor(
    private readonly queue: DeliveryQueue,
    private readonly sender: Sender,
    private readonly clock: Clock,
    private readonly database: DatabaseState,
    @Inject(ENV) private readonly env: EventsEnv,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly metrics: DeliveryMetrics,
  ) {
    this.engine = new DeliveryEngine(queue, sender, env.WEBHOOK_SECRET_KEYS, clock, metrics, logger, () => {
      // Each call of abort() creates an error.
      if (!this.room.signal.aborted) this.room.abort();
    });
  }

  onApplicationBootstrap() {
    void this.database.whenCurrent.then(() => {
      if (this.stopping.signal.aborted) return;
      this.loops.push(
        this.loop('make deliveries', async () => {
          const hasMore = await this.queue.fanOut(new Date(this.clock.now()));
          await this.rest(hasMore ? MIN_PAUSE_MS : POLL_MS);
        }),
        this.loop('claim deliveries', async () => {
          // Before the claim: an attempt can end while the loop is not waiting yet.
          this.room = new AbortController();
          await this.engine.start();
          await this.rest(POLL_MS, AbortSignal.any([this.room.signal, this.stopping.signal]));
          await this.rest(MIN_PAUSE_MS);
        }),
        this.loop('measure deliveries', async () => {
          this.metrics.backlog(await this.queue.backlog(new Date(this.clock.now())));
          await this.rest(MEASURE_MS);
        }),
        this.loop('delete old deliveries', async () => {
          await this.queue.releaseForgotten();
          const retention = this.env.EVENTS_RETENTION_DAYS * DAY_MS;
          await this.queue.deleteBefore(new Date(this.clock.now() - retention));
          await this.rest(RETENTION_MS);
        }),
      );
    });
  }

  async beforeApplicationShutdown() {
    this.stopping.abort();
    await Promise.all(this.loops);
    await Promise.race([this.engine.whenIdle(), sleep(DRAIN_MS, undefined, { ref: false })]);
    this.engine.abandon();
    this.sender.close();
  }

  private async loop(what: string, work: () => Promise<void>) {
    while (!this.stopping.signal.aborted) {
      try {
        await work();
      } catch (err) {
        this.logger.warn({ err }, `cannot ${what}`);
        await this.rest(RETRY_MS);
      }
    }
  }

  private async rest(ms: number, signal = this.stopping.signal) {
    await sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
  }
}
