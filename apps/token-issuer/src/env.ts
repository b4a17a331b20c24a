import { authEnv } from '@perkway/auth';
import { API_KEY_FORM, isApiKey } from '@perkway/domain';
import { baseUrl, confidential, databaseEnv, platformEnv } from '@perkway/platform';
import { makeValidator, type CleanedEnv } from 'envalid';
import { parseTokenKeys } from './tokens/token-keys.js';

const tokenKeys = makeValidator(parseTokenKeys);

const apiKey = makeValidator((input: string) => {
  if (!isApiKey(input)) throw new Error(API_KEY_FORM);
  return input;
});

export const envSpec = {
  ...platformEnv,
  ...databaseEnv,
  ...authEnv,
  TOKEN_URL: baseUrl({ desc: 'Public URL of this app, the issuer of its tokens' }),
  QUERY_URL: baseUrl({ desc: 'Public URL of the query host, the audience of tokens' }),
  ANALYTICS_TOKEN_KEYS: confidential(
    tokenKeys({
      desc: 'JSON array of private EC P-256 JWKs, each with a kid and optionally use_from (epoch seconds)',
    }),
  ),
  BOOTSTRAP_ADMIN_KEY: confidential(
    apiKey({
      default: undefined,
      desc: 'The first ADMIN key, of the account "platform"; ignored while the database has any ADMIN key, even a revoked one',
    }),
  ),
};

export type TokenIssuerEnv = CleanedEnv<typeof envSpec>;
