import { Inject, Injectable } from '@nestjs/common';
import { ENV } from '@perkway/platform';
import ipaddr from 'ipaddr.js';
import type { AllocationPageEnv } from '../env.js';

const WINDOW_MS = 60_000;
/** Memory is bounded whatever an attacker owns: past this many addresses the oldest window is forgotten. */
const MAX_ADDRESSES = 50_000;

interface Window {
  tried: number;
  endsAt: number;
}

export interface RateLimitStatus {
  limit: number;
  remaining: number;
  resetSeconds: number;
  exceeded: boolean;
}

/** Counts the unknown link tokens that each address tries, in windows of one minute that begin with its first try. */
@Injectable()
export class UnknownTokenLimiter {
  private readonly windows = new Map<string, Window>();

  private readonly limit: number;

  constructor(@Inject(ENV) env: Pick<AllocationPageEnv, 'UNKNOWN_LINKS_PER_MINUTE'>) {
    this.limit = env.UNKNOWN_LINKS_PER_MINUTE;
  }

  count(address: string, now = Date.now()): RateLimitStatus {
    const source = sourceOf(address);
    let window = this.windows.get(source);
    if (!window || window.endsAt <= now) {
      window = { tried: 0, endsAt: now + WINDOW_MS };
      // Inserted anew, so that the map stays in the order in which windows end.
      this.windows.delete(source);
      this.windows.set(source, window);
      this.forget(now);
    }
    window.tried += 1;
    return {
      limit: this.limit,
      remaining: Math.max(0, this.limit - window.tried),
      resetSeconds: Math.ceil((window.endsAt - now) / 1000),
      exceeded: window.tried > this.limit,
    };
  }

  private forget(now: number) {
    for (const [source, { endsAt }] of this.windows) {
      if (endsAt > now && this.windows.size <= MAX_ADDRESSES) return;
      this.windows.delete(source);
    }
  }
}

/** Whoever has one IPv6 address has the 2^64 beside it, so they count as one. */
const sourceOf = (address: string): string => {
  if (!ipaddr.IPv6.isValid(address)) return address;
  return ipaddr.IPv6.parse(address).toByteArray().slice(0, 8).join('.');
};
