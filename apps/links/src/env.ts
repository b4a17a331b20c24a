import { baseUrl, confidential, databaseEnv, platformEnv } from '@perkway/platform';
import { keyringVariable } from '@perkway/signing';
import type { CleanedEnv } from 'envalid';

export const envSpec = {
  ...platformEnv,
  ...databaseEnv,
  LINKS_URL: baseUrl({ desc: 'Public URL of this app' }),
  LINK_SIGNING_KEYS: confidential(keyringVariable({ desc: 'Keys that verify click_urls' })),
};

export type LinksEnv = CleanedEnv<typeof envSpec>;
