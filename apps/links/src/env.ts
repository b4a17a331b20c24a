import { databaseEnv, loadEnv, platformEnv } from '@perkway/platform';
import { keyringVariable } from '@perkway/signing';

const linksEnv = {
  ...platformEnv,
  ...databaseEnv,
  LINK_SIGNING_KEYS: keyringVariable({ desc: 'Keys that click_urls were signed with' }),
};

export const loadLinksEnv = (source?: NodeJS.ProcessEnv) => loadEnv(linksEnv, source);
export type LinksEnv = ReturnType<typeof loadLinksEnv>;
