import { ApiError } from '@perkway/domain';
import type { SharedCounter, ReplicaCounts } from '@perkway/platform';
import type { FastifyReply } from 'fastify';

const WINDOWS = { ms: 1_000 };
const RESET_SECONDS = '1';

/**
 * Counts the requests of each key per second over all replicas, to protect an app from a client that sends in a loop.
 */
export class KeyRateLimiter {
  private readonly used: SharedCounter;

  /** @param limit requests per second and key; 0 disables the limit */
  constructor(
    private readonly limit: number,
    counts: Pick<ReplicaCounts, 'counter'>,
  ) {
    this.used = counts.counter('keys', WINDOWS, limit);
  }

  /** Counts a request and writes the `RateLimit-*` headers. @throws ApiError TOO_MANY_REQUESTS beyond the limit */
  count(keyId: string, reply: Pick<FastifyReply, 'header'>, now = Date.now()): void {
    if (this.limit === 0) return;
    const used = this.used.add(keyId, now);
    void reply.header('ratelimit-limit', String(this.limit));
    void reply.header('ratelimit-remaining', String(Math.max(0, this.limit - used)));
    void reply.header('ratelimit-reset', RESET_SECONDS);
    if (used <= this.limit) return;
    void reply.header('retry-after', RESET_SECONDS);
    throw new ApiError('TOO_MANY_REQUESTS');
  }
}
