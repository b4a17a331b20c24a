import { tooManyQueries } from './query-scheduler.js';

/** Shorter work needs no pause. */
const SHORT_MS = 2;
/** Pause as a multiple of the CPU time of the work, which does not include receiving the body and sending the response. */
const PAUSE_FACTOR = 8;
const MAX_PAUSE_MS = 500;
/** Maximum number of waiting calls of `run` for one account. */
const MAX_WAITING = 100;

/**
 * CPU time of this process, which does not grow while it waits for a processor. It includes what other requests use
 * while the work yields, so the pause has a maximum.
 */
const processCpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

/**
 * Runs the work of one account one piece after the other, with a pause after each piece that is not short. So the large
 * queries of one account take a fraction of the event loop, and queries of other accounts wait for at most one of them.
 */
export class CpuShare {
  /** Per account whose work runs or pauses: functions that start the waiting pieces, in order of arrival. */
  private readonly queues = new Map<string, (() => void)[]>();

  constructor(private readonly cpuMs = processCpuMs) {}

  /**
   * @param signal aborts when the client disconnects or the time limit has passed, and removes waiting work
   * @throws ApiError 429 if too much work of the account waits, or if `signal` aborts before the work starts
   */
  async run<T>(account: string, signal: AbortSignal, work: () => T | Promise<T>): Promise<T> {
    await this.waitForStart(account, signal);
    const from = this.cpuMs();
    try {
      return await work();
    } finally {
      const ms = this.cpuMs() - from;
      if (ms < SHORT_MS) this.next(account);
      else setTimeout(() => this.next(account), Math.min(PAUSE_FACTOR * ms, MAX_PAUSE_MS));
    }
  }

  private async waitForStart(account: string, signal: AbortSignal): Promise<void> {
    const queue = this.queues.get(account);
    if (signal.aborted || (queue?.length ?? 0) >= MAX_WAITING) throw tooManyQueries();
    if (!queue) {
      this.queues.set(account, []);
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const leave = () => {
        queue.splice(queue.indexOf(start), 1);
        reject(tooManyQueries());
      };
      const start = () => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      signal.addEventListener('abort', leave, { once: true });
      queue.push(start);
    });
  }

  private next(account: string): void {
    const start = this.queues.get(account)!.shift();
    if (start) start();
    else this.queues.delete(account);
  }
}
