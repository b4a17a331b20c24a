import { authEnv } from '@perkway/auth';
import { baseUrl, databaseEnv, loadEnv, platformEnv, secret } from '@perkway/platform';
import { keyringVariable } from '@perkway/signing';

const boostEnv = {
  ...platformEnv,
  ...databaseEnv,
  ...authEnv,
  BOOST_URL: baseUrl({ desc: 'Public address of this app; reward URLs lead there' }),
  OUTREACH_SIGNING_KEYS: keyringVariable({ desc: 'Keys that sign the tokens of clicks' }),
  PIXEL_HASH_KEY: secret({ desc: 'Key over which pixel views become event ids; the same in all replicas' }),
};

export const loadBoostEnv = (source?: NodeJS.ProcessEnv) => loadEnv(boostEnv, source);
export type BoostEnv = ReturnType<typeof loadBoostEnv>;
/** Injection token of the environment. */
export const BOOST_ENV = Symbol('BOOST_ENV');
