import { DomainError } from '@perkway/domain';

interface Waiting {
  start: () => void;
  /** Counts up, so that who came first goes first among equals. */
  turn: number;
}
interface Lane {
  running: number;
  waiting: Waiting[];
}

export interface QuerySlotsOptions {
  /** Queries that run at once, of all accounts. */
  slots: number;
  /** Of one account. */
  perAccount: number;
  /** Queries of one account that may wait for their turn. */
  queue: number;
}

const tooMany = () =>
  new DomainError('TOO_MANY_REQUESTS', 'Too many queries of this account at once, try again in a moment');

/**
 * Shares the connections out between the accounts: an account may take another one only while more are free than it has
 * itself. So one account alone gets half of them, several get less, and there is one left for whoever comes next.
 */
export class QuerySlots {
  private readonly lanes = new Map<string, Lane>();
  private free: number;
  private turns = 0;

  constructor(private readonly options: QuerySlotsOptions) {
    this.free = options.slots;
  }

  /**
   * @param signal ends the waiting; the work looks at it itself
   * @param work told whether other work runs at the same time
   * @throws DomainError 429 when too many queries of the account wait already
   */
  async run<T>(account: string, signal: AbortSignal, work: (isBusy: boolean) => Promise<T>): Promise<T> {
    let lane = this.lanes.get(account);
    if (!lane) this.lanes.set(account, (lane = { running: 0, waiting: [] }));
    if (lane.waiting.length === 0 && this.mayStart(lane)) this.take(lane);
    else await this.wait(account, lane, signal);
    try {
      return await work(this.options.slots - this.free > 1);
    } finally {
      lane.running -= 1;
      this.free += 1;
      this.startNext();
      this.forgetIdle(account, lane);
    }
  }

  private mayStart({ running }: Lane): boolean {
    if (this.free === 0 || running >= this.options.perAccount) return false;
    return running === 0 || this.free > running;
  }

  private take(lane: Lane) {
    lane.running += 1;
    this.free -= 1;
  }

  /** Resolves with a slot taken. */
  private wait(account: string, lane: Lane, signal: AbortSignal): Promise<void> {
    if (lane.waiting.length >= this.options.queue) throw tooMany();
    return new Promise((resolve, reject) => {
      const leave = () => {
        lane.waiting.splice(lane.waiting.indexOf(waiting), 1);
        this.forgetIdle(account, lane);
        reject(tooMany());
      };
      const waiting: Waiting = {
        turn: (this.turns += 1),
        start: () => {
          signal.removeEventListener('abort', leave);
          resolve();
        },
      };
      lane.waiting.push(waiting);
      if (signal.aborted) leave();
      else signal.addEventListener('abort', leave, { once: true });
    });
  }

  /** Whoever has the fewest running, then whoever waits longest. */
  private startNext() {
    for (;;) {
      let next: Lane | undefined;
      for (const lane of this.lanes.values()) {
        if (lane.waiting.length === 0 || !this.mayStart(lane)) continue;
        if (
          !next ||
          lane.running < next.running ||
          (lane.running === next.running && first(lane) < first(next))
        )
          next = lane;
      }
      if (!next) return;
      this.take(next);
      next.waiting.shift()!.start();
    }
  }

  private forgetIdle(account: string, lane: Lane) {
    if (lane.running === 0 && lane.waiting.length === 0 && this.lanes.get(account) === lane)
      this.lanes.delete(account);
  }
}

const first = ({ waiting }: Lane): number => waiting[0]!.turn;
