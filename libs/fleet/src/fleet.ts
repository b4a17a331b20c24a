import type { AppName } from '@perkway/domain';
import type { Secrets } from './secrets.js';

interface AppDescription {
  /** What its host is called in the stack file, and the first label of its name in a deployment. */
  host: string;
  /** The variable that tells every app its public URL. */
  urlVariable: string;
  /** Its local port above PORT_BASE. */
  port: number;
  /** Its own schema, and the role that owns it and has it as its search path. None: no database and no migrations. */
  database?: {
    schema: string;
    role: string;
    /** Owns nothing and only reads; the app's migrations grant it what it may see. */
    reader?: string;
  };
  /** Of the variables that it reads those that are secret, and which secret each is. */
  secrets: Partial<Record<string, keyof Secrets>>;
  /** Parts that may run as processes of their own, told which by `variable`; without it a process is all of them. */
  parts?: { variable: string; names: readonly string[] };
}

/**
 * The apps: where each listens, what it owns, what it is told. Local stack, tests, benches and deployments are made of
 * this. Port 8 is that of Postgres, 9 of nats-server.
 */
export const FLEET = {
  perks: {
    host: 'perks',
    urlVariable: 'PERKS_URL',
    port: 1,
    database: { schema: 'catalog', role: 'catalog' },
    secrets: { API_KEY_PEPPER: 'apiKeyPepper', LINK_SIGNING_KEYS: 'linkSigningKeys' },
  },
  links: {
    host: 'links',
    urlVariable: 'LINKS_URL',
    port: 2,
    database: { schema: 'links', role: 'links' },
    secrets: { LINK_SIGNING_KEYS: 'linkSigningKeys' },
  },
  boost: {
    host: 'boost',
    urlVariable: 'BOOST_URL',
    port: 3,
    database: { schema: 'outreach', role: 'outreach' },
    secrets: {
      API_KEY_PEPPER: 'apiKeyPepper',
      OUTREACH_SIGNING_KEYS: 'outreachSigningKeys',
      PIXEL_HASH_KEY: 'pixelHashKey',
    },
  },
  'gift-cards': {
    host: 'gift',
    urlVariable: 'GIFT_URL',
    port: 4,
    database: { schema: 'gift_cards', role: 'gift_cards' },
    secrets: {
      API_KEY_PEPPER: 'apiKeyPepper',
      REWARD_TOKEN_KEYS: 'rewardTokenKeys',
      CARD_ENCRYPTION_KEYS: 'cardEncryptionKeys',
      CARD_HASH_KEY: 'cardHashKey',
    },
  },
  'allocation-page': {
    host: 'rewards',
    urlVariable: 'REWARDS_URL',
    port: 5,
    secrets: {},
  },
  'token-issuer': {
    host: 'token',
    urlVariable: 'TOKEN_URL',
    port: 6,
    database: { schema: 'accounts', role: 'accounts' },
    secrets: {
      API_KEY_PEPPER: 'apiKeyPepper',
      ANALYTICS_TOKEN_KEYS: 'analyticsTokenKeys',
      BOOTSTRAP_ADMIN_KEY: 'adminKey',
    },
  },
  'analytics-query': {
    host: 'query',
    urlVariable: 'QUERY_URL',
    port: 7,
    database: { schema: 'analytics', role: 'analytics', reader: 'analytics_reader' },
    secrets: { ERASURE_KEYS: 'erasureKeys' },
    parts: { variable: 'ANALYTICS_ROLES', names: ['ingest', 'query'] },
  },
  console: {
    host: 'console',
    urlVariable: 'CONSOLE_URL',
    port: 10,
    database: { schema: 'console', role: 'console' },
    secrets: { API_KEY_PEPPER: 'apiKeyPepper', SESSION_KEYS: 'sessionKeys' },
  },
} as const satisfies Record<AppName, AppDescription>;

export const APPS = Object.keys(FLEET) as AppName[];

/** The apps that own a schema: those that have migrations. */
export type DatabaseApp = {
  [App in AppName]: (typeof FLEET)[App] extends { database: object } ? App : never;
}[AppName];
export const hasDatabase = (app: AppName): app is DatabaseApp => 'database' in FLEET[app];

const SERVER_PORTS = { postgres: 8, nats: 9 } as const;
export const LAST_PORT = 10;

export type PortOwner = AppName | keyof typeof SERVER_PORTS;
export const PORT_OWNERS: readonly PortOwner[] = [...APPS, 'postgres', 'nats'];
export const portOf = (base: number, owner: PortOwner): number =>
  base + (owner in FLEET ? FLEET[owner as AppName].port : SERVER_PORTS[owner as keyof typeof SERVER_PORTS]);
