import { baseUrl, confidential, databaseEnv, platformEnv, secret } from '@perkway/platform';
import { keyringVariable } from '@perkway/signing';
import { num, str, type CleanedEnv } from 'envalid';
import { fileURLToPath } from 'node:url';

export const envSpec = {
  ...platformEnv,
  ...databaseEnv,
  API_KEY_PEPPER: confidential(secret({ desc: 'Pepper for hashing API keys; the same in all apps' })),
  SESSION_KEYS: confidential(
    keyringVariable({
      desc: 'Derives the keys of sessions and jobs. Keep an old key for 24 hours: sessions last up to 12, jobs 24',
    }),
  ),
  CONSOLE_URL: baseUrl({ desc: 'Public URL of this app; with https its cookies get the `__Host-` prefix' }),
  PERKS_URL: baseUrl({ desc: 'Public URL of the perk collections' }),
  LINKS_URL: baseUrl({ desc: 'Public URL of the links host, the base of the click_url of collections' }),
  BOOST_URL: baseUrl({ desc: 'Public URL of Boost' }),
  GIFT_URL: baseUrl({ desc: 'Public URL of the gift cards' }),
  REWARDS_URL: baseUrl({ desc: 'Public URL of the Allocation Page' }),
  TOKEN_URL: baseUrl({ desc: 'Public URL of the token issuer' }),
  QUERY_URL: baseUrl({ desc: 'Public URL of the query host, the audience of tokens' }),
  EVENTS_URL: baseUrl({ desc: 'Public URL of the event feed and the webhooks' }),
  INTERNAL_URL: str({
    default: '',
    example: 'http://{app}:8080',
    desc: 'Internal URL of the apps, with `{app}` for the name of the app; if empty, their public URLs',
  }),
  MANAGEMENT_URL: str({
    default: '',
    example: 'http://{app}:9090',
    desc: 'URL of /admin, /metrics and /readyz of the apps; if empty, INTERNAL_URL',
  }),
  OIDC_ISSUER: str({
    default: '',
    example: 'https://accounts.example.org',
    desc: 'OpenID Connect provider for sign-in; needs `OIDC_CLIENT_ID` and `OIDC_CLIENT_SECRET`. If empty, sign-in needs an API key',
  }),
  OIDC_CLIENT_ID: str({ default: '', desc: 'Client id of the console at the provider' }),
  OIDC_CLIENT_SECRET: confidential(
    str({ default: '', desc: 'Client secret of the console at the provider' }),
  ),
  OIDC_LABEL: str({ default: 'your company account', desc: 'Name of the provider on the sign-in button' }),
  ASSETS_FOLDER: str({
    default: fileURLToPath(new URL('./web', import.meta.url)),
    desc: 'Folder with the built pages',
  }),
  WRONG_KEYS_PER_MINUTE: num({
    default: 10,
    desc: 'Failed sign-ins allowed per address and minute, over all replicas; 0: no limit',
  }),
};

export type ConsoleEnv = CleanedEnv<typeof envSpec>;
