import { DomainError } from '@perkway/domain';

interface Waiting {
  start: () => void;
  timer: NodeJS.Timeout;
}
interface Lane {
  running: number;
  waiting: Waiting[];
}

export interface AccountQueueOptions {
  /** Queries of one account that run at once. */
  concurrency: number;
  /** Queries of one account that may wait for their turn. */
  queue: number;
  maxWaitMs: number;
}

/** Keeps one account from taking all connections: its queries wait for each other, those of others do not. */
export class AccountQueue {
  private readonly lanes = new Map<string, Lane>();

  constructor(private readonly options: AccountQueueOptions) {}

  /** @throws DomainError 429 when too many queries of the account wait already, or this one has waited too long */
  async run<T>(account: string, work: () => Promise<T>): Promise<T> {
    let lane = this.lanes.get(account);
    if (!lane) this.lanes.set(account, (lane = { running: 0, waiting: [] }));
    if (lane.running < this.options.concurrency) lane.running += 1;
    else await this.wait(lane);
    try {
      return await work();
    } finally {
      const next = lane.waiting.shift();
      if (next) {
        clearTimeout(next.timer);
        next.start();
      } else if (--lane.running === 0) this.lanes.delete(account);
    }
  }

  /** Resolves when a finished query hands its place over. */
  private wait(lane: Lane): Promise<void> {
    const refused = () =>
      new DomainError('TOO_MANY_REQUESTS', 'Too many queries of this account at once, try again in a moment');
    if (lane.waiting.length >= this.options.queue) throw refused();
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        lane.waiting.splice(lane.waiting.indexOf(waiting), 1);
        reject(refused());
      }, this.options.maxWaitMs);
      const waiting: Waiting = { start: resolve, timer };
      lane.waiting.push(waiting);
    });
  }
}
