import type { OnModuleInit } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import { limitsSubject } from '@perkway/domain';
import type { NatsConnection } from '@nats-io/transport-node';
import { LRUCache } from 'lru-cache';
import { randomUUID } from 'node:crypto';
import { APP_NAME } from '../config/app-tokens.js';
import { NatsService } from '../nats/nats.service.js';

/** Bounds memory: past this number the least recently used count is dropped. */
const MAX_COUNTS = 50_000;
/** A replica publishes its count each time it grows by this fraction of the limit: 1 / STEPS. */
const STEPS = 50;

/** A count that one replica publishes. */
interface PublishedCount {
  counter: string;
  window: number;
  id: string;
  count: number;
}

interface Count {
  own: number;
  others: Map<string, number>;
  ofOthers: number;
}

export interface Windows {
  ms: number;
  /**
   * Adds the share of the previous window that still overlaps a sliding window, so that nobody gets twice the limit in
   * one burst around a window's end.
   */
  slide?: boolean;
}

/**
 * Counts by id in windows that all replicas of an app share, together with the counts that other replicas publish. A
 * replica with a wrong clock counts in an earlier or later window than the others. Without the broker each replica
 * counts alone.
 */
export class SharedCounter {
  private readonly counts = new LRUCache<string, Count>({ max: MAX_COUNTS });
  private readonly step: number;

  constructor(
    private readonly windows: Windows,
    private readonly limit: number,
    private readonly publish: (count: Omit<PublishedCount, 'counter'>) => void,
  ) {
    this.step = Math.ceil(limit / STEPS);
  }

  /** @returns the count over all replicas, including this call; a call past the limit is not counted */
  add(id: string, now: number): number {
    const window = this.windowOf(now);
    const count = this.countOf(window, id);
    const all = Math.ceil(count.own + count.ofOthers + this.previousShare(id, now)) + 1;
    if (all > this.limit) return all;
    count.own += 1;
    if (count.own % this.step === 0) this.publish({ window, id, count: count.own });
    return all;
  }

  /** Returns milliseconds until one more is admitted. */
  waitMs(id: string, now: number): number {
    const { ms, slide } = this.windows;
    const passed = now % ms;
    const counted = this.countedIn(this.windowOf(now), id);
    const room = this.limit - counted - 1;
    // The next request is allowed in the next window, once enough of this window no longer counts.
    if (room < 0) return ms - passed + (slide ? ms / this.limit : 0);
    const before = this.previousCount(id, now);
    return before <= room ? 0 : Math.max(0, (ms * (before - room)) / before - passed);
  }

  /** Returns milliseconds until the next window. */
  remainingMs(now: number): number {
    return this.windows.ms - (now % this.windows.ms);
  }

  /** Takes over a count that another replica has published. */
  receive(replica: string, { window, id, count }: PublishedCount): void {
    const known = this.countOf(window, id);
    const before = known.others.get(replica) ?? 0;
    if (count <= before) return;
    known.others.set(replica, count);
    known.ofOthers += count - before;
  }

  private windowOf(now: number): number {
    return Math.floor(now / this.windows.ms);
  }

  private countOf(window: number, id: string): Count {
    const key = `${window}:${id}`;
    let count = this.counts.get(key);
    if (!count) this.counts.set(key, (count = { own: 0, others: new Map(), ofOthers: 0 }));
    return count;
  }

  private countedIn(window: number, id: string): number {
    const count = this.counts.get(`${window}:${id}`);
    return count ? count.own + count.ofOthers : 0;
  }

  /**
   * Returns the count of the previous window if windows slide, else 0. Returns at most the limit, so that a caller does
   * not pay for requests that replicas admitted beyond it.
   */
  private previousCount(id: string, now: number): number {
    return this.windows.slide ? Math.min(this.limit, this.countedIn(this.windowOf(now) - 1, id)) : 0;
  }

  private previousShare(id: string, now: number): number {
    return (this.previousCount(id, now) * this.remainingMs(now)) / this.windows.ms;
  }
}

const isPublishedCount = (value: unknown): value is PublishedCount & { replica: string } => {
  const { replica, counter, window, id, count } = (value ?? {}) as Record<string, unknown>;
  return (
    [replica, counter, id].every((text) => typeof text === 'string') &&
    [window, count].every((number) => Number.isSafeInteger(number))
  );
};

/** Creates the counters that the replicas of an app share (docs/adr/0032-limits-over-replicas.md). */
@Injectable()
export class ReplicaCounts implements OnModuleInit {
  private readonly replica = randomUUID();
  private readonly counters = new Map<string, SharedCounter>();
  private readonly subject: string;
  private connection?: NatsConnection;

  constructor(
    @Inject(NatsService) private readonly nats: Pick<NatsService, 'connected'>,
    @Inject(APP_NAME) app: string,
  ) {
    this.subject = limitsSubject(app);
  }

  /** @param name unique within the app */
  counter(name: string, windows: Windows, limit: number): SharedCounter {
    const counter = new SharedCounter(windows, limit, (count) => this.publish({ counter: name, ...count }));
    this.counters.set(name, counter);
    return counter;
  }

  onModuleInit(): void {
    // Counters are created before, by the classes that use them.
    if (this.counters.size > 0) void this.nats.connected().then((connection) => this.listen(connection));
  }

  private listen(connection: NatsConnection): void {
    this.connection = connection;
    void this.followState(connection);
    connection.subscribe(this.subject, {
      callback: (error, message) => {
        if (error) return;
        try {
          const count = message.json();
          if (isPublishedCount(count) && count.replica !== this.replica)
            this.counters.get(count.counter)?.receive(count.replica, count);
        } catch {
          // Sent by another version.
        }
      },
    });
  }

  /** Publishes nothing during an outage: the client would buffer counts until they are outdated. */
  private async followState(connection: NatsConnection): Promise<void> {
    for await (const { type } of connection.status())
      if (type === 'disconnect') this.connection = undefined;
      else if (type === 'reconnect') this.connection = connection;
  }

  private publish(count: PublishedCount): void {
    if (!this.connection || this.connection.isClosed()) return;
    this.connection.publish(this.subject, JSON.stringify({ replica: this.replica, ...count }));
  }
}
