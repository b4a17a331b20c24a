import { Inject, Injectable } from '@nestjs/common';
import { ENV } from '@perkway/platform';
import type { ConsoleEnv } from '../env.js';

/** The hosts with an API, by the console's name for them, and the apps that serve them. */
export const HOSTS = {
  perks: { app: 'perks', url: 'PERKS_URL', serviceName: 'The perk service' },
  boost: { app: 'boost', url: 'BOOST_URL', serviceName: 'Boost' },
  gift: { app: 'gift-cards', url: 'GIFT_URL', serviceName: 'The gift-card service' },
  token: { app: 'token-issuer', url: 'TOKEN_URL', serviceName: 'The token service' },
  query: { app: 'analytics-query', url: 'QUERY_URL', serviceName: 'The query host' },
  events: { app: 'events', url: 'EVENTS_URL', serviceName: 'The event service' },
} as const;
export type Host = keyof typeof HOSTS;

/** Apps that the console only monitors. */
const OTHERS = { links: 'LINKS_URL', 'allocation-page': 'REWARDS_URL' } as const;
/** Part of analytics-query that can run on its own. Without internal URLs, its URL is that of analytics-query. */
export const INGEST = 'analytics-ingest';

/** The URLs at which the console reaches the apps, which may differ from their public ones. */
@Injectable()
export class FleetAddresses {
  constructor(@Inject(ENV) private readonly env: ConsoleEnv) {}

  /** URL of the host's public API. */
  of(host: Host): string {
    const { app, url } = HOSTS[host];
    return this.fill(this.env.INTERNAL_URL, app) ?? this.env[url];
  }

  /** URL of the host's `/admin`. */
  management(host: Host): string {
    return this.fill(this.env.MANAGEMENT_URL, HOSTS[host].app) ?? this.of(host);
  }

  /** URLs of `/readyz` and `/metrics` of every other app. */
  get apps(): { name: string; url: string }[] {
    const { MANAGEMENT_URL, INTERNAL_URL } = this.env;
    const pattern = MANAGEMENT_URL || INTERNAL_URL;
    const known: [string, string][] = [
      ...Object.values(HOSTS).map(({ app, url }): [string, string] => [app, this.env[url]]),
      ...Object.entries(OTHERS).map(([app, url]): [string, string] => [app, this.env[url]]),
      [INGEST, this.env.QUERY_URL],
    ];
    return known.map(([name, url]) => ({ name, url: this.fill(pattern, name) ?? url }));
  }

  private fill(pattern: string, app: string): string | undefined {
    return pattern === '' ? undefined : pattern.replaceAll('{app}', app);
  }
}
