import { authEnv } from '@perkway/auth';
import { baseUrl, confidential, databaseEnv, platformEnv, secret } from '@perkway/platform';
import { keyringVariable } from '@perkway/signing';
import type { CleanedEnv } from 'envalid';

export const envSpec = {
  ...platformEnv,
  ...databaseEnv,
  ...authEnv,
  BOOST_URL: baseUrl({ desc: 'Public address of this app; reward URLs lead there' }),
  OUTREACH_SIGNING_KEYS: confidential(keyringVariable({ desc: 'Keys that sign the tokens of clicks' })),
  PIXEL_HASH_KEY: confidential(
    secret({ desc: 'Key over which pixel views become event ids; the same in all replicas' }),
  ),
};

export type BoostEnv = CleanedEnv<typeof envSpec>;
