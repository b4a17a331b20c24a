import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource } from 'typeorm';

const POLL_MS = 250;

interface Waiter {
  account: string;
  position: number;
  wake: () => void;
}

/** Wakes readers when their feed grows. One query serves all readers of the process, so none holds a connection. */
@Injectable()
export class FeedWatch implements BeforeApplicationShutdown {
  private readonly stopping = new AbortController();
  /** Aborts when the app stops. Waiting readers then get an empty page. */
  readonly stopped = this.stopping.signal;
  private readonly waiters = new Set<Waiter>();
  private isPolling = false;

  constructor(private readonly dataSource: DataSource) {}

  beforeApplicationShutdown() {
    this.stopping.abort();
  }

  /** Resolves when the feed is longer than `position`, or when the signal aborts. */
  async until(account: string, position: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const woken = new Promise<void>((resolve) => {
      const waiter: Waiter = {
        account,
        position,
        wake: () => {
          this.waiters.delete(waiter);
          resolve();
        },
      };
      this.waiters.add(waiter);
      signal.addEventListener('abort', waiter.wake, { once: true });
    });
    if (!this.isPolling) void this.poll();
    await woken;
  }

  private async poll() {
    this.isPolling = true;
    while (this.waiters.size > 0) {
      await sleep(POLL_MS, undefined, { ref: false });
      const accounts = [...new Set([...this.waiters].map(({ account }) => account))];
      const feeds = await this.dataSource
        .query<{ account_id: string; last_position: string }[]>(
          'select account_id, last_position from feeds where account_id = any ($1)',
          [accounts],
        )
        // Wakes the readers: the error is reported when they read the feed.
        .catch(() => accounts.map((account_id) => ({ account_id, last_position: 'Infinity' })));
      const lengths = new Map(
        feeds.map(({ account_id, last_position }) => [account_id, Number(last_position)]),
      );
      for (const waiter of [...this.waiters])
        if ((lengths.get(waiter.account) ?? 0) > waiter.position) waiter.wake();
    }
    this.isPolling = false;
  }
}
