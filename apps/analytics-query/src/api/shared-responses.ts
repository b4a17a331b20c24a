import type { Readable } from 'node:stream';

export type Payload = Buffer | Readable;
interface Running {
  response: Promise<Payload>;
  /** Number of clients that wait for the response. */
  waiting: number;
  stop: AbortController;
}

/** One shared reason, because creating an Error for each request would capture a stack trace each time. */
const UNWANTED = new Error('no client is waiting for the response');

/**
 * Runs equal concurrent queries once, as when many people open one dashboard. The run is aborted when no client waits
 * for it any more. A streamed response goes to the first caller; the others run their own.
 */
export class SharedResponses {
  private readonly running = new Map<string, Running>();

  /** @param work must stop when its signal aborts */
  async get(
    key: string,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<Payload>,
  ): Promise<Payload> {
    const known = this.running.get(key);
    if (!known) return this.first(key, signal, work);
    const leave = this.join(known, signal);
    const response = await known.response;
    if (Buffer.isBuffer(response)) return response;
    leave();
    return work(signal);
  }

  private first(key: string, signal: AbortSignal, work: (signal: AbortSignal) => Promise<Payload>) {
    const stop = new AbortController();
    const forget = () => {
      if (this.running.get(key) === run) this.running.delete(key);
    };
    stop.signal.addEventListener('abort', forget, { once: true });
    const run: Running = { response: work(stop.signal).finally(forget), waiting: 0, stop };
    this.running.set(key, run);
    this.join(run, signal);
    return run.response;
  }

  /** Counts the client as waiting. Returns a function that ends this, as an abort of the signal does. */
  private join(run: Running, signal: AbortSignal): () => void {
    let isWaiting = true;
    run.waiting += 1;
    const leave = () => {
      if (!isWaiting) return;
      isWaiting = false;
      if ((run.waiting -= 1) === 0) run.stop.abort(UNWANTED);
    };
    if (signal.aborted) leave();
    // The listener stays when the response is ready, because a stream is still being produced while it is sent.
    else signal.addEventListener('abort', leave, { once: true });
    return leave;
  }
}
