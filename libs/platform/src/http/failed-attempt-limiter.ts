import { ApiError, type ErrorCode } from '@perkway/domain';
import type { FastifyReply } from 'fastify';
import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { networkOf } from './client-ip.js';
import type { SharedCounter, ReplicaCounts } from './replica-counts.js';

const WINDOWS = { ms: 60_000, slide: true };
/** How long lookups past the limit wait, to start in one batch. */
const BATCH_MS = 200;
const MAX_BATCH = 200;

/** Lookups of one address that start together. */
interface Batch {
  size: number;
  start: Promise<void>;
}
type Reply = Pick<FastifyReply, 'headers' | 'header'>;

/**
 * Limits failed attempts per address and minute, over all replicas. Only failures count, and valid credentials are
 * accepted past the limit too, so an attacker cannot lock out others behind the same address. Lookups past the limit
 * start in batches, so the cache behind them sends one request per batch.
 */
export class FailedAttemptLimiter {
  private readonly tried: SharedCounter;
  /** Of this process, by address. */
  private readonly batches = new Map<string, Batch>();

  /**
   * @param limit failed attempts per address and minute; 0 disables the limit
   * @param what what is tried, in the plural, for the message; unique within the app
   */
  constructor(
    private readonly limit: number,
    private readonly what: string,
    counts: Pick<ReplicaCounts, 'counter'>,
  ) {
    this.tried = counts.counter(what, WINDOWS, limit);
  }

  /**
   * Looks up a credential, in a batch if the address is past its limit. A failed attempt is counted, and its response
   * has the `RateLimit-*` headers.
   *
   * @param look fails with the code `wrong` for an invalid credential
   * @throws ApiError TOO_MANY_REQUESTS for a failed attempt past the limit, or if the batch is full
   */
  async attempt<T>(address: string, reply: Reply, wrong: ErrorCode, look: () => T | Promise<T>): Promise<T> {
    if (this.limit === 0) return look();
    const source = sourceOf(address);
    if (this.tried.waitMs(source, Date.now()) > 0) await this.nextBatch(source, reply);
    try {
      return await look();
    } catch (error) {
      if (error instanceof ApiError && error.code === wrong) this.count(source, reply);
      throw error;
    }
  }

  private nextBatch(source: string, reply: Reply): Promise<void> {
    let batch = this.batches.get(source);
    if (!batch) {
      const start = sleep(BATCH_MS).then(() => void this.batches.delete(source));
      this.batches.set(source, (batch = { size: 0, start }));
    }
    if (batch.size >= MAX_BATCH) this.refuse(source, reply, this.limit + 1);
    batch.size += 1;
    return batch.start;
  }

  private count(source: string, reply: Reply): void {
    const tried = this.tried.add(source, Date.now());
    if (tried > this.limit) this.refuse(source, reply, tried);
    this.writeHeaders(source, reply, tried);
  }

  private refuse(source: string, reply: Reply, tried: number): never {
    void reply.header('retry-after', this.writeHeaders(source, reply, tried));
    throw new ApiError('TOO_MANY_REQUESTS', `Too many unknown ${this.what} from this address`);
  }

  /** @returns seconds until the next attempt is admitted; with attempts left, until the next window */
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

/** Addresses are hashed before they are sent to other replicas. */
const sourceOf = (address: string): string => hash('sha256', networkOf(address), 'base64url').slice(0, 22);
