import { baseUrl, platformEnv } from '@perkway/platform';
import { num, str, type CleanedEnv } from 'envalid';
import { LANGUAGES } from './texts/index.js';

export const allocationPageEnv = {
  ...platformEnv,
  REWARDS_URL: baseUrl({ desc: 'Public address of the page; https turns HSTS on' }),
  DEFAULT_LANGUAGE: str({ choices: LANGUAGES, default: 'en' }),
  UNKNOWN_LINKS_PER_MINUTE: num({ default: 60, desc: 'Unknown link tokens that one address may try' }),
};

export type AllocationPageEnv = CleanedEnv<typeof allocationPageEnv>;
