import { authEnv } from '@perkway/auth';
import { baseUrl, confidential, databaseEnv, language, platformEnv, secret } from '@perkway/platform';
import { keyringVariable } from '@perkway/signing';
import { bool, type CleanedEnv } from 'envalid';

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
  NAMED_STATEMENTS: bool({
    default: true,
    desc: 'Plans a reservation once for each connection. false behind a pooler in transaction mode that knows no prepared statements (pgbouncer before 1.21)',
  }),
};

export type GiftCardsEnv = CleanedEnv<typeof envSpec>;
