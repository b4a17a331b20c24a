import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { Session } from '../sessions/session.js';
import { FleetCalls } from './fleet-calls.js';

/** Renewed so long before its end, so that no query comes too late with it. */
const MARGIN_MS = 30_000;
const MOST_SESSIONS = 10_000;

/** The analytics tokens of the sessions, which no browser ever sees. */
@Injectable()
export class AnalyticsTokens {
  private readonly tokens = new LRUCache<string, Promise<{ token: string; expiration: number }>>({
    max: MOST_SESSIONS,
  });

  constructor(private readonly calls: FleetCalls) {}

  /** A token of the session's account that lasts for a while yet. */
  async of({ consoleKeyId, key }: Session): Promise<string> {
    const known = await this.tokens.get(consoleKeyId)?.catch(() => undefined);
    if (known && known.expiration - MARGIN_MS > Date.now()) return known.token;
    const asked = this.calls.json<{ token: string; expiration: number }>({
      host: 'token',
      method: 'GET',
      address: '/cube/token',
      headers: { 'x-api-key': key },
    });
    this.tokens.set(consoleKeyId, asked);
    return (await asked).token;
  }

  /** One that the query host has refused. */
  forget({ consoleKeyId }: Session): void {
    this.tokens.delete(consoleKeyId);
  }
}
