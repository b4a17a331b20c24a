import { authEnv } from '@perkway/auth';
import { baseUrl, confidential, databaseEnv, language, platformEnv } from '@perkway/platform';
import { keyringVariable } from '@perkway/signing';
import { num, type CleanedEnv } from 'envalid';

export const envSpec = {
  ...platformEnv,
  ...databaseEnv,
  ...authEnv,
  PERKS_URL: baseUrl({ desc: 'Public URL of this app' }),
  LINKS_URL: baseUrl({ desc: 'Public URL of the links host, the base of the click_url of collections' }),
  LINK_SIGNING_KEYS: confidential(keyringVariable({ desc: 'Keys that sign click_urls' })),
  DEFAULT_LANGUAGE: language({ default: 'en', desc: 'Language of untranslated texts' }),
  TEMPLATE_CACHE_MB: num({ default: 64, desc: 'Memory for prepared responses' }),
};

export type PerksEnv = CleanedEnv<typeof envSpec>;
