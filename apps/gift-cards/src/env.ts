import { authEnv } from '@perkway/auth';
import { baseUrl, confidential, databaseEnv, language, platformEnv, secret } from '@perkway/platform';
import { keyringVariable } from '@perkway/signing';
import { bool, type CleanedEnv } from 'envalid';

export const envSpec = {
  ...platformEnv,
  ...databaseEnv,
  ...authEnv,
  GIFT_URL: baseUrl({ desc: 'Public URL of this app' }),
  REWARDS_URL: baseUrl({ desc: 'Public URL of the Allocation Page' }),
  REWARD_TOKEN_KEYS: confidential(
    keyringVariable({
      desc: 'Signs the tokens of reward links. Keep a key as long as links signed with it must work',
    }),
  ),
  CARD_ENCRYPTION_KEYS: confidential(
    keyringVariable({
      desc: 'Encrypts card codes. Keep a key as long as cards encrypted with it exist',
    }),
  ),
  DEFAULT_LANGUAGE: language({ default: 'en', desc: 'Language of untranslated texts' }),
  CARD_HASH_KEY: confidential(
    secret({
      desc: 'Detects card codes that were loaded before. Must never change, or duplicates go unnoticed',
    }),
  ),
  NAMED_STATEMENTS: bool({
    default: true,
    desc: 'Use prepared statements for reservations. Set to false behind a transaction-mode pooler without support for them (PgBouncer before 1.21)',
  }),
};

export type GiftCardsEnv = CleanedEnv<typeof envSpec>;
