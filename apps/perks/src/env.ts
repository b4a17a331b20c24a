import { authEnv } from '@perkway/auth';
import { baseUrl, databaseEnv, platformEnv } from '@perkway/platform';
import { keyringVariable } from '@perkway/signing';
import { makeValidator, num, type CleanedEnv } from 'envalid';
import { canonicalLanguage } from './text/language.js';

const language = makeValidator((input: string) => {
  const tag = canonicalLanguage(input);
  if (!tag) throw new Error('must be a language tag such as en');
  return tag;
});

export const envSpec = {
  ...platformEnv,
  ...databaseEnv,
  ...authEnv,
  PERKS_URL: baseUrl({ desc: 'Public address of this app' }),
  LINKS_URL: baseUrl({ desc: 'Where click_urls lead: the public URL of the links host' }),
  LINK_SIGNING_KEYS: keyringVariable({ desc: 'Keys that sign click_urls' }),
  DEFAULT_LANGUAGE: language({ default: 'en', desc: 'Language of the texts that are no translation' }),
  TEMPLATE_CACHE_MB: num({ default: 64, desc: 'Memory for prepared answers' }),
};

export type PerksEnv = CleanedEnv<typeof envSpec>;
