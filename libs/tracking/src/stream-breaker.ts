import type { Logger } from 'pino';

const FIRST_PROBE_MS = 50;
const MAX_PROBE_MS = 500;

export interface StreamBreakerEvents {
  /** The stream is away. Comes again with each sign of it. */
  onAway: () => void;
  /** The stream takes events again. */
  onBack: () => void;
}

/**
 * Knows whether the stream is away, so that customers do not wait for it again and again. Any sign of absence suffices;
 * only a probe in the background, never a customer's event, proves that it is back.
 */
export class StreamBreaker {
  private away = true;
  private isProbing = false;
  private probeDelay = FIRST_PROBE_MS;
  private probeTimer: NodeJS.Timeout | undefined;
  private isStopped = false;

  /**
   * @param probe publishes a message that proves the whole way: connection, stream, room in it
   * @param patienceMs a stream that answers later is too late for a customer, and as good as away
   */
  constructor(
    private readonly probe: () => Promise<boolean>,
    private readonly patienceMs: number,
    private readonly logger: Logger,
    private readonly events: StreamBreakerEvents,
  ) {}

  get isAway(): boolean {
    return this.away;
  }

  /** Takes the stream to be away from now on, until a probe says otherwise. */
  reportAway(reason: string): void {
    if (!this.away) {
      this.away = true;
      if (!this.isStopped) this.logger.warn({ reason }, 'tracking stream away, events go to the outbox');
      this.probeDelay = FIRST_PROBE_MS;
    }
    this.probeSoon(this.probeDelay);
    this.events.onAway();
  }

  /** To be called when there is reason to hope. */
  probeSoon(delayMs: number): void {
    if (this.isProbing || !this.away || this.isStopped) return;
    clearTimeout(this.probeTimer);
    this.probeTimer = setTimeout(() => void this.lookForStream(), delayMs).unref();
  }

  /** No probe from now on. */
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
    if (isStored && performance.now() - startedAt <= this.patienceMs) {
      this.away = false;
      this.probeDelay = FIRST_PROBE_MS;
      this.logger.info('tracking stream takes events');
      this.events.onBack();
    } else {
      this.probeDelay = Math.min(this.probeDelay * 2, MAX_PROBE_MS);
      this.probeSoon(this.probeDelay);
    }
  }
}
