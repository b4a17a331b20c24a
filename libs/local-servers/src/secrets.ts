import { createHmac, generateKeyPairSync, randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { APP_DATABASES, type DatabaseApp, type DatabaseUrls } from './provision-database.js';

/** Everything that must stay secret and stay the same between two starts of one environment. */
export interface Secrets {
  superuserPassword: string;
  /** The first ADMIN key; all of one case, as keys are compared without case. */
  adminKey: string;
  apiKeyPepper: string;
  linkSigningKeys: string;
  outreachSigningKeys: string;
  pixelHashKey: string;
  rewardTokenKeys: string;
  cardEncryptionKeys: string;
  cardHashKey: string;
  /** JSON array of private EC P-256 JWKs with `kid`. */
  analyticsTokenKeys: string;
}

export const APPS = [
  'perks',
  'links',
  'boost',
  'gift-cards',
  'allocation-page',
  'token-issuer',
  'analytics-query',
] as const;
export type AppName = (typeof APPS)[number];

/** How each app's host is called in URLs given to others, and its port above the base. */
export const APP_HOSTS = {
  perks: { host: 'perks', variable: 'PERKS_URL', offset: 1 },
  links: { host: 'links', variable: 'LINKS_URL', offset: 2 },
  boost: { host: 'boost', variable: 'BOOST_URL', offset: 3 },
  'gift-cards': { host: 'gift', variable: 'GIFT_URL', offset: 4 },
  'allocation-page': { host: 'rewards', variable: 'REWARDS_URL', offset: 5 },
  'token-issuer': { host: 'token', variable: 'TOKEN_URL', offset: 6 },
  'analytics-query': { host: 'query', variable: 'QUERY_URL', offset: 7 },
} as const satisfies Record<AppName, { host: string; variable: string; offset: number }>;

const random = (): string => randomBytes(32).toString('base64url');
const keyring = (): string => `k1:${random()}`;

const GENERATORS: { [K in keyof Secrets]: () => Secrets[K] } = {
  superuserPassword: random,
  adminKey: () => `admin_${randomBytes(20).toString('hex')}`,
  apiKeyPepper: random,
  linkSigningKeys: keyring,
  outreachSigningKeys: keyring,
  pixelHashKey: random,
  rewardTokenKeys: keyring,
  cardEncryptionKeys: keyring,
  cardHashKey: random,
  analyticsTokenKeys: () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    return JSON.stringify([{ ...privateKey.export({ format: 'jwk' }), kid: 'k1', use: 'sig', alg: 'ES256' }]);
  },
};

export const generateSecrets = (): Secrets =>
  Object.fromEntries(
    Object.entries(GENERATORS).map(([name, generate]) => [name, generate()]),
  ) as unknown as Secrets;

/** Reads the secrets from a JSON file that only its owner may read; makes the file, and what is missing in it. */
export async function loadSecrets(file: string): Promise<Secrets> {
  let stored: Partial<Secrets> = {};
  try {
    stored = JSON.parse(await readFile(file, 'utf8')) as Partial<Secrets>;
  } catch (error) {
    if (error instanceof SyntaxError) throw new Error(`${file} is not JSON`, { cause: error });
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const secrets = { ...generateSecrets(), ...stored };
  if (Object.keys(secrets).length > Object.keys(stored).length) {
    const draft = `${file}.${process.pid}`;
    await writeFile(draft, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 });
    await rename(draft, file);
  }
  return secrets;
}

/**
 * The passwords of the database roles follow from the superuser's, so that two environments on one server, where
 * roles are common to all databases, agree about them.
 */
export const rolePassword =
  (superuserPassword: string) =>
  (role: string): string =>
    createHmac('sha256', superuserPassword).update(`role:${role}`).digest('base64url');

export interface Environment {
  port: number;
  /** The public URL of every app, also of those that do not run. */
  urls: Record<AppName, string>;
  database: DatabaseUrls;
  natsUrl: string;
  secrets: Secrets;
  /** CIDRs, separated by commas. */
  trustedProxies?: string;
}

const SECRETS_OF: Record<AppName, Partial<Record<string, keyof Secrets>>> = {
  perks: { API_KEY_PEPPER: 'apiKeyPepper', LINK_SIGNING_KEYS: 'linkSigningKeys' },
  links: { LINK_SIGNING_KEYS: 'linkSigningKeys' },
  boost: {
    API_KEY_PEPPER: 'apiKeyPepper',
    OUTREACH_SIGNING_KEYS: 'outreachSigningKeys',
    PIXEL_HASH_KEY: 'pixelHashKey',
  },
  'gift-cards': {
    API_KEY_PEPPER: 'apiKeyPepper',
    REWARD_TOKEN_KEYS: 'rewardTokenKeys',
    CARD_ENCRYPTION_KEYS: 'cardEncryptionKeys',
    CARD_HASH_KEY: 'cardHashKey',
  },
  'allocation-page': {},
  'token-issuer': {
    API_KEY_PEPPER: 'apiKeyPepper',
    ANALYTICS_TOKEN_KEYS: 'analyticsTokenKeys',
    BOOTSTRAP_ADMIN_KEY: 'adminKey',
  },
  'analytics-query': {},
};

const hasDatabase = (app: AppName): app is DatabaseApp => app in APP_DATABASES;

/** The variables that one app reads, with the secrets that it needs and no others. */
export function appEnvironment(app: AppName, environment: Environment): Record<string, string> {
  const { secrets, urls } = environment;
  return {
    HOST: '127.0.0.1',
    PORT: String(environment.port),
    NATS_URL: environment.natsUrl,
    TRUSTED_PROXIES: environment.trustedProxies ?? '',
    ...(hasDatabase(app) ? { DATABASE_URL: environment.database.apps[app] } : {}),
    ...(app === 'analytics-query' ? { READER_DATABASE_URL: environment.database.reader } : {}),
    ...Object.fromEntries(APPS.map((each) => [APP_HOSTS[each].variable, urls[each]])),
    ...Object.fromEntries(Object.entries(SECRETS_OF[app]).map(([name, key]) => [name, secrets[key!]])),
  };
}
