import { DomainError, type ErrorCode } from '@perkway/domain';
import type { FastifyReply } from 'fastify';
import { LRUCache } from 'lru-cache';
import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { networkOf } from './client-ip.js';
import type { SharedCounter, SharedCounts } from './shared-counts.js';

const WINDOWS = { ms: 60_000, slide: true };
const MAX_ADDRESSES = 50_000;
const MOST_WAITING = 10;

/** What an address past its limit tries, one after the other. */
interface Lane {
  waiting: number;
  turn: Promise<unknown>;
}
/** What an address below its limit tries at once. */
interface Flight {
  running: number;
  waiting: (() => void)[];
}
type Reply = Pick<FastifyReply, 'headers' | 'header'>;

/**
 * Counts the wrong credentials that each address has tried within a minute, in all replicas. Only wrong ones count, and a
 * right one is found past the limit too, so that nobody is locked out by a guesser who shares the address. But past it those of an
 * address are looked up one after the other, and refused unseen when several wait: whoever floods keeps nobody else's
 * database busy. Nor does whoever tries very many at once before the first of them is known to be wrong: no more than the limit
 * are looked up at a time, and the others wait.
 */
export class GuessLimiter {
  private readonly tried: SharedCounter;
  /** In this process. */
  private readonly lanes = new LRUCache<string, Lane>({ max: MAX_ADDRESSES });
  private readonly flights = new Map<string, Flight>();

  /**
   * @param limit wrong tries a minute for one address; 0 switches the limit off
   * @param what is guessed, in the plural, for the refusal; a limiter of its own in the app
   * @param paceMs past the limit, time between two
   */
  constructor(
    private readonly limit: number,
    private readonly what: string,
    counts: Pick<SharedCounts, 'counter'>,
    private readonly paceMs = 0,
  ) {
    this.tried = counts.counter(what, WINDOWS, limit);
  }

  /**
   * Looks a credential up, in its turn where the address is past its limit. A wrong one is counted, and its answer has the
   * `RateLimit-*` headers.
   *
   * @param look fails with the code `wrong` for a wrong one
   * @throws DomainError TOO_MANY_REQUESTS for a wrong one past the limit, or whatever it is where too many wait
   */
  async attempt<T>(address: string, reply: Reply, wrong: ErrorCode, look: () => T | Promise<T>): Promise<T> {
    if (this.limit === 0) return look();
    const source = sourceOf(address);
    const leave = await this.enter(source);
    try {
      return await (leave ? look() : this.inTurn(source, reply, look));
    } catch (error) {
      if (error instanceof DomainError && error.code === wrong) this.count(source, reply);
      throw error;
    } finally {
      leave?.();
    }
  }

  /** @returns to be called afterwards; undefined when the address is past its limit, perhaps after it had to wait */
  private async enter(source: string): Promise<(() => void) | undefined> {
    const flight = this.flights.get(source) ?? { running: 0, waiting: [] };
    this.flights.set(source, flight);
    const wakeNext = () => {
      flight.waiting.shift()?.();
      if (flight.running === 0 && flight.waiting.length === 0 && this.flights.get(source) === flight)
        this.flights.delete(source);
    };
    while (!this.isPast(source)) {
      if (flight.running < this.limit) {
        flight.running += 1;
        return () => {
          flight.running -= 1;
          wakeNext();
        };
      }
      await new Promise<void>((resolve) => flight.waiting.push(resolve));
    }
    // It takes no place, so that the next one need not wait for it.
    wakeNext();
    return undefined;
  }

  private isPast(source: string): boolean {
    return this.tried.waitMs(source, Date.now()) > 0;
  }

  private inTurn<T>(source: string, reply: Reply, look: () => T | Promise<T>): Promise<T> {
    const lane = this.lanes.get(source) ?? { waiting: 0, turn: Promise.resolve() };
    if (lane.waiting >= MOST_WAITING) this.refuse(source, reply, this.limit + 1);
    this.lanes.set(source, lane);
    lane.waiting += 1;
    const found = lane.turn.then(look);
    lane.turn = found
      .catch(() => undefined)
      .then(() => (this.paceMs > 0 ? sleep(this.paceMs) : undefined))
      .then(() => (lane.waiting -= 1));
    return found;
  }

  private count(source: string, reply: Reply): void {
    const tried = this.tried.add(source, Date.now());
    if (tried > this.limit) this.refuse(source, reply, tried);
    this.writeHeaders(source, reply, tried);
  }

  private refuse(source: string, reply: Reply, tried: number): never {
    void reply.header('retry-after', this.writeHeaders(source, reply, tried));
    throw new DomainError('TOO_MANY_REQUESTS', `Too many unknown ${this.what} from this address`);
  }

  /** @returns seconds until one more is admitted, or where something is left until the next window */
  private writeHeaders(source: string, reply: Reply, tried: number): number {
    const now = Date.now();
    const resetSeconds = Math.ceil((this.tried.waitMs(source, now) || this.tried.remainingMs(now)) / 1_000);
    void reply.headers({
      'ratelimit-limit': this.limit,
      'ratelimit-remaining': Math.max(0, this.limit - tried),
      'ratelimit-reset': resetSeconds,
    });
    return resetSeconds;
  }
}

/** Addresses are told to other replicas, but not as such. */
const sourceOf = (address: string): string => hash('sha256', networkOf(address), 'base64url').slice(0, 22);
