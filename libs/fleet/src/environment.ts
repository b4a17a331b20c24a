import type { AppName } from '@perkway/domain';
import type { DatabaseUrls } from './database-urls.js';
import { APPS, FLEET, hasDatabase } from './fleet.js';
import type { Secrets } from './secrets.js';

export interface Environment {
  port: number;
  /** The public URL of every app, also of those that do not run. */
  urls: Record<AppName, string>;
  database: DatabaseUrls;
  natsUrl: string;
  secrets: Secrets;
  /** CIDRs, separated by commas. */
  trustedProxies?: string;
}

/** The variables that one app reads, with the secrets that it needs and no others. */
export function appEnvironment(app: AppName, environment: Environment): Record<string, string> {
  const { secrets, urls } = environment;
  return {
    HOST: '127.0.0.1',
    PORT: String(environment.port),
    NATS_URL: environment.natsUrl,
    TRUSTED_PROXIES: environment.trustedProxies ?? '',
    ...(hasDatabase(app) ? { DATABASE_URL: environment.database.apps[app] } : {}),
    ...(app === 'analytics-query' ? { READER_DATABASE_URL: environment.database.reader } : {}),
    ...Object.fromEntries(APPS.map((each) => [FLEET[each].urlVariable, urls[each]])),
    ...Object.fromEntries(Object.entries(FLEET[app].secrets).map(([name, key]) => [name, secrets[key!]])),
  };
}
