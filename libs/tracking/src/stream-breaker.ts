import type { Logger } from 'pino';

const FIRST_PROBE_MS = 50;
const MAX_PROBE_MS = 500;

export interface StreamBreakerEvents {
  /** The stream is down. Called again with each sign of it. */
  onAway: () => void;
  /** The stream is up again. */
  onBack: () => void;
}

/**
 * A circuit breaker that keeps requests from waiting for a stream that is down. Any failure opens it; only a background
 * probe, never a request's event, closes it.
 */
export class StreamBreaker {
  private away = true;
  private isProbing = false;
  private probeDelay = FIRST_PROBE_MS;
  private probeTimer: NodeJS.Timeout | undefined;
  private isStopped = false;

  /**
   * @param probe publishes a message that proves the whole path: connection, stream, room in it
   * @param timeoutMs timeout for requests; a stream that responds more slowly counts as down
   */
  constructor(
    private readonly probe: () => Promise<boolean>,
    private readonly timeoutMs: number,
    private readonly logger: Logger,
    private readonly events: StreamBreakerEvents,
  ) {}

  get isAway(): boolean {
    return this.away;
  }

  /** Treats the stream as down until a probe succeeds. */
  reportAway(reason: string): void {
    if (!this.away) {
      this.away = true;
      if (!this.isStopped) this.logger.warn({ reason }, 'tracking stream is down, events go to the outbox');
      this.probeDelay = FIRST_PROBE_MS;
    }
    this.probeSoon(this.probeDelay);
    this.events.onAway();
  }

  /** Schedules a probe. */
  probeSoon(delayMs: number): void {
    if (this.isProbing || !this.away || this.isStopped) return;
    clearTimeout(this.probeTimer);
    this.probeTimer = setTimeout(() => void this.lookForStream(), delayMs).unref();
  }

  /** Stops probing. */
  stop(): void {
    this.isStopped = true;
    clearTimeout(this.probeTimer);
  }

  private async lookForStream() {
    if (this.isProbing) return;
    this.isProbing = true;
    const startedAt = performance.now();
    const isStored = await this.probe();
    this.isProbing = false;
    if (isStored && performance.now() - startedAt <= this.timeoutMs) {
      this.away = false;
      this.probeDelay = FIRST_PROBE_MS;
      this.logger.info('tracking stream takes events again');
      this.events.onBack();
    } else {
      this.probeDelay = Math.min(this.probeDelay * 2, MAX_PROBE_MS);
      this.probeSoon(this.probeDelay);
    }
  }
}
