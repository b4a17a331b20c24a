import { baseUrl, confidential, databaseEnv, platformEnv, secret } from '@perkway/platform';
import { keyringVariable } from '@perkway/signing';
import { num, str, type CleanedEnv } from 'envalid';
import { fileURLToPath } from 'node:url';

export const envSpec = {
  ...platformEnv,
  ...databaseEnv,
  API_KEY_PEPPER: confidential(
    secret({ desc: 'Secret over which API keys are hashed; the same in all apps' }),
  ),
  SESSION_KEYS: confidential(
    keyringVariable({
      desc: 'Makes the keys behind sessions and jobs. A key stays for as long as sessions that began with it last, 12 hours',
    }),
  ),
  CONSOLE_URL: baseUrl({ desc: 'Public address of this app; https makes its cookies `__Host-` ones' }),
  PERKS_URL: baseUrl({ desc: 'Public address of the perk collections' }),
  LINKS_URL: baseUrl({ desc: 'Public address of the redirects' }),
  BOOST_URL: baseUrl({ desc: 'Public address of Boost' }),
  GIFT_URL: baseUrl({ desc: 'Public address of the gift cards' }),
  REWARDS_URL: baseUrl({ desc: 'Public address of the Allocation Page' }),
  TOKEN_URL: baseUrl({ desc: 'Public address of the tokens' }),
  QUERY_URL: baseUrl({ desc: 'Public address of the query host' }),
  INTERNAL_URL: str({
    default: '',
    example: 'http://{app}:8080',
    desc: 'Where the console reaches the apps, `{app}` being the name of one; their public addresses, if empty',
  }),
  MANAGEMENT_URL: str({
    default: '',
    example: 'http://{app}:9090',
    desc: 'Where it reaches their /admin, /metrics and /readyz; as INTERNAL_URL, if empty',
  }),
  OIDC_ISSUER: str({
    default: '',
    example: 'https://accounts.example.org',
    desc: 'OpenID Connect provider where people sign in; needs the next two. Empty: with keys only',
  }),
  OIDC_CLIENT_ID: str({ default: '', desc: 'What the provider calls the console' }),
  OIDC_CLIENT_SECRET: confidential(str({ default: '', desc: 'What the provider knows the console by' })),
  OIDC_LABEL: str({ default: 'your company account', desc: 'How the button calls the provider' }),
  ASSETS_FOLDER: str({
    default: fileURLToPath(new URL('./web', import.meta.url)),
    desc: 'Where the build has put the files of the pages',
  }),
  WRONG_KEYS_PER_MINUTE: num({
    default: 10,
    desc: 'Wrong keys that one address may sign in with, in all replicas; 0: no limit',
  }),
};

export type ConsoleEnv = CleanedEnv<typeof envSpec>;
