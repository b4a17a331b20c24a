import { DomainError } from '@perkway/domain';
import { sourceOf, type SharedCounter, type SharedCounts } from '@perkway/platform';
import type { FastifyReply } from 'fastify';
import { LRUCache } from 'lru-cache';
import { setTimeout as sleep } from 'node:timers/promises';

const WINDOWS = { ms: 60_000, slide: true };
const MAX_ADDRESSES = 50_000;
/** Between two tries of an address that has sent too many wrong keys. */
const PACE_MS = 500;
const MOST_WAITING = 10;

interface Queue {
  waiting: number;
  turn: Promise<unknown>;
}

/**
 * Slows down whoever tries wrong keys: past the limit the tries of an address are looked at one after the other, twice a
 * second, and those of more than a few at once are refused. A right key goes on opening the door, so that nobody is locked
 * out by a neighbour who guesses.
 */
export class SignInLimiter {
  /** In all replicas; what waits, waits in one of them. */
  private readonly wrong: SharedCounter;
  private readonly queues = new LRUCache<string, Queue>({ max: MAX_ADDRESSES });

  /** @param limit wrong keys a minute; 0: no limit */
  constructor(
    private readonly limit: number,
    counts: Pick<SharedCounts, 'counter'>,
    private readonly paceMs = PACE_MS,
  ) {
    this.wrong = counts.counter('sign-ins', WINDOWS, limit);
  }

  /** Tries a key. `attempt` fails with API_KEY_INVALID for a wrong one. @throws DomainError TOO_MANY_REQUESTS */
  async attempt<T>(address: string, reply: FastifyReply, attempt: () => Promise<T>): Promise<T> {
    const source = sourceOf(address);
    if (this.limit > 0 && this.wrong.waitMs(source, Date.now()) > 0) await this.waitForTurn(source, reply);
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof DomainError) || error.code !== 'API_KEY_INVALID') throw error;
      if (this.limit > 0 && this.wrong.add(source, Date.now()) > this.limit) this.refuse(source, reply);
      throw error;
    }
  }

  private async waitForTurn(source: string, reply: FastifyReply): Promise<void> {
    const queue = this.queues.get(source) ?? { waiting: 0, turn: Promise.resolve() };
    this.queues.set(source, queue);
    if (queue.waiting >= MOST_WAITING) this.refuse(source, reply);
    queue.waiting += 1;
    queue.turn = queue.turn.then(() => sleep(this.paceMs));
    await queue.turn;
    queue.waiting -= 1;
  }

  private refuse(source: string, reply: FastifyReply): never {
    void reply.header('retry-after', Math.max(1, Math.ceil(this.wrong.waitMs(source, Date.now()) / 1_000)));
    throw new DomainError('TOO_MANY_REQUESTS', 'Too many wrong keys from this address');
  }
}
