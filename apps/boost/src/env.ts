import { authEnv } from '@perkway/auth';
import { baseUrl, confidential, databaseEnv, platformEnv, secret } from '@perkway/platform';
import { keyringVariable } from '@perkway/signing';
import type { CleanedEnv } from 'envalid';

export const envSpec = {
  ...platformEnv,
  ...databaseEnv,
  ...authEnv,
  BOOST_URL: baseUrl({ desc: 'Public URL of this app; reward URLs point to it' }),
  OUTREACH_SIGNING_KEYS: confidential(keyringVariable({ desc: 'Keys that sign the tokens in click URLs' })),
  PIXEL_HASH_KEY: confidential(
    secret({
      desc: 'HMAC key that derives event ids of pixel views and of conversions with an external id; the same in all replicas',
    }),
  ),
};

export type BoostEnv = CleanedEnv<typeof envSpec>;
