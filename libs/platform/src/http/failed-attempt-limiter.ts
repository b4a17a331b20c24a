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
 * Limits failed attempts per address and minute, over all replicas. Only failures count. Valid credentials pass even
 * past the limit, so that an attacker does not lock out others behind the same address. Lookups past the limit start in
 * batches, so that the cache behind them sends one request per batch. Exception: a full batch rejects every request.
 */
export class FailedAttemptLimiter {
  private readonly failures: SharedCounter;
  /** The running batch of lookups by address. */
  private readonly batches = new Map<string, Batch>();

  /**
   * @param limit failed attempts per address and minute; 0 disables the limit
   * @param credentials their name in the plural, for the message; unique within the app
   */
  constructor(
    private readonly limit: number,
    private readonly credentials: string,
    counts: Pick<ReplicaCounts, 'counter'>,
  ) {
    this.failures = counts.counter(credentials, WINDOWS, limit);
  }

  /**
   * Looks up a credential, in a batch if the address is past its limit. A failed attempt is counted, and its response
   * has the `RateLimit-*` headers.
   *
   * @param lookUp throws an ApiError with this code if the credential is invalid
   * @throws ApiError TOO_MANY_REQUESTS for a failed attempt past the limit, or if the batch is full
   */
  async attempt<T>(address: string, reply: Reply, code: ErrorCode, lookUp: () => T | Promise<T>): Promise<T> {
    if (this.limit === 0) return lookUp();
    const source = sourceOf(address);
    if (this.failures.waitMs(source, Date.now()) > 0) await this.nextBatch(source, reply);
    try {
      return await lookUp();
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== code) throw error;
      const failures = this.failures.add(source, Date.now());
      if (failures > this.limit) throw this.tooMany(source, reply);
      this.writeHeaders(source, reply, this.limit - failures);
      throw error;
    }
  }

  private nextBatch(source: string, reply: Reply): Promise<void> {
    let batch = this.batches.get(source);
    if (!batch) {
      const start = sleep(BATCH_MS).then(() => void this.batches.delete(source));
      this.batches.set(source, (batch = { size: 0, start }));
    }
    if (batch.size >= MAX_BATCH) throw this.tooMany(source, reply);
    batch.size += 1;
    return batch.start;
  }

  private tooMany(source: string, reply: Reply): ApiError {
    void reply.header('retry-after', this.writeHeaders(source, reply, 0));
    return new ApiError('TOO_MANY_REQUESTS', `Too many unknown ${this.credentials} from this address`);
  }

  /** @returns seconds until the next attempt is admitted; with attempts left, until the next window */
  private writeHeaders(source: string, reply: Reply, remaining: number): number {
    const now = Date.now();
    const resetSeconds = Math.ceil(
      (this.failures.waitMs(source, now) || this.failures.remainingMs(now)) / 1_000,
    );
    void reply.headers({
      'ratelimit-limit': this.limit,
      'ratelimit-remaining': remaining,
      'ratelimit-reset': resetSeconds,
    });
    return resetSeconds;
  }
}

/** Addresses are hashed before they are sent to other replicas. */
const sourceOf = (address: string): string => hash('sha256', networkOf(address), 'base64url').slice(0, 22);
