import {
  Inject,
  Injectable,
  Optional,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { DatabaseState } from './database/database-state.js';
import { toApiError } from './errors/to-api-error.js';
import { LOGGER } from './logging/logger.js';

export interface LoopOptions {
  /** Completes "cannot …" in the log. */
  task: string;
  /** Pause between two runs, in milliseconds. */
  everyMs: number;
  /** Further pause before the next run, also after `wake`, so that one run serves several calls. In milliseconds. */
  minPauseMs?: number;
  /** @returns the pause before the next run in milliseconds, if not `everyMs` */
  run: () => Promise<number | void>;
}

/** A stopping app waits no longer than this for a run. */
const STOP_LIMIT_MS = 2_000;

/** Runs a task again and again, never twice at once. A failed run is logged and repeated after the usual pause. */
export class Loop {
  private running: Promise<void> = Promise.resolve();
  private pause = new AbortController();
  private minPause = new AbortController();
  private stopped = false;
  private hasFailed = false;

  /** @param whenReady the first run waits for it */
  constructor(
    private readonly options: LoopOptions,
    private readonly logger: Logger,
    private readonly whenReady?: Promise<void>,
  ) {}

  /** True once the app stops. Long runs check it, to end early. */
  get isStopping(): boolean {
    return this.stopped;
  }

  start(): void {
    void Promise.resolve(this.whenReady).then(() => (this.running = this.repeat()));
  }

  /**
   * Starts the next run now, or right after the current one.
   *
   * @param isUrgent skips `minPauseMs`
   */
  wake(isUrgent = false): void {
    // Each call of abort() creates an error.
    if (!this.pause.signal.aborted) this.pause.abort();
    if (isUrgent && !this.minPause.signal.aborted) this.minPause.abort();
  }

  /** Resolves when the current run has ended, or after the time limit. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.wake(true);
    await Promise.race([this.running, sleep(STOP_LIMIT_MS, undefined, { ref: false })]);
  }

  private async repeat() {
    while (!this.stopped) {
      this.pause = new AbortController();
      this.minPause = new AbortController();
      const { pause, minPause } = this;
      const pauseMs = await this.attempt();
      await sleep(pauseMs, undefined, { signal: pause.signal, ref: false }).catch(() => undefined);
      if (this.options.minPauseMs !== undefined)
        await sleep(this.options.minPauseMs, undefined, { signal: minPause.signal }).catch(() => undefined);
    }
  }

  private async attempt(): Promise<number> {
    const { task, everyMs, run } = this.options;
    try {
      const pauseMs = (await run()) ?? everyMs;
      this.hasFailed = false;
      return pauseMs;
    } catch (err) {
      // DatabaseState and NatsService log outages.
      const isOutage = toApiError(err).status === 503;
      this.logger[this.hasFailed || isOutage ? 'debug' : 'warn']({ err }, `cannot ${task}, retrying`);
      this.hasFailed ||= !isOutage;
      return everyMs;
    }
  }
}

/** The background work of an app. Its loops run from when the schema of its database is current until it stops. */
@Injectable()
export class Loops implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly loops: Loop[] = [];

  constructor(
    @Inject(LOGGER) private readonly logger: Logger,
    @Optional() private readonly database?: DatabaseState,
  ) {}

  /** Adds a loop. Call this in a constructor. */
  add(options: LoopOptions): Loop {
    const loop = new Loop(options, this.logger, this.database?.whenCurrent);
    this.loops.push(loop);
    return loop;
  }

  onApplicationBootstrap() {
    for (const loop of this.loops) loop.start();
  }

  async beforeApplicationShutdown() {
    await Promise.all(this.loops.map((loop) => loop.stop()));
  }
}
