import { DomainError } from '@perkway/domain';
import type { FastifyReply } from 'fastify';
import ipaddr from 'ipaddr.js';
import { hash } from 'node:crypto';
import type { SharedCounter, SharedCounts } from './shared-counts.js';

const WINDOWS = { ms: 60_000, slide: true };

/**
 * Counts the wrong credentials that each address has tried within a minute, in all replicas. Only wrong ones count, so
 * whoever shares an address with a guesser is not locked out.
 */
export class GuessLimiter {
  private readonly tried: SharedCounter;

  /**
   * @param limit wrong tries a minute for one address; 0 switches the limit off
   * @param what is guessed, in the plural, for the refusal; a limiter of its own in the app
   */
  constructor(
    private readonly limit: number,
    private readonly what: string,
    counts: Pick<SharedCounts, 'counter'>,
  ) {
    this.tried = counts.counter(what, WINDOWS, limit);
  }

  /** Counts a wrong try and writes the `RateLimit-*` headers. @throws DomainError TOO_MANY_REQUESTS past the limit */
  count(address: string, reply: Pick<FastifyReply, 'headers' | 'header'>, now = Date.now()): void {
    if (this.limit === 0) return;
    const source = sourceOf(address);
    const tried = this.tried.add(source, now);
    const resetSeconds = Math.ceil((this.tried.waitMs(source, now) || this.tried.remainingMs(now)) / 1_000);
    void reply.headers({
      'ratelimit-limit': this.limit,
      'ratelimit-remaining': Math.max(0, this.limit - tried),
      'ratelimit-reset': resetSeconds,
    });
    if (tried <= this.limit) return;
    void reply.header('retry-after', resetSeconds);
    throw new DomainError('TOO_MANY_REQUESTS', `Too many unknown ${this.what} from this address`);
  }
}

/**
 * Whoever has one IPv6 address has the 2^64 beside it, so they count as one. Addresses are told to other replicas, but not as
 * such.
 */
export const sourceOf = (address: string): string => {
  const source = ipaddr.IPv6.isValid(address)
    ? ipaddr.IPv6.parse(address).toByteArray().slice(0, 8).join('.')
    : address;
  return hash('sha256', source, 'base64url').slice(0, 22);
};
