import type { AppName } from '@perkway/domain';
import type { Secrets } from './secrets.js';

interface AppDescription {
  /** The app's host in the stack file, and the first label of its domain name in a deployment. */
  host: string;
  /** The variable with the app's public URL, which every app gets. */
  urlVariable: string;
  /** Its local port, as an offset from PORT_BASE. */
  port: number;
  /** Its schema, and the role that owns the schema and has it as search path. Absent: no database and no migrations. */
  database?: {
    schema: string;
    role: string;
    /** A read-only role that owns nothing; the app's migrations grant it access. */
    reader?: string;
  };
  /** Its secret environment variables, and the secret in each. */
  secrets: Partial<Record<string, keyof Secrets>>;
  /**
   * Parts of the app that `variable` can select to run as separate processes. Without the variable a process runs all
   * parts.
   */
  parts?: { variable: string; names: readonly string[] };
}

/**
 * The apps with their ports, schemas, roles and secrets. The local stack, tests, benchmarks, `perkway provision` and
 * `perkway secrets` use them. Port offset 8 is Postgres, 9 is nats-server.
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
  events: {
    host: 'events',
    urlVariable: 'EVENTS_URL',
    port: 11,
    database: { schema: 'events', role: 'events' },
    secrets: {
      API_KEY_PEPPER: 'apiKeyPepper',
      WEBHOOK_SECRET_KEYS: 'webhookSecretKeys',
    },
  },
} as const satisfies Record<AppName, AppDescription>;

export const APPS = Object.keys(FLEET) as AppName[];

/** Apps with a schema and migrations. */
export type DatabaseApp = {
  [App in AppName]: (typeof FLEET)[App] extends { database: object } ? App : never;
}[AppName];
export const hasDatabase = (app: AppName): app is DatabaseApp => 'database' in FLEET[app];

const SERVER_PORTS = { postgres: 8, nats: 9 } as const;
export const LAST_PORT = 11;

export type PortOwner = AppName | keyof typeof SERVER_PORTS;
export const PORT_OWNERS: readonly PortOwner[] = [...APPS, 'postgres', 'nats'];
export const portOf = (base: number, owner: PortOwner): number =>
  base + (owner in FLEET ? FLEET[owner as AppName].port : SERVER_PORTS[owner as keyof typeof SERVER_PORTS]);
