import { Injectable } from '@nestjs/common';
import { createPerkway, PerkwayError, type Perkway } from '@perkway/client';
import { ApiError, unavailable } from '@perkway/domain';
import { LRUCache } from 'lru-cache';
import type { Session } from '../sessions/session.js';
import { FleetAddresses, HOSTS, type Host } from './fleet-addresses.js';

const TIMEOUT_MS = 15_000;
const MAX_SESSIONS = 10_000;

/** Typed API clients for the console's own calls to the fleet. */
@Injectable()
export class FleetClients {
  private readonly clients = new LRUCache<string, Perkway>({ max: MAX_SESSIONS });

  constructor(private readonly addresses: FleetAddresses) {}

  /** Returns the client of the session. It caches the analytics token, which never reaches a browser. */
  of({ consoleKeyId, key }: Pick<Session, 'consoleKeyId' | 'key'>): Perkway {
    const known = this.clients.get(consoleKeyId);
    if (known) return known;
    const made = this.withKey(key);
    this.clients.set(consoleKeyId, made);
    return made;
  }

  /** Drops the session's client with its analytics token, after the query host rejected the token. */
  forget({ consoleKeyId }: Pick<Session, 'consoleKeyId'>): void {
    this.clients.delete(consoleKeyId);
  }

  /** Returns a client that tries once by default: people can press the button again, and jobs retry by themselves. */
  withKey(apiKey: string, { timeoutMs = TIMEOUT_MS, tries = 1 } = {}): Perkway {
    const hosts = Object.fromEntries(
      Object.keys(HOSTS).map((host) => [host, this.addresses.of(host as Host)]),
    );
    return createPerkway({ apiKey, hosts, timeoutMs, tries });
  }
}

/**
 * Awaits a host's response to a call that the console makes by itself, so its errors become the console's own.
 * @throws ApiError SESSION_ENDED if the key is no longer valid, NOT_FOUND, or DEPENDENCY_UNAVAILABLE for any other
 * PerkwayError; other errors are thrown as they are
 */
export async function responseOf<HttpResponse>(
  host: Host,
  requested: Promise<HttpResponse>,
): Promise<HttpResponse> {
  try {
    return await requested;
  } catch (error) {
    if (!(error instanceof PerkwayError)) throw error;
    if (error.status === 401) throw new ApiError('SESSION_ENDED');
    if (error.status === 404) throw new ApiError('NOT_FOUND', error.code);
    throw unavailable(HOSTS[host].serviceName, error);
  }
}
