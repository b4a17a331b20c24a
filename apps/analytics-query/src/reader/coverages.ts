import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { Coverage } from '../query/coverage.js';
import type { Statement } from './reader.js';

const MAX_ACCOUNTS = 1_000;
/** An account with more dirty hours reads raw rows until they have been cleared. */
const MAX_DIRTY = 1_000;

/** Asked in the same snapshot as the queries whose answers depend on it. */
export const coverageOf = (account: string): Statement => ({
  // Different hours: the marks of one alone may be as many, and must not hide those of the next.
  text: `select extract(epoch from closed_to)::bigint, array_to_string(array(
      select distinct extract(epoch from hour)::bigint from dirty_hours where account_id = $1 limit ${MAX_DIRTY + 1}), ',')
    from rollup_state`,
  params: [account],
});

export function readCoverage([closed, dirty]: unknown[]): Coverage {
  const hours = dirty ? (dirty as string).split(',').map((seconds) => Number(seconds) * 1_000) : [];
  return { closedTo: hours.length > MAX_DIRTY ? -Infinity : Number(closed) * 1_000, dirty: hours };
}

/** Whether cells may be read as `used` says when `now` is the truth: no fewer hours closed, none dirty that was not. */
export function holds(used: Coverage, now: Coverage): boolean {
  if (used.closedTo > now.closedTo) return false;
  const known = new Set(used.dirty);
  return now.dirty.every((hour) => known.has(hour) || hour >= used.closedTo);
}

/** What was learnt last about the cells of each account. */
@Injectable()
export class Coverages {
  private readonly known = new LRUCache<string, Coverage>({ max: MAX_ACCOUNTS });
  /** The latest of any account: hours are closed for all at once. */
  private closedTo = -Infinity;

  /** A guess where the account is new, and nothing before anything was learnt. */
  get(account: string): Coverage | undefined {
    const guess = Number.isFinite(this.closedTo) ? { closedTo: this.closedTo, dirty: [] } : undefined;
    return this.known.get(account) ?? guess;
  }

  learn(account: string, coverage: Coverage): void {
    if (Number.isFinite(coverage.closedTo)) this.closedTo = coverage.closedTo;
    this.known.set(account, coverage);
  }
}
