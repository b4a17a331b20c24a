import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { RollupWatermark } from '../query/rollup-watermark.js';
import type { Statement } from './reader.js';

const MAX_ACCOUNTS = 1_000;
/** An account with more dirty hours reads raw rows until they have been recomputed. */
const MAX_DIRTY = 1_000;

/**
 * Returns the statement that reads the watermark. To check a cached watermark, it runs in the same snapshot as the
 * queries that depend on it.
 */
export const watermarkOf = (account: string): Statement => ({
  // Distinct, because one hour alone may have this many marks, and must not hide the others.
  text: `select extract(epoch from closed_to)::bigint, array_to_string(array(
      select distinct extract(epoch from hour)::bigint from dirty_hours where account_id = $1 limit ${MAX_DIRTY + 1}), ',')
    from rollup_state`,
  params: [account],
});

export function readWatermark([closed, dirty]: unknown[]): RollupWatermark {
  const hours = dirty ? (dirty as string).split(',').map((seconds) => Number(seconds) * 1_000) : [];
  return { closedTo: hours.length > MAX_DIRTY ? -Infinity : Number(closed) * 1_000, dirty: hours };
}

/**
 * Returns whether a query compiled with `used` is still right if `now` is current: no closed hour was reopened, and no
 * further hour is dirty.
 */
export function holds(used: RollupWatermark, now: RollupWatermark): boolean {
  if (used.closedTo > now.closedTo) return false;
  const known = new Set(used.dirty);
  return now.dirty.every((hour) => known.has(hour) || hour >= used.closedTo);
}

/** Caches the last known watermark and dirty hours of each account. */
@Injectable()
export class RollupWatermarks {
  private readonly known = new LRUCache<string, RollupWatermark>({ max: MAX_ACCOUNTS });
  /** The latest watermark of any account: hours are closed for all accounts at once. */
  private closedTo = -Infinity;

  /** Returns a guess for a new account, and undefined before the first `learn`. */
  get(account: string): RollupWatermark | undefined {
    const fallback = Number.isFinite(this.closedTo) ? { closedTo: this.closedTo, dirty: [] } : undefined;
    return this.known.get(account) ?? fallback;
  }

  learn(account: string, watermark: RollupWatermark): void {
    if (Number.isFinite(watermark.closedTo)) this.closedTo = watermark.closedTo;
    this.known.set(account, watermark);
  }
}
