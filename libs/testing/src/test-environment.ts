import type { AppName } from '@perkway/domain';
import {
  appEnvironment,
  APPS,
  databaseUrls,
  FLEET,
  generateSecrets,
  portOf,
  type DatabaseUrls,
  type Secrets,
} from '@perkway/fleet';
import { brokerUrlOf } from './test-nats.js';

let secrets: Secrets | undefined;

/** The same secrets for all apps of one test file. */
export const testSecrets = (): Secrets => (secrets ??= generateSecrets());

/** Public URLs as production has them: one host per app. */
export const testUrls = Object.fromEntries(
  APPS.map((app) => [app, `https://${FLEET[app].host}.perkway.test`]),
) as Record<AppName, string>;

/** What is not needed by the app may be left out: a URL that nobody answers stands in for it. */
export interface TestEnvironment {
  database?: { urls: DatabaseUrls };
  nats?: { url: string };
  urls?: Partial<Record<AppName, string>>;
  trustedProxies?: string;
}

/** The discard port, where nothing listens. */
const NOWHERE = '127.0.0.1:9';
const NO_DATABASE = databaseUrls(`postgres://${NOWHERE}`, { database: 'none', passwordOf: () => 'none' });

/** The whole environment of an app, as the local stack builds it. Nothing listens on its PORT by itself. */
export function testEnvironment(app: AppName, given: TestEnvironment): Record<string, string> {
  return {
    ...appEnvironment(app, {
      port: portOf(4000, app),
      urls: { ...testUrls, ...given.urls },
      database: given.database?.urls ?? NO_DATABASE,
      natsUrl: brokerUrlOf(app, given.nats?.url ?? `nats://${NOWHERE}`),
      secrets: testSecrets(),
      trustedProxies: given.trustedProxies,
    }),
    NODE_ENV: 'test',
    LOG_LEVEL: 'warn',
  };
}
