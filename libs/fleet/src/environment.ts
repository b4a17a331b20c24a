import type { AppName } from '@perkway/domain';
import type { DatabaseUrls } from './database-urls.js';
import { APPS, FLEET, hasDatabase } from './fleet.js';
import type { Secrets } from './secrets.js';

export interface Environment {
  port: number;
  /** The public URLs of all apps, running or not. */
  urls: Record<AppName, string>;
  database: DatabaseUrls;
  natsUrl: string;
  secrets: Secrets;
  /** CIDRs, separated by commas. */
  trustedProxies?: string;
}

/** Allows webhooks to receivers on the same machine. */
const LOOPBACK = '127.0.0.0/8,::1/128';

/** Returns the environment variables of an app, with only the secrets that it needs. */
export function appEnvironment(app: AppName, environment: Environment): Record<string, string> {
  const { secrets, urls } = environment;
  return {
    HOST: '127.0.0.1',
    PORT: String(environment.port),
    NATS_URL: environment.natsUrl,
    TRUSTED_PROXIES: environment.trustedProxies ?? '',
    ...(hasDatabase(app) ? { DATABASE_URL: environment.database.apps[app] } : {}),
    ...(app === 'analytics-query' ? { READER_DATABASE_URL: environment.database.reader } : {}),
    ...(app === 'events' ? { WEBHOOK_ALLOWED_NETWORKS: LOOPBACK } : {}),
    ...Object.fromEntries(APPS.map((each) => [FLEET[each].urlVariable, urls[each]])),
    ...Object.fromEntries(Object.entries(FLEET[app].secrets).map(([name, key]) => [name, secrets[key!]])),
  };
}
