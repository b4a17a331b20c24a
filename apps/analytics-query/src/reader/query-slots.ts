import { DomainError } from '@perkway/domain';
import { LRUCache } from 'lru-cache';

interface Waiting {
  start: () => void;
  /** Counts up, so that who came first goes first among equals. */
  turn: number;
  since: number;
  isHeavy: boolean;
}
/** What is known of a query before it runs. */
interface Known {
  isHeavy: boolean;
  /** Its kind was never seen. */
  isNew: boolean;
}
interface Running extends Known {
  /** Later by the time that it was held. */
  since: number;
  /** Since when whoever asked does not take the rows: it uses no processor until they do. */
  heldSince?: number;
}
interface Lane {
  account: string;
  running: number;
  waiting: Waiting[];
  /** Milliseconds that its queries took, from what the least of the others had when it came. */
  spent: number;
  /** When the last of its heavy queries ended. */
  heavyUntil: number;
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
const HEAVY_MS = 50;
/** Whose reader holds it up for this long uses no processor; an answer that is read as fast as it can be is held up now and then. */
const HELD_MS = 200;
/** An account that has nothing running waits no longer than this from one heavy query to the next for those of others. */
const HEAVY_WAIT_MS = 5_000;
/** Who was answered a small query this lately is using the analytics. */
const IN_USE_MS = 10_000;
/** How many times as long as it took a heavy query of others is rested after meanwhile. */
const REST = 2;
/** Heavy milliseconds of an account that need no rest: a dashboard is looked at, and looked at again. */
const BURST_MS = 1_000;
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
 * take turns by what their accounts have spent. While another account is using the analytics with small queries, each of
 * an account that has had many is followed by a rest of twice its own length, because a processor that is shared makes
 * everything on it slower.
 */
export class QuerySlots {
  private readonly lanes = new Map<string, Lane>();
  private readonly running = new Set<Running>();
  /**
   * Milliseconds that the quickest of the last runs of a kind took: others who keep the processors busy make it slow now and then, and it
   * would wait for them if it were called heavy for that.
   */
  private readonly quickest = new LRUCache<string, number>({ max: MAX_KINDS });
  /**
   * What the last kind that an account asked for the first time took: nobody who makes heavy ones up has several at once
   * because each is new.
   */
  private readonly lastNew = new LRUCache<string, number>({ max: MAX_KINDS });
  /** When who was answered a small query last, and another one before, were answered it. */
  private readonly lastSmall = new LRUCache<string, number>({ max: 2 });
  /** Heavy milliseconds that accounts have had, of which as much is forgotten as they could have in the time since. */
  private readonly had = new LRUCache<string, { ms: number; at: number }>({ max: MAX_KINDS });
  /** Until when no heavy one starts of an account that has had many. */
  private restsUntil = 0;
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
    const quickest = kind === undefined ? 0 : this.quickest.get(kind);
    const isHeavy = (quickest ?? this.lastNew.get(account) ?? 0) >= HEAVY_MS;
    const known = { isHeavy, isNew: quickest === undefined };
    const lane = this.laneOf(account);
    const run = this.mayStart(lane, isHeavy) ? this.take(lane, known) : await this.wait(lane, known, signal);
    try {
      return await work(this.running.size > 1 || this.waiting > 0, (isHeld) => {
        if (isHeld === (run.heldSince !== undefined)) return;
        if (!isHeld) run.since += Date.now() - run.heldSince!;
        run.heldSince = isHeld ? Date.now() : undefined;
        if (isHeld) this.startNextIn(HELD_MS);
      });
    } finally {
      const took = (run.heldSince ?? Date.now()) - run.since;
      // What was broken off says no more than that it takes at least as long.
      if (kind !== undefined && (!signal.aborted || took >= HEAVY_MS)) this.learn(account, kind, took);
      lane.spent += took;
      lane.running -= 1;
      this.running.delete(run);
      if (isHeavy || took >= HEAVY_MS) this.rest(lane, took);
      else this.lastSmall.set(account, Date.now());
      this.startNext();
      this.forgetIdle(lane);
    }
  }

  private learn(account: string, kind: string, took: number) {
    const known = this.quickest.get(kind);
    if (known === undefined) this.lastNew.set(account, took);
    this.quickest.set(kind, Math.min(took, FORGET * Math.max(1, known ?? Infinity)));
  }

  private rest(lane: Lane, took: number) {
    const { account } = lane;
    const now = Date.now();
    lane.heavyUntil = now;
    if (lane.waiting.length > 0) this.startNextIn(HEAVY_WAIT_MS);
    this.had.set(account, { ms: this.hadLately(account) + took, at: now });
    const isInUse = [...this.lastSmall].some(([other, at]) => other !== account && now - at < IN_USE_MS);
    if (!isInUse || this.hadLately(account) <= BURST_MS) return;
    const ms = Math.min(REST * took, HEAVY_WAIT_MS);
    this.restsUntil = Math.max(this.restsUntil, now + ms);
    this.startNextIn(ms);
  }

  private hadLately(account: string): number {
    const { ms, at } = this.had.get(account) ?? { ms: 0, at: 0 };
    return Math.max(0, ms - (Date.now() - at) / (1 + REST));
  }

  private startNextIn(ms: number) {
    setTimeout(() => this.startNext(), ms + 1).unref();
  }

  /** Who comes begins with what the least of the others has spent: nobody saves turns up. */
  private laneOf(account: string): Lane {
    const known = this.lanes.get(account);
    if (known) return known;
    const least = Math.min(...[...this.lanes.values()].map(({ spent }) => spent));
    const spent = Number.isFinite(least) ? least : 0;
    const lane = { account, running: 0, waiting: [], spent, heavyUntil: 0 };
    this.lanes.set(account, lane);
    return lane;
  }

  private mayStart({ account, running, heavyUntil }: Lane, isHeavy: boolean, since = Infinity): boolean {
    const free = this.options.slots - this.running.size;
    if (free === 0 || running >= this.options.perAccount || (running > 0 && free <= running)) return false;
    if (!isHeavy) return true;
    const now = Date.now();
    const mayRun = now >= this.restsUntil || this.hadLately(account) <= BURST_MS;
    if (mayRun && this.heavyRunning() < this.options.heavy) return true;
    return running === 0 && now - Math.max(since, heavyUntil) >= HEAVY_WAIT_MS;
  }

  /** Also new ones that turn out to be; not those that are small and wait for a processor. */
  private heavyRunning(): number {
    const now = Date.now();
    return [...this.running].filter(
      ({ isHeavy, isNew, heldSince = now, since }) =>
        now - heldSince < HELD_MS && (isHeavy || (isNew && heldSince - since >= HEAVY_MS)),
    ).length;
  }

  private take(lane: Lane, known: Known): Running {
    const run: Running = { since: Date.now(), ...known };
    lane.running += 1;
    this.running.add(run);
    return run;
  }

  /** Resolves when it has been started. */
  private wait(lane: Lane, known: Known, signal: AbortSignal): Promise<Running> {
    const { isHeavy } = known;
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
        this.forgetIdle(lane);
        reject(tooMany());
      };
      const waiting: Waiting = {
        turn: (this.turns += 1),
        since: Date.now(),
        isHeavy,
        start: () => {
          done();
          resolve(this.take(lane, known));
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

  private forgetIdle(lane: Lane) {
    if (lane.running === 0 && lane.waiting.length === 0 && this.lanes.get(lane.account) === lane)
      this.lanes.delete(lane.account);
  }
}

interface Candidate {
  lane: Lane;
  waiting: Waiting;
}
const isBefore = (a: Candidate, b: Candidate): boolean =>
  (a.lane.running - b.lane.running || a.lane.spent - b.lane.spent || a.waiting.turn - b.waiting.turn) < 0;
