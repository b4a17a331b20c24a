import type { Readable } from 'node:stream';

export type Answer = Buffer | Readable;
interface Running {
  answer: Promise<Answer>;
  interested: number;
  stop: AbortController;
}

/** Given as the reason, because one that is made for each request would take its stack each time. */
const UNWANTED = new Error('nobody waits for the answer');

/**
 * Lets equal queries that run at the same time share one run, as when many people look at one dashboard. It ends when nobody
 * waits for it any more. A large answer goes to whoever asked first; the others run their own.
 */
export class SharedAnswers {
  private readonly running = new Map<string, Running>();

  /** @param work must end early when its signal says so */
  async get(
    key: string,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<Answer>,
  ): Promise<Answer> {
    const known = this.running.get(key);
    if (!known) return this.first(key, signal, work);
    const answer = await this.join(known, signal);
    return Buffer.isBuffer(answer) ? answer : work(signal);
  }

  private first(key: string, signal: AbortSignal, work: (signal: AbortSignal) => Promise<Answer>) {
    const stop = new AbortController();
    const forget = () => {
      if (this.running.get(key) === run) this.running.delete(key);
    };
    stop.signal.addEventListener('abort', forget, { once: true });
    const run: Running = { answer: work(stop.signal).finally(forget), interested: 0, stop };
    this.running.set(key, run);
    return this.join(run, signal);
  }

  private join(run: Running, signal: AbortSignal): Promise<Answer> {
    run.interested += 1;
    const leave = () => {
      if ((run.interested -= 1) === 0) run.stop.abort(UNWANTED);
    };
    if (signal.aborted) leave();
    // Not taken away when the answer is there: a large one is still being made while it is sent.
    else signal.addEventListener('abort', leave, { once: true });
    return run.answer;
  }
}
