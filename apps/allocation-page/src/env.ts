import { baseUrl, platformEnv } from '@perkway/platform';
import { num, str, type CleanedEnv } from 'envalid';
import { fileURLToPath } from 'node:url';
import { LANGUAGES } from './texts/index.js';

export const envSpec = {
  ...platformEnv,
  REWARDS_URL: baseUrl({ desc: 'Public URL of the page; https turns HSTS on' }),
  DEFAULT_LANGUAGE: str({
    choices: LANGUAGES,
    default: 'en',
    desc: 'Language if the page has none the reader prefers',
  }),
  ASSETS_FOLDER: str({
    default: fileURLToPath(new URL('./public', import.meta.url)),
    desc: 'Folder with the built page',
  }),
  UNKNOWN_LINKS_PER_MINUTE: num({
    default: 60,
    desc: 'Unknown link tokens that one address may try per minute',
  }),
};

export type AllocationPageEnv = CleanedEnv<typeof envSpec>;
