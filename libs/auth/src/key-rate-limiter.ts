import { DomainError } from '@perkway/domain';
import type { SharedCounter, SharedCounts } from '@perkway/platform';
import type { FastifyReply } from 'fastify';

const WINDOWS = { ms: 1_000 };
const RESET_SECONDS = '1';

/** Counts the requests of each key in windows of one second, in all replicas. It protects an app from one client's loop. */
export class KeyRateLimiter {
  private readonly used: SharedCounter;

  /** @param limit requests a second for one key; 0 switches the limit off */
  constructor(
    private readonly limit: number,
    counts: Pick<SharedCounts, 'counter'>,
  ) {
    this.used = counts.counter('keys', WINDOWS, limit);
  }

  /** Writes the `RateLimit-*` headers. @throws DomainError TOO_MANY_REQUESTS past the limit */
  count(keyId: string, reply: Pick<FastifyReply, 'header'>, now = Date.now()): void {
    if (this.limit === 0) return;
    const used = this.used.add(keyId, now);
    void reply.header('ratelimit-limit', String(this.limit));
    void reply.header('ratelimit-remaining', String(Math.max(0, this.limit - used)));
    void reply.header('ratelimit-reset', RESET_SECONDS);
    if (used <= this.limit) return;
    void reply.header('retry-after', RESET_SECONDS);
    throw new DomainError('TOO_MANY_REQUESTS');
  }
}
