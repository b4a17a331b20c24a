import { baseUrl, platformEnv, postgresUrl } from '@perkway/platform';
import { keyringVariable } from '@perkway/signing';
import type { CleanedEnv } from 'envalid';

export const envSpec = {
  ...platformEnv,
  DATABASE_URL: postgresUrl({ desc: 'Where the outbox is; its search_path is the schema of this app' }),
  LINKS_URL: baseUrl({ desc: 'Public address of this app' }),
  LINK_SIGNING_KEYS: keyringVariable({ desc: 'Keys that click_urls were signed with' }),
};

export type LinksEnv = CleanedEnv<typeof envSpec>;
