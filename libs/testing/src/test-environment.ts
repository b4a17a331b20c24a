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

/** Secrets shared by all apps of one test file. */
export const testSecrets = (): Secrets => (secrets ??= generateSecrets());

/** Public URLs with one host per app, as in production. */
export const testUrls = Object.fromEntries(
  APPS.map((app) => [app, `https://${FLEET[app].host}.perkway.test`]),
) as Record<AppName, string>;

/** Dependencies of an app. A URL where nothing listens replaces each one that is left out. */
export interface TestEnvironment {
  database?: { urls: DatabaseUrls };
  nats?: { url: string };
  urls?: Partial<Record<AppName, string>>;
  trustedProxies?: string;
}

/** The discard port, where nothing listens. */
const NOWHERE = '127.0.0.1:9';
const NO_DATABASE = databaseUrls(`postgres://${NOWHERE}`, { database: 'none', passwordOf: () => 'none' });

/** Returns the whole environment of an app, as the local stack builds it. The caller must listen on PORT itself. */
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
