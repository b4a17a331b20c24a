import { authEnv } from '@perkway/auth';
import { baseUrl, databaseEnv, loadEnv, platformEnv } from '@perkway/platform';
import { keyringVariable } from '@perkway/signing';
import { makeValidator, num } from 'envalid';
import { canonicalLanguage } from './text/language.js';

const language = makeValidator((input: string) => {
  const tag = canonicalLanguage(input);
  if (!tag) throw new Error('must be a language tag such as en');
  return tag;
});

const perksEnv = {
  ...platformEnv,
  ...databaseEnv,
  ...authEnv,
  LINKS_URL: baseUrl({ desc: 'Where click_urls lead: the public URL of the links host' }),
  LINK_SIGNING_KEYS: keyringVariable({ desc: 'Keys that sign click_urls' }),
  DEFAULT_LANGUAGE: language({ default: 'en', desc: 'Language of the texts that are no translation' }),
  TEMPLATE_CACHE_MB: num({ default: 64, desc: 'Memory for prepared answers' }),
};

export const loadPerksEnv = (source?: NodeJS.ProcessEnv) => loadEnv(perksEnv, source);
export type PerksEnv = ReturnType<typeof loadPerksEnv>;
/** Injection token of the environment. */
export const PERKS_ENV = Symbol('PERKS_ENV');
