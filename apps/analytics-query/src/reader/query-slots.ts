import { DomainError } from '@perkway/domain';
import { LRUCache } from 'lru-cache';

interface Waiting {
  start: () => void;
  /** Counts up, so that who came first goes first among equals. */
  turn: number;
  since: number;
  isHeavy: boolean;
}
interface Running {
  since: number;
  isHeavy: boolean;
  /** Whoever asked does not take the rows: it uses no processor until they do. */
  isHeld: boolean;
}
interface Lane {
  running: number;
  waiting: Waiting[];
  /** Milliseconds that its queries took, from what the least of the others had when it came. */
  spent: number;
}

export interface QuerySlotsOptions {
  /** Queries that run at once, of all accounts. */
  slots: number;
  /** Of one account. */
  perAccount: number;
  /** Heavy ones, of all accounts. */
  heavy: number;
  /** Queries of one account that may wait for their turn. */
  queue: number;
}

export interface Work {
  account: string;
  /** What is alike takes alike long, so that what took long is known the next time. Without it nothing is remembered. */
  kind?: string;
  /** Ends the waiting; the work looks at it itself. */
  signal: AbortSignal;
}

/** What takes longer is heavy. */
const HEAVY_MS = 100;
/** An account that has nothing running waits no longer than this for the heavy queries of others. */
const HEAVY_WAIT_MS = 2_000;
/** What was quick counts as so much slower after each slow run: a burst of them is not enough to call it heavy. */
const FORGET = 1.3;
const MAX_KINDS = 10_000;

const tooMany = () =>
  new DomainError('TOO_MANY_REQUESTS', 'Too many queries of this account at once, try again in a moment');

/**
 * Shares the connections out between the accounts: an account may take another one only while more are free than it has
 * itself. So one account alone gets half of them, several get less, and there is one left for whoever comes next.
 *
 * A connection is of no use without a processor, so of the queries that are known to be heavy only a few run at once; they
 * take turns by what their accounts have spent.
 */
export class QuerySlots {
  private readonly lanes = new Map<string, Lane>();
  private readonly running = new Set<Running>();
  /**
   * Milliseconds that the quickest of the last runs of a kind took: others who keep the processors busy make it slow now and then, and it
   * would wait for them if it were called heavy for that.
   */
  private readonly quickest = new LRUCache<string, number>({ max: MAX_KINDS });
  private waiting = 0;
  private turns = 0;

  constructor(private readonly options: QuerySlotsOptions) {}

  /**
   * @param work told whether there is other work at the same time; tells when it is held up by its reader, and when no more
   * @throws DomainError 429 when too many queries of the account wait already
   */
  async run<T>(
    { account, kind, signal }: Work,
    work: (isBusy: boolean, hold: (isHeld: boolean) => void) => Promise<T>,
  ): Promise<T> {
    const isHeavy = kind !== undefined && (this.quickest.get(kind) ?? 0) >= HEAVY_MS;
    const lane = this.laneOf(account);
    const run = this.mayStart(lane, isHeavy)
      ? this.take(lane, isHeavy)
      : await this.wait(account, lane, isHeavy, signal);
    try {
      return await work(this.running.size > 1 || this.waiting > 0, (isHeld) => {
        if (run.isHeld === isHeld) return;
        run.isHeld = isHeld;
        if (isHeld) this.startNext();
      });
    } finally {
      const took = Date.now() - run.since;
      if (kind !== undefined)
        this.quickest.set(kind, Math.min(took, FORGET * Math.max(1, this.quickest.get(kind) ?? Infinity)));
      lane.spent += took;
      lane.running -= 1;
      this.running.delete(run);
      this.startNext();
      this.forgetIdle(account, lane);
    }
  }

  /** Who comes begins with what the least of the others has spent: nobody saves turns up. */
  private laneOf(account: string): Lane {
    const known = this.lanes.get(account);
    if (known) return known;
    const least = Math.min(...[...this.lanes.values()].map(({ spent }) => spent));
    const lane = { running: 0, waiting: [], spent: Number.isFinite(least) ? least : 0 };
    this.lanes.set(account, lane);
    return lane;
  }

  private mayStart({ running }: Lane, isHeavy: boolean, since = Infinity): boolean {
    const free = this.options.slots - this.running.size;
    if (free === 0 || running >= this.options.perAccount || (running > 0 && free <= running)) return false;
    if (!isHeavy || this.heavyRunning() < this.options.heavy) return true;
    return running === 0 && Date.now() - since >= HEAVY_WAIT_MS;
  }

  /** Also those that nobody knew before. */
  private heavyRunning(): number {
    const before = Date.now() - HEAVY_MS;
    return [...this.running].filter(({ isHeavy, isHeld, since }) => !isHeld && (isHeavy || since <= before))
      .length;
  }

  private take(lane: Lane, isHeavy: boolean): Running {
    const run = { since: Date.now(), isHeavy, isHeld: false };
    lane.running += 1;
    this.running.add(run);
    return run;
  }

  /** Resolves when it has been started. */
  private wait(account: string, lane: Lane, isHeavy: boolean, signal: AbortSignal): Promise<Running> {
    if (lane.waiting.length >= this.options.queue) throw tooMany();
    return new Promise((resolve, reject) => {
      const patience = isHeavy ? setTimeout(() => this.startNext(), HEAVY_WAIT_MS + 1) : undefined;
      const done = () => {
        clearTimeout(patience);
        signal.removeEventListener('abort', leave);
        lane.waiting.splice(lane.waiting.indexOf(waiting), 1);
        this.waiting -= 1;
      };
      const leave = () => {
        done();
        this.forgetIdle(account, lane);
        reject(tooMany());
      };
      const waiting: Waiting = {
        turn: (this.turns += 1),
        since: Date.now(),
        isHeavy,
        start: () => {
          done();
          resolve(this.take(lane, isHeavy));
        },
      };
      lane.waiting.push(waiting);
      this.waiting += 1;
      if (signal.aborted) leave();
      else signal.addEventListener('abort', leave, { once: true });
    });
  }

  /** Whoever has the fewest running, then has spent least, then waits longest. */
  private startNext() {
    for (;;) {
      let next: Candidate | undefined;
      for (const lane of this.lanes.values()) {
        const waiting = lane.waiting.find(({ isHeavy, since }) => this.mayStart(lane, isHeavy, since));
        if (waiting && (!next || isBefore({ lane, waiting }, next))) next = { lane, waiting };
      }
      if (!next) return;
      next.waiting.start();
    }
  }

  private forgetIdle(account: string, lane: Lane) {
    if (lane.running === 0 && lane.waiting.length === 0 && this.lanes.get(account) === lane)
      this.lanes.delete(account);
  }
}

interface Candidate {
  lane: Lane;
  waiting: Waiting;
}
const isBefore = (a: Candidate, b: Candidate): boolean =>
  (a.lane.running - b.lane.running || a.lane.spent - b.lane.spent || a.waiting.turn - b.waiting.turn) < 0;
