import { ApiError } from '@perkway/domain';
import { LRUCache } from 'lru-cache';

interface Waiting {
  start: () => void;
  /** A sequence number: first come, first served among equals. */
  turn: number;
  since: number;
  isHeavy: boolean;
}
/** What is known about a query before it runs. */
interface Known {
  isHeavy: boolean;
  /** No query of its kind has run before. */
  isNew: boolean;
}
interface Running extends Known {
  /** Start time, moved forward by the time it was paused. */
  since: number;
  /** Since when its client has stopped reading; it uses no processor while paused. */
  heldSince?: number;
}
interface TenantQueue {
  account: string;
  running: number;
  waiting: Waiting[];
  /** Run time of its queries in milliseconds, starting at the minimum of the other accounts. */
  spent: number;
  /** When its last heavy query ended. */
  heavyUntil: number;
}

export interface QuerySchedulerOptions {
  /** Queries that run at once, over all accounts. */
  slots: number;
  /** Queries of one account that run at once. */
  perAccount: number;
  /** Heavy queries that run at once, over all accounts. */
  heavy: number;
  /** Queries of one account that may wait in its queue. */
  queue: number;
}

export interface Work {
  account: string;
  /**
   * Queries of the same kind cost about the same, so past run times predict the next one. Without a kind nothing is
   * learned.
   */
  kind?: string;
  /** Ends the waiting; the work must check it itself. */
  signal: AbortSignal;
}

/** Queries slower than this are heavy. */
const HEAVY_MS = 50;
/** A query paused by its client for this long uses no processor. Shorter pauses occur even with fast clients. */
const HELD_MS = 200;
/** An account with nothing running waits at most this long between two heavy queries because of other accounts. */
const HEAVY_WAIT_MS = 5_000;
/** An account is active for this long after a small query. */
const IN_USE_MS = 10_000;
/** Cooldown of an account after its heavy query, as a multiple of the run time, while others are using the analytics. */
const REST = 2;
/** Heavy milliseconds of an account without a cooldown: enough to open a dashboard and look again. */
const BURST_MS = 1_000;
/**
 * After each slow run, the quickest known run time grows by at most this factor, so a burst of slow runs does not make
 * a quick kind heavy.
 */
const FORGET = 1.3;
const MAX_KINDS = 10_000;

const tooMany = () =>
  new ApiError('TOO_MANY_REQUESTS', 'Too many queries of this account at once; retry in a moment');

/**
 * Shares the database connections between the accounts. An account may take another connection only while more are free
 * than it uses. So a single account gets half of them, several accounts get less each, and one stays free for the next
 * account.
 *
 * A connection is useless without a processor, so only a few heavy queries run at once, ordered by the time that their
 * accounts have spent. While another account is active with small queries, each heavy query of an account that has had
 * many starts a cooldown of that account, because a shared processor slows every query down.
 */
export class QueryScheduler {
  private readonly queues = new Map<string, TenantQueue>();
  private readonly running = new Set<Running>();
  /**
   * Quickest recent run time per kind, in milliseconds. Busy processors make any query slow now and then, and a query
   * called heavy for that would have to wait.
   */
  private readonly quickest = new LRUCache<string, number>({ max: MAX_KINDS });
  /**
   * Run time of the last new kind per account. Assumed for the next new kind, so that made-up heavy queries do not run
   * in parallel just because each is new.
   */
  private readonly lastNew = new LRUCache<string, number>({ max: MAX_KINDS });
  /** The last two accounts with a small query, and when it ended. */
  private readonly lastSmall = new LRUCache<string, number>({ max: 2 });
  /** Heavy milliseconds per account. They decay at the rate at which the account could run heavy queries. */
  private readonly had = new LRUCache<string, { ms: number; at: number }>({ max: MAX_KINDS });
  /** End of each account's cooldown, until which none of its heavy queries starts. */
  private readonly cooldowns = new LRUCache<string, number>({ max: MAX_KINDS });
  private waiting = 0;
  private turns = 0;

  constructor(private readonly options: QuerySchedulerOptions) {}

  /**
   * @param work is told whether other queries are running or waiting; reports when its client stops and resumes reading
   * @throws ApiError 429 if too many queries of the account are waiting
   */
  async run<T>(
    { account, kind, signal }: Work,
    work: (isBusy: boolean, hold: (isHeld: boolean) => void) => Promise<T>,
  ): Promise<T> {
    const quickest = kind === undefined ? 0 : this.quickest.get(kind);
    const isHeavy = (quickest ?? this.lastNew.get(account) ?? 0) >= HEAVY_MS;
    const known = { isHeavy, isNew: quickest === undefined };
    const queue = this.queueOf(account);
    const run = this.mayStart(queue, isHeavy)
      ? this.take(queue, known)
      : await this.wait(queue, known, signal);
    try {
      return await work(this.running.size > 1 || this.waiting > 0, (isHeld) => {
        if (isHeld === (run.heldSince !== undefined)) return;
        if (!isHeld) run.since += Date.now() - run.heldSince!;
        run.heldSince = isHeld ? Date.now() : undefined;
        if (isHeld) this.startNextIn(HELD_MS);
      });
    } finally {
      const took = (run.heldSince ?? Date.now()) - run.since;
      // An aborted query only shows that it takes at least this long.
      if (kind !== undefined && (!signal.aborted || took >= HEAVY_MS)) this.learn(account, kind, took);
      queue.spent += took;
      queue.running -= 1;
      this.running.delete(run);
      if (isHeavy || took >= HEAVY_MS) this.rest(queue, took);
      else this.lastSmall.set(account, Date.now());
      this.startNext();
      this.forgetIdle(queue);
    }
  }

  private learn(account: string, kind: string, took: number) {
    const known = this.quickest.get(kind);
    if (known === undefined) this.lastNew.set(account, took);
    this.quickest.set(kind, Math.min(took, FORGET * Math.max(1, known ?? Infinity)));
  }

  private rest(queue: TenantQueue, took: number) {
    const { account } = queue;
    const now = Date.now();
    queue.heavyUntil = now;
    if (queue.waiting.length > 0) this.startNextIn(HEAVY_WAIT_MS);
    this.had.set(account, { ms: this.hadLately(account) + took, at: now });
    const isInUse = [...this.lastSmall].some(([other, at]) => other !== account && now - at < IN_USE_MS);
    if (!isInUse || this.hadLately(account) <= BURST_MS) return;
    const ms = Math.min(REST * took, HEAVY_WAIT_MS);
    this.cooldowns.set(account, Math.max(this.cooldowns.get(account) ?? 0, now + ms));
    this.startNextIn(ms);
  }

  private hadLately(account: string): number {
    const { ms, at } = this.had.get(account) ?? { ms: 0, at: 0 };
    return Math.max(0, ms - (Date.now() - at) / (1 + REST));
  }

  private startNextIn(ms: number) {
    setTimeout(() => this.startNext(), ms + 1).unref();
  }

  /** A new account starts at the current minimum, so idle accounts cannot bank credit. */
  private queueOf(account: string): TenantQueue {
    const known = this.queues.get(account);
    if (known) return known;
    const least = Math.min(...[...this.queues.values()].map(({ spent }) => spent));
    const spent = Number.isFinite(least) ? least : 0;
    const queue = { account, running: 0, waiting: [], spent, heavyUntil: 0 };
    this.queues.set(account, queue);
    return queue;
  }

  private mayStart(
    { account, running, heavyUntil }: TenantQueue,
    isHeavy: boolean,
    since = Infinity,
  ): boolean {
    const free = this.options.slots - this.running.size;
    if (free === 0 || running >= this.options.perAccount || (running > 0 && free <= running)) return false;
    if (!isHeavy) return true;
    const now = Date.now();
    if (now >= (this.cooldowns.get(account) ?? 0) && this.heavyRunning() < this.options.heavy) return true;
    return running === 0 && now - Math.max(since, heavyUntil) >= HEAVY_WAIT_MS;
  }

  /** Includes new kinds that turn out to be heavy, but not small queries that wait for a processor. */
  private heavyRunning(): number {
    const now = Date.now();
    return [...this.running].filter(
      ({ isHeavy, isNew, heldSince = now, since }) =>
        now - heldSince < HELD_MS && (isHeavy || (isNew && heldSince - since >= HEAVY_MS)),
    ).length;
  }

  private take(queue: TenantQueue, known: Known): Running {
    const run: Running = { since: Date.now(), ...known };
    queue.running += 1;
    this.running.add(run);
    return run;
  }

  /** Resolves when the query has started. */
  private wait(queue: TenantQueue, known: Known, signal: AbortSignal): Promise<Running> {
    const { isHeavy } = known;
    if (queue.waiting.length >= this.options.queue) throw tooMany();
    return new Promise((resolve, reject) => {
      const timeout = isHeavy ? setTimeout(() => this.startNext(), HEAVY_WAIT_MS + 1) : undefined;
      const done = () => {
        clearTimeout(timeout);
        signal.removeEventListener('abort', leave);
        queue.waiting.splice(queue.waiting.indexOf(waiting), 1);
        this.waiting -= 1;
      };
      const leave = () => {
        done();
        this.forgetIdle(queue);
        reject(tooMany());
      };
      const waiting: Waiting = {
        turn: (this.turns += 1),
        since: Date.now(),
        isHeavy,
        start: () => {
          done();
          resolve(this.take(queue, known));
        },
      };
      queue.waiting.push(waiting);
      this.waiting += 1;
      if (signal.aborted) leave();
      else signal.addEventListener('abort', leave, { once: true });
    });
  }

  /** Starts waiting queries: fewest running queries of the account first, then least spent time, then longest wait. */
  private startNext() {
    for (;;) {
      let next: Candidate | undefined;
      for (const queue of this.queues.values()) {
        const waiting = queue.waiting.find(({ isHeavy, since }) => this.mayStart(queue, isHeavy, since));
        if (waiting && (!next || isBefore({ queue, waiting }, next))) next = { queue, waiting };
      }
      if (!next) return;
      next.waiting.start();
    }
  }

  private forgetIdle(queue: TenantQueue) {
    if (queue.running === 0 && queue.waiting.length === 0 && this.queues.get(queue.account) === queue)
      this.queues.delete(queue.account);
  }
}

interface Candidate {
  queue: TenantQueue;
  waiting: Waiting;
}
const isBefore = (a: Candidate, b: Candidate): boolean =>
  (a.queue.running - b.queue.running || a.queue.spent - b.queue.spent || a.waiting.turn - b.waiting.turn) < 0;
