import { authEnv } from '@perkway/auth';
import { baseUrl, confidential, databaseEnv, language, platformEnv, secret } from '@perkway/platform';
import { keyringVariable } from '@perkway/signing';
import { bool, makeValidator, type CleanedEnv } from 'envalid';

const days = makeValidator((input: string) => {
  const value = Number(input);
  if (!Number.isInteger(value) || value < 1 || value > 3650)
    throw new Error('must be a whole number of days from 1 to 3650');
  return value;
});

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
  MAX_LINK_DAYS: days({
    default: 366,
    desc: 'Reward links may expire at most this many days from now',
  }),
  NAMED_STATEMENTS: bool({
    default: true,
    desc: 'Use prepared statements for reservations. false: behind a pooler that does not support them (PgBouncer < 1.21)',
  }),
};

export type GiftCardsEnv = CleanedEnv<typeof envSpec>;
