import { ApiError } from '@perkway/domain';
import { LRUCache } from 'lru-cache';
import { RowFlow } from './row-flow.js';

export interface QuerySchedulerOptions {
  /** Queries that run at once, over all accounts. */
  slots: number;
  /** Queries of one account that run at once. */
  perAccount: number;
  /** Heavy queries that run at once, over all accounts. */
  heavy: number;
  /** Queries of one account that may wait. */
  queue: number;
}

export interface Work {
  account: string;
  /** Queries of the same kind cost about the same. A query without a kind is assumed to be small. */
  kind?: string;
  /** Removes a waiting query from the queue. Running work must check the signal itself. */
  signal: AbortSignal;
  /** The flow of rows to the client, set if the client may read them slowly. */
  flow?: RowFlow;
}

interface Account {
  running: number;
  /** Run time of its queries in milliseconds, for the order of accounts. */
  spentMs: number;
  lastSmallAt: number;
  lastHeavyAt: number;
  /** Run time of its recent heavy queries in milliseconds, as of `lastHeavyAt`. */
  heavyMs: number;
  /** None of its heavy queries starts before this time. */
  cooldownUntil: number;
  /** Run time of its last query of a new kind, in milliseconds: the estimate for the next new kind. */
  lastNewMs: number;
}

/** A query that waits or runs. */
interface Query {
  account: Account;
  flow: RowFlow;
  isHeavy: boolean;
  /** No query of its kind has run before. */
  isNew: boolean;
  /** Time of arrival while it waits, time of its start while it runs. */
  since: number;
  onStart?: () => void;
}

/** Queries slower than this are heavy. */
const HEAVY_MS = 50;
/** A query paused by its client for this long uses no processor. Shorter pauses occur even with fast clients. */
const IDLE_PAUSE_MS = 200;
/**
 * A heavy query starts despite other heavy queries if it has waited this long, its account has nothing running, and the
 * account's last heavy query ended this long ago. It still needs a free connection. Also the longest cooldown.
 */
const MAX_HEAVY_WAIT_MS = 5_000;
/** An account is active for this long after a small query. */
const ACTIVE_MS = 10_000;
/** Cooldown after a heavy query, as a multiple of its run time. */
const COOLDOWN_FACTOR = 2;
/** Recent heavy run time that causes no cooldown yet: enough to open a dashboard and look again. */
const BURST_MS = 1_000;
/** A slow run raises the estimate of its kind by at most this factor: busy processors slow any query down at times. */
const MAX_GROWTH = 1.3;
/** Time alone can let a query start, so waiting queries are checked this often. */
const CHECK_MS = 10;
const MAX_REMEMBERED = 10_000;

export const tooManyQueries = () =>
  new ApiError('TOO_MANY_REQUESTS', 'Too many queries of this account at once; retry in a moment');

/**
 * Shares the database connections between the accounts:
 *
 * 1. An account takes another connection only while more are free than it uses, so the last free one goes to an account
 *    with nothing running.
 * 2. At most `heavy` heavy queries run at once, because a connection is useless without a processor. A query is heavy
 *    if earlier queries of its kind were slow.
 * 3. While other accounts are active with small queries, each heavy query of an account that has had many is followed
 *    by a cooldown for heavy queries of that account.
 * 4. Waiting queries start in the order of: fewest running queries of the account, least run time spent, longest wait.
 */
export class QueryScheduler {
  private readonly accounts = new LRUCache<string, Account>({ max: MAX_REMEMBERED });
  /** Estimated run time per kind in milliseconds: the quickest of the recent runs. */
  private readonly estimates = new LRUCache<string, number>({ max: MAX_REMEMBERED });
  private readonly running = new Set<Query>();
  /** In order of arrival. */
  private readonly waiting = new Set<Query>();
  private checks?: NodeJS.Timeout;

  constructor(private readonly options: QuerySchedulerOptions) {}

  /**
   * Runs work as soon as its account may start another query.
   * @param work is told whether other queries are running or waiting
   * @throws ApiError 429 if too many queries of the account are waiting, or the signal aborts while this one waits
   */
  async run<T>(
    { account: id, kind, signal, flow = new RowFlow() }: Work,
    work: (isBusy: boolean) => Promise<T>,
  ): Promise<T> {
    const account = this.accountOf(id);
    const estimate = kind === undefined ? 0 : this.estimates.get(kind);
    const isHeavy = (estimate ?? account.lastNewMs) >= HEAVY_MS;
    const query: Query = { account, flow, isHeavy, isNew: estimate === undefined, since: Date.now() };
    if (this.mayStart(query)) this.start(query);
    else await this.wait(query, signal);
    try {
      return await work(this.running.size > 1 || this.waiting.size > 0);
    } finally {
      const ms = runMs(query);
      // An aborted query only shows that it takes at least this long.
      if (kind !== undefined && (!signal.aborted || ms >= HEAVY_MS)) this.learn(account, kind, ms);
      this.end(query, ms);
      this.startWaiting();
    }
  }

  /** Returns the account. One without queries continues at the current minimum, so idle accounts bank no credit. */
  private accountOf(id: string): Account {
    let account = this.accounts.get(id);
    if (!account) {
      const times = { lastSmallAt: 0, lastHeavyAt: 0, cooldownUntil: 0 };
      this.accounts.set(id, (account = { running: 0, spentMs: 0, heavyMs: 0, lastNewMs: 0, ...times }));
    }
    const busy = [...this.running, ...this.waiting].map((query) => query.account);
    if (!busy.includes(account))
      account.spentMs = busy.length === 0 ? 0 : Math.min(...busy.map(({ spentMs }) => spentMs));
    return account;
  }

  private mayStart({ account, isHeavy, since }: Query): boolean {
    const { slots, perAccount, heavy } = this.options;
    const { running, lastHeavyAt, cooldownUntil } = account;
    const free = slots - this.running.size;
    if (free === 0 || running >= perAccount || (running > 0 && free <= running)) return false;
    if (!isHeavy) return true;
    const now = Date.now();
    if (running === 0 && now - Math.max(since, lastHeavyAt) > MAX_HEAVY_WAIT_MS) return true;
    return now > cooldownUntil && [...this.running].filter(isHeavyNow).length < heavy;
  }

  private start(query: Query): void {
    query.since = Date.now();
    query.account.running += 1;
    this.running.add(query);
  }

  /** Resolves when the query has started. */
  private wait(query: Query, signal: AbortSignal): Promise<void> {
    const own = [...this.waiting].filter(({ account }) => account === query.account);
    if (own.length >= this.options.queue || signal.aborted) throw tooManyQueries();
    this.waiting.add(query);
    this.checks ??= setInterval(() => this.startWaiting(), CHECK_MS).unref();
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.waiting.delete(query);
        reject(tooManyQueries());
      };
      signal.addEventListener('abort', leave, { once: true });
      query.onStart = () => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
    });
  }

  private startWaiting(): void {
    for (let next = this.next(); next; next = this.next()) {
      this.waiting.delete(next);
      this.start(next);
      next.onStart!();
    }
    if (this.waiting.size > 0) return;
    clearInterval(this.checks);
    this.checks = undefined;
  }

  private next(): Query | undefined {
    const [next] = [...this.waiting]
      .filter((query) => this.mayStart(query))
      .sort(({ account: a }, { account: b }) => a.running - b.running || a.spentMs - b.spentMs);
    return next;
  }

  private end(query: Query, ms: number): void {
    const { account, isHeavy } = query;
    const now = Date.now();
    this.running.delete(query);
    account.running -= 1;
    account.spentMs += ms;
    if (!isHeavy && ms < HEAVY_MS) {
      account.lastSmallAt = now;
      return;
    }
    // Decays at the rate at which an account with cooldowns runs heavy queries.
    const decayed = account.heavyMs - (now - account.lastHeavyAt) / (1 + COOLDOWN_FACTOR);
    account.heavyMs = Math.max(0, decayed) + ms;
    account.lastHeavyAt = now;
    const othersAreActive = [...this.accounts.values()].some(
      (other) => other !== account && now - other.lastSmallAt < ACTIVE_MS,
    );
    if (!othersAreActive || account.heavyMs <= BURST_MS) return;
    const cooldownMs = Math.min(COOLDOWN_FACTOR * ms, MAX_HEAVY_WAIT_MS);
    account.cooldownUntil = Math.max(account.cooldownUntil, now + cooldownMs);
  }

  private learn(account: Account, kind: string, ms: number): void {
    const estimate = this.estimates.get(kind);
    if (estimate === undefined) account.lastNewMs = ms;
    this.estimates.set(kind, Math.min(ms, MAX_GROWTH * Math.max(1, estimate ?? Infinity)));
  }
}

const runMs = ({ since, flow }: Query): number => Date.now() - since - flow.pausedMs;

/** Includes queries of a new kind that turn out to be heavy, but not small ones that wait for a processor. */
const isHeavyNow = (query: Query): boolean =>
  query.flow.pauseMs < IDLE_PAUSE_MS && (query.isHeavy || (query.isNew && runMs(query) >= HEAVY_MS));
