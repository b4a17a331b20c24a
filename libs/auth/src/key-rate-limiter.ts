import { DomainError } from '@perkway/domain';
import type { FastifyReply } from 'fastify';

const WINDOW_MS = 1_000;
const RESET_SECONDS = '1';

/**
 * Counts the requests of each key in windows of one second, in this process. It protects an app from one
 * client's runaway loop; a fleet admits the limit times its replicas.
 */
export class KeyRateLimiter {
  private readonly used = new Map<string, number>();
  private windowEndsAt = 0;

  /** @param limit requests a second for one key; 0 switches the limit off */
  constructor(private readonly limit: number) {}

  /** Writes the `RateLimit-*` headers. @throws DomainError TOO_MANY_REQUESTS past the limit */
  count(keyId: string, reply: Pick<FastifyReply, 'header'>, now = Date.now()): void {
    if (this.limit === 0) return;
    if (now >= this.windowEndsAt) {
      this.used.clear();
      this.windowEndsAt = now + WINDOW_MS;
    }
    const used = (this.used.get(keyId) ?? 0) + 1;
    this.used.set(keyId, used);
    void reply.header('ratelimit-limit', String(this.limit));
    void reply.header('ratelimit-remaining', String(Math.max(0, this.limit - used)));
    void reply.header('ratelimit-reset', RESET_SECONDS);
    if (used <= this.limit) return;
    void reply.header('retry-after', RESET_SECONDS);
    throw new DomainError('TOO_MANY_REQUESTS');
  }
}
