import { parseKeyring } from '@perkway/signing';
import { waitFor } from '@perkway/testing';
import pino from 'pino';
import { Registry } from 'prom-client';
import type { EventsEnv } from '../env.js';
import { DeliveryMetrics } from './delivery-metrics.js';
import type { DeliveryQueue } from './delivery-queue.js';
import { DeliveryWorker } from './delivery-worker.js';

/** Shorter than the worker's poll. */
const SOON_MS = 4_500;

/** Makes a worker whose queue is empty, and counts its calls of `claim` and `fanOut`. */
function idleWorker(given: { nextDue?: () => Date | undefined; fanOut?: () => boolean } = {}) {
  const looks = { claim: 0, fanOut: 0 };
  const queue = {
    claim: async () => {
      looks.claim += 1;
      return [];
    },
    nextDue: async () => given.nextDue?.(),
    fanOut: async () => {
      looks.fanOut += 1;
      return { wasBehind: given.fanOut?.() ?? false, hasMore: false };
    },
    backlog: async () => ({ pending: 0, overdueS: 0, failing: 0 }),
    releaseForgotten: async () => undefined,
    deleteBefore: async () => undefined,
  } as unknown as DeliveryQueue;
  const env = {
    EVENTS_RETENTION_DAYS: 30,
    WEBHOOK_SECRET_KEYS: parseKeyring(`k1:${Buffer.alloc(32, 1).toString('base64url')}`),
  } as EventsEnv;
  const worker = new DeliveryWorker(
    queue,
    { close: () => undefined } as never,
    { now: () => Date.now() },
    { whenCurrent: Promise.resolve() } as never,
    env,
    pino({ level: 'silent' }),
    new DeliveryMetrics(new Registry()),
  );
  const reach = (wanted: { claim: number; fanOut: number }) =>
    waitFor(() => looks.claim >= wanted.claim && looks.fanOut >= wanted.fanOut, 'another look', SOON_MS);
  return { worker, looks, reach };
}

describe('a worker without work', () => {
  it('claims when the next attempt is due', async () => {
    const due = Date.now() + 50;
    const attempts = [new Date(due)];
    const { worker, reach } = idleWorker({ nextDue: () => attempts.pop() });
    worker.onApplicationBootstrap();
    try {
      await reach({ claim: 2, fanOut: 1 });
      expect(Date.now()).toBeGreaterThanOrEqual(due - 1);
    } finally {
      await worker.beforeApplicationShutdown();
    }
  });

  it('makes and claims deliveries when its feed has grown', async () => {
    let hasGrown = false;
    const { worker, looks, reach } = idleWorker({ fanOut: () => hasGrown });
    worker.onApplicationBootstrap();
    try {
      await reach({ claim: 1, fanOut: 1 });
      hasGrown = true;
      const { claim, fanOut } = looks;
      worker.feedGrew();
      await reach({ claim: claim + 1, fanOut: fanOut + 1 });
    } finally {
      await worker.beforeApplicationShutdown();
    }
  });

  it('makes and claims what a client asks for', async () => {
    const { worker, looks, reach } = idleWorker();
    worker.onApplicationBootstrap();
    try {
      await reach({ claim: 1, fanOut: 1 });
      const { claim, fanOut } = looks;
      worker.wake();
      await reach({ claim: claim + 1, fanOut: fanOut + 1 });
    } finally {
      await worker.beforeApplicationShutdown();
    }
  });
});
