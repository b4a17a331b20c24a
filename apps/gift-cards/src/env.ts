import { authEnv } from '@perkway/auth';
import { baseUrl, confidential, databaseEnv, language, platformEnv, secret } from '@perkway/platform';
import { keyringVariable } from '@perkway/signing';
import type { CleanedEnv } from 'envalid';

export const envSpec = {
  ...platformEnv,
  ...databaseEnv,
  ...authEnv,
  GIFT_URL: baseUrl({ desc: 'Public address of this app' }),
  REWARDS_URL: baseUrl({ desc: 'Public address of the Allocation Page' }),
  REWARD_TOKEN_KEYS: confidential(
    keyringVariable({
      desc: 'Signs the tokens of reward links. A key stays for as long as links made with it are to work',
    }),
  ),
  CARD_ENCRYPTION_KEYS: confidential(
    keyringVariable({
      desc: 'Encrypts card codes. A key stays for as long as cards loaded with it exist',
    }),
  ),
  DEFAULT_LANGUAGE: language({ default: 'en', desc: 'Language of the texts that are no translation' }),
  CARD_HASH_KEY: confidential(
    secret({
      desc: 'Finds a card code that is loaded again. Never changes, or such codes are no longer found',
    }),
  ),
};

export type GiftCardsEnv = CleanedEnv<typeof envSpec>;
