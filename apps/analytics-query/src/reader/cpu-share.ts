import { tooManyQueries } from './query-scheduler.js';

/** Shorter work needs no pause. */
const SHORT_MS = 2;
/** Pause as a multiple of the CPU time of the work, which does not include reading the body and writing the response. */
const PAUSE_FACTOR = 8;
/** Number of works of one account that may wait. */
const MAX_WAITING = 100;

interface Queue {
  waiting: number;
  /** Resolves when the last work and its pause have ended. */
  end: Promise<void>;
}

/** CPU time of this process, which does not grow while it waits for a processor. */
const processCpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

/**
 * Runs the works of one account one after the other, each followed by a pause. So the large queries of one account take
 * a fraction of the event loop, and queries of other accounts wait for at most one of them.
 */
export class CpuShare {
  private readonly queues = new Map<string, Queue>();

  constructor(private readonly cpuMs = processCpuMs) {}

  /**
   * @param gone aborts when the client disconnects
   * @throws ApiError 429 if too many works of the account wait
   */
  async run<T>(account: string, gone: AbortSignal, work: () => T | Promise<T>): Promise<T> {
    const queue = this.queues.get(account) ?? { waiting: 0, end: Promise.resolve() };
    if (queue.waiting >= MAX_WAITING) throw tooManyQueries();
    this.queues.set(account, queue);
    const before = queue.end;
    let end!: () => void;
    queue.end = new Promise((resolve) => (end = resolve));
    queue.waiting += 1;
    await before;
    const from = this.cpuMs();
    try {
      if (gone.aborted) throw tooManyQueries();
      return await work();
    } finally {
      const ms = this.cpuMs() - from;
      const next = () => {
        queue.waiting -= 1;
        if (queue.waiting === 0) this.queues.delete(account);
        end();
      };
      if (ms < SHORT_MS) next();
      else setTimeout(next, PAUSE_FACTOR * ms);
    }
  }
}
