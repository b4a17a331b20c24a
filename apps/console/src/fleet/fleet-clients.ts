import { Injectable } from '@nestjs/common';
import { createPerkway, PerkwayError, type Perkway } from '@perkway/client';
import { DomainError, unavailable } from '@perkway/domain';
import { LRUCache } from 'lru-cache';
import type { Session } from '../sessions/session.js';
import { FleetAddresses, HOSTS, type Host } from './fleet-addresses.js';

const PATIENCE_MS = 15_000;
const MOST_SESSIONS = 10_000;

/** The fleet's API as the console itself calls it, with the typed client that integrators have. */
@Injectable()
export class FleetClients {
  private readonly clients = new LRUCache<string, Perkway>({ max: MOST_SESSIONS });

  constructor(private readonly addresses: FleetAddresses) {}

  /** With the key of the session; keeps its analytics token, which no browser ever sees. */
  of({ consoleKeyId, key }: Pick<Session, 'consoleKeyId' | 'key'>): Perkway {
    const known = this.clients.get(consoleKeyId);
    if (known) return known;
    const made = this.withKey(key);
    this.clients.set(consoleKeyId, made);
    return made;
  }

  /** With its token, which the query host has refused. */
  forget({ consoleKeyId }: Pick<Session, 'consoleKeyId'>): void {
    this.clients.delete(consoleKeyId);
  }

  /** Tries once, if not told otherwise: whoever waits before a screen presses again, and jobs come back by themselves. */
  withKey(apiKey: string, { timeoutMs = PATIENCE_MS, tries = 1 } = {}): Perkway {
    const hosts = Object.fromEntries(
      Object.keys(HOSTS).map((host) => [host, this.addresses.of(host as Host)]),
    );
    return createPerkway({ apiKey, hosts, timeoutMs, tries });
  }
}

/**
 * What a host answers, to the console itself.
 * @throws DomainError SESSION_ENDED when the key is not good any more, NOT_FOUND, or DEPENDENCY_UNAVAILABLE for all else
 */
export async function answerOf<Answer>(host: Host, asked: Promise<Answer>): Promise<Answer> {
  try {
    return await asked;
  } catch (error) {
    if (!(error instanceof PerkwayError)) throw error;
    if (error.status === 401) throw new DomainError('SESSION_ENDED');
    if (error.status === 404) throw new DomainError('NOT_FOUND', error.code);
    throw unavailable(HOSTS[host].away, error);
  }
}
