import { DomainError } from '@perkway/domain';
import type { FastifyReply } from 'fastify';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';

const WINDOW_MS = 60_000;
/** Memory is bounded whatever an attacker owns: past this many addresses the one not heard of for longest is forgotten. */
const MAX_ADDRESSES = 50_000;

interface Window {
  tried: number;
  endsAt: number;
}

/**
 * Counts the wrong credentials that each address tries, in windows of one minute that begin with its first try, in this
 * process. Only wrong ones count, so whoever shares an address with a guesser is not locked out.
 */
export class GuessLimiter {
  private readonly windows = new LRUCache<string, Window>({ max: MAX_ADDRESSES });

  /**
   * @param limit wrong tries a minute for one address; 0 switches the limit off
   * @param what is guessed, in the plural, for the refusal
   */
  constructor(
    private readonly limit: number,
    private readonly what: string,
  ) {}

  /** Counts a wrong try and writes the `RateLimit-*` headers. @throws DomainError TOO_MANY_REQUESTS past the limit */
  count(address: string, reply: Pick<FastifyReply, 'headers' | 'header'>, now = Date.now()): void {
    if (this.limit === 0) return;
    const { tried, endsAt } = this.next(sourceOf(address), now);
    const resetSeconds = Math.ceil((endsAt - now) / 1_000);
    void reply.headers({
      'ratelimit-limit': this.limit,
      'ratelimit-remaining': Math.max(0, this.limit - tried),
      'ratelimit-reset': resetSeconds,
    });
    if (tried <= this.limit) return;
    void reply.header('retry-after', resetSeconds);
    throw new DomainError('TOO_MANY_REQUESTS', `Too many unknown ${this.what} from this address`);
  }

  private next(source: string, now: number): Window {
    let window = this.windows.get(source);
    if (!window || window.endsAt <= now) {
      window = { tried: 0, endsAt: now + WINDOW_MS };
      this.windows.set(source, window);
    }
    window.tried += 1;
    return window;
  }
}

/** Whoever has one IPv6 address has the 2^64 beside it, so they count as one. */
const sourceOf = (address: string): string => {
  if (!ipaddr.IPv6.isValid(address)) return address;
  return ipaddr.IPv6.parse(address).toByteArray().slice(0, 8).join('.');
};
