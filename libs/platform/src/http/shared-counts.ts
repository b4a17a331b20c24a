import type { OnModuleInit } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import { limitsSubject } from '@perkway/domain';
import type { NatsConnection } from '@nats-io/transport-node';
import { LRUCache } from 'lru-cache';
import { randomUUID } from 'node:crypto';
import { APP_NAME } from '../config/app-tokens.js';
import { NatsService } from '../nats/nats.service.js';

/** Memory is bounded whatever an attacker owns: past this many counts the one not added to for longest is forgotten. */
const MAX_COUNTS = 50_000;
/** A replica tells the others each time it has counted so much of the limit. */
const STEPS = 50;

/** Tells what one replica has counted. */
interface Told {
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

/**
 * Counts by id in windows that begin at the same time in all replicas of an app (by the clock, so a clock that is wrong
 * moves a window but adds none), together with what the other replicas say that they have counted. While they cannot be
 * heard, those of this process alone.
 */
export class SharedCounter {
  private readonly counts = new LRUCache<string, Count>({ max: MAX_COUNTS });
  private readonly step: number;

  constructor(
    readonly windowMs: number,
    private readonly limit: number,
    private readonly tell: (told: Omit<Told, 'counter'>) => void,
  ) {
    this.step = Math.ceil(limit / STEPS);
  }

  /** @returns how many there are now in all replicas, with this one */
  add(id: string, now: number): number {
    const window = Math.floor(now / this.windowMs);
    const count = this.countOf(window, id);
    count.own += 1;
    const all = count.own + count.ofOthers;
    // Past the limit there is nothing more to say: everybody refuses.
    if (count.own % this.step === 0 && all <= this.limit) this.tell({ window, id, count: count.own });
    return all;
  }

  /** @returns how many there are in all replicas */
  current(id: string, now: number): number {
    const count = this.counts.get(`${Math.floor(now / this.windowMs)}:${id}`);
    return count ? count.own + count.ofOthers : 0;
  }

  /** Milliseconds until the next window. */
  remainingMs(now: number): number {
    return this.windowMs - (now % this.windowMs);
  }

  hear(replica: string, { window, id, count }: Told): void {
    const known = this.countOf(window, id);
    const before = known.others.get(replica) ?? 0;
    if (count <= before) return;
    known.others.set(replica, count);
    known.ofOthers += count - before;
  }

  private countOf(window: number, id: string): Count {
    const key = `${window}:${id}`;
    let count = this.counts.get(key);
    if (!count) this.counts.set(key, (count = { own: 0, others: new Map(), ofOthers: 0 }));
    return count;
  }
}

const isTold = (value: unknown): value is Told & { replica: string } => {
  const { replica, counter, window, id, count } = (value ?? {}) as Record<string, unknown>;
  return (
    [replica, counter, id].every((text) => typeof text === 'string') &&
    [window, count].every((number) => Number.isSafeInteger(number))
  );
};

/** Makes the counters that the replicas of an app have in common (docs/adr/0032-limits-over-replicas.md). */
@Injectable()
export class SharedCounts implements OnModuleInit {
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

  /** @param name of its own in the app */
  counter(name: string, windowMs: number, limit: number): SharedCounter {
    const counter = new SharedCounter(windowMs, limit, (told) => this.tell({ counter: name, ...told }));
    this.counters.set(name, counter);
    return counter;
  }

  onModuleInit(): void {
    // Counters are made before, with what has them.
    if (this.counters.size > 0) void this.nats.connected().then((connection) => this.listen(connection));
  }

  private listen(connection: NatsConnection): void {
    this.connection = connection;
    void this.followState(connection);
    connection.subscribe(this.subject, {
      callback: (error, message) => {
        if (error) return;
        try {
          const told = message.json();
          if (isTold(told) && told.replica !== this.replica)
            this.counters.get(told.counter)?.hear(told.replica, told);
        } catch {
          // Of another version.
        }
      },
    });
  }

  /** What is published while the broker is away would be kept for its return, when it is worth nothing. */
  private async followState(connection: NatsConnection): Promise<void> {
    for await (const { type } of connection.status())
      if (type === 'disconnect') this.connection = undefined;
      else if (type === 'reconnect') this.connection = connection;
  }

  private tell(told: Told): void {
    if (!this.connection || this.connection.isClosed()) return;
    this.connection.publish(this.subject, JSON.stringify({ replica: this.replica, ...told }));
  }
}
