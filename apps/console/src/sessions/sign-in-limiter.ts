import { DomainError } from '@perkway/domain';
import type { FastifyReply } from 'fastify';
import { LRUCache } from 'lru-cache';
import { setTimeout as sleep } from 'node:timers/promises';

const WINDOW_MS = 60_000;
const MAX_ADDRESSES = 50_000;
/** Between two tries of an address that has sent too many wrong keys. */
const PACE_MS = 500;
const MOST_WAITING = 10;

interface Tries {
  wrong: number;
  endsAt: number;
  waiting: number;
  turn: Promise<unknown>;
}

/**
 * Slows down whoever tries wrong keys: past the limit the tries of an address are looked at one after the other, twice a
 * second, and those of more than a few at once are refused. A right key goes on opening the door, so that nobody is locked
 * out by a neighbour who guesses.
 */
export class SignInLimiter {
  private readonly addresses = new LRUCache<string, Tries>({ max: MAX_ADDRESSES });

  /** @param limit wrong keys a minute; 0: no limit */
  constructor(
    private readonly limit: number,
    private readonly paceMs = PACE_MS,
  ) {}

  /** Tries a key. `attempt` fails with API_KEY_INVALID for a wrong one. @throws DomainError TOO_MANY_REQUESTS */
  async attempt<T>(address: string, reply: FastifyReply, attempt: () => Promise<T>): Promise<T> {
    const tries = this.triesOf(address);
    if (this.isOver(tries)) await this.waitForTurn(tries, reply);
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof DomainError) || error.code !== 'API_KEY_INVALID') throw error;
      tries.wrong += 1;
      if (this.isOver(tries)) this.refuse(tries, reply);
      throw error;
    }
  }

  private isOver({ wrong }: Tries): boolean {
    return this.limit > 0 && wrong > this.limit;
  }

  private async waitForTurn(tries: Tries, reply: FastifyReply): Promise<void> {
    if (tries.waiting >= MOST_WAITING) this.refuse(tries, reply);
    tries.waiting += 1;
    tries.turn = tries.turn.then(() => sleep(this.paceMs));
    await tries.turn;
    tries.waiting -= 1;
  }

  private refuse({ endsAt }: Tries, reply: FastifyReply): never {
    void reply.header('retry-after', Math.max(1, Math.ceil((endsAt - Date.now()) / 1_000)));
    throw new DomainError('TOO_MANY_REQUESTS', 'Too many wrong keys from this address');
  }

  private triesOf(address: string): Tries {
    let tries = this.addresses.get(address);
    if (!tries || tries.endsAt <= Date.now()) {
      tries = { wrong: 0, endsAt: Date.now() + WINDOW_MS, waiting: 0, turn: Promise.resolve() };
      this.addresses.set(address, tries);
    }
    return tries;
  }
}
