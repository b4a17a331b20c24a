import { ApiError } from '@perkway/domain';
import type { Logger } from 'pino';
import { Loop } from './loop.js';

describe('Loop', () => {
  const logged: string[] = [];
  const logger = {
    warn: (_: object, message: string) => void logged.push(`warn: ${message}`),
    debug: (_: object, message: string) => void logged.push(`debug: ${message}`),
  } as unknown as Logger;
  /** Runs of the loop that wait to be ended. */
  const runs: { end: (pauseMs?: number) => void; fail: (error: Error) => void }[] = [];
  const run = () =>
    new Promise<number | void>((resolve, reject) => runs.push({ end: resolve, fail: reject }));
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  let loop: Loop;

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'queueMicrotask', 'nextTick'] });
    loop = new Loop({ task: 'sweep', everyMs: 60_000, run }, logger);
  });
  afterEach(async () => {
    const stopped = loop.stop();
    runs.splice(0).forEach(({ end }) => end());
    await stopped;
    logged.splice(0);
    jest.useRealTimers();
  });

  it('has one run at a time, and the next one at once if it is woken up during a run', async () => {
    loop.start();
    await settled();
    loop.wake();
    await settled();
    expect(runs).toHaveLength(1);
    runs[0]!.end();
    await settled();
    expect(runs).toHaveLength(2);
    runs[1]!.end();
    await settled();
    expect(runs).toHaveLength(2);
    loop.wake();
    await settled();
    expect(runs).toHaveLength(3);
  });

  it('pauses before the next run, unless a wake-up is urgent', async () => {
    loop = new Loop({ task: 'sweep', everyMs: 60_000, minPauseMs: 60_000, run }, logger);
    loop.start();
    await settled();
    loop.wake();
    runs[0]!.end();
    await settled();
    expect(runs).toHaveLength(1);
    loop.wake(true);
    await settled();
    expect(runs).toHaveLength(2);
    loop.wake(true);
    runs[1]!.end();
    await settled();
    expect(runs).toHaveLength(3);
    loop.wake();
    runs[2]!.end();
    await settled();
    expect(runs).toHaveLength(3);
  });

  it('warns of the first of several failures, but not of an outage, and continues', async () => {
    loop.start();
    for (const error of [
      new ApiError('DEPENDENCY_UNAVAILABLE'),
      new Error('a bug'),
      new Error('a bug'),
      undefined,
      new ApiError('DEPENDENCY_UNAVAILABLE'),
    ]) {
      await settled();
      const current = runs.pop()!;
      if (error) current.fail(error);
      else current.end();
      await settled();
      loop.wake();
    }
    await settled();
    expect(runs).toHaveLength(1);
    const message = 'cannot sweep, retrying';
    expect(logged).toEqual([
      `debug: ${message}`,
      `warn: ${message}`,
      `debug: ${message}`,
      `debug: ${message}`,
    ]);
  });

  it('waits for the current run when it stops, and starts none afterwards', async () => {
    loop.start();
    await settled();
    let isStopped = false;
    const stopping = loop.stop().then(() => (isStopped = true));
    await settled();
    expect([isStopped, loop.isStopping]).toEqual([false, true]);
    runs[0]!.end(0);
    await stopping;
    await settled();
    expect(runs).toHaveLength(1);
  });

  it('starts no run before it is ready, and none if it stops first', async () => {
    let becomeReady!: () => void;
    const whenReady = new Promise<void>((resolve) => (becomeReady = resolve));
    loop = new Loop({ task: 'sweep', everyMs: 1, run }, logger, whenReady);
    loop.start();
    await settled();
    expect(runs).toHaveLength(0);
    await loop.stop();
    becomeReady();
    await settled();
    expect(runs).toHaveLength(0);
  });
});
