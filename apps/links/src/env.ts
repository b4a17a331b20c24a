import { loadEnv, platformEnv, postgresUrl } from '@perkway/platform';
import { keyringVariable } from '@perkway/signing';

const linksEnv = {
  ...platformEnv,
  DATABASE_URL: postgresUrl({ desc: 'Where the outbox is; its search_path is the schema of this app' }),
  LINK_SIGNING_KEYS: keyringVariable({ desc: 'Keys that click_urls were signed with' }),
};

export const loadLinksEnv = (source?: NodeJS.ProcessEnv) => loadEnv(linksEnv, source);
export type LinksEnv = ReturnType<typeof loadLinksEnv>;
