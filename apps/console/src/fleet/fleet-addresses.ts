import { Inject, Injectable } from '@nestjs/common';
import { ENV } from '@perkway/platform';
import type { ConsoleEnv } from '../env.js';

/** The hosts of the fleet that have an API, as the console calls them, and the apps that answer. */
export const HOSTS = {
  perks: { app: 'perks', url: 'PERKS_URL', away: 'The perk service' },
  boost: { app: 'boost', url: 'BOOST_URL', away: 'Boost' },
  gift: { app: 'gift-cards', url: 'GIFT_URL', away: 'The gift-card service' },
  token: { app: 'token-issuer', url: 'TOKEN_URL', away: 'The token service' },
  query: { app: 'analytics-query', url: 'QUERY_URL', away: 'The query host' },
} as const;
export type Host = keyof typeof HOSTS;

/** Those that are only looked after. */
const OTHERS = { links: 'LINKS_URL', 'allocation-page': 'REWARDS_URL' } as const;
/** A part of an app that a deployment may run by itself; the local stack has it in the app. */
const INGEST = 'analytics-ingest';

/** Where the console reaches the apps, which need not be where their clients do. */
@Injectable()
export class FleetAddresses {
  constructor(@Inject(ENV) private readonly env: ConsoleEnv) {}

  /** Of what the host's public API is. */
  of(host: Host): string {
    const { app, url } = HOSTS[host];
    return this.fill(this.env.INTERNAL_URL, app) ?? this.env[url];
  }

  /** Of `/admin`. */
  management(host: Host): string {
    return this.fill(this.env.MANAGEMENT_URL, HOSTS[host].app) ?? this.of(host);
  }

  /** Of `/readyz` and `/metrics` of every app but the console. */
  get apps(): { name: string; url: string }[] {
    const { MANAGEMENT_URL, INTERNAL_URL } = this.env;
    const pattern = MANAGEMENT_URL || INTERNAL_URL;
    const known: [string, string][] = [
      ...Object.values(HOSTS).map(({ app, url }): [string, string] => [app, this.env[url]]),
      ...Object.entries(OTHERS).map(([app, url]): [string, string] => [app, this.env[url]]),
    ];
    return [
      ...known.map(([name, url]) => ({ name, url: this.fill(pattern, name) ?? url })),
      ...(pattern === '' ? [] : [{ name: INGEST, url: this.fill(pattern, INGEST)! }]),
    ];
  }

  private fill(pattern: string, app: string): string | undefined {
    return pattern === '' ? undefined : pattern.replaceAll('{app}', app);
  }
}
