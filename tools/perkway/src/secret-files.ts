import { BROKER_OPERATOR, BROKER_USERS, type AppName } from '@perkway/domain';
import {
  APPS,
  databaseUrls,
  FLEET,
  hasDatabase,
  natsPassword,
  rolePassword,
  type Secrets,
} from '@perkway/fleet';
import { createHmac } from 'node:crypto';

type Files = Record<string, string>;
export const OVERLAYS = ['local', 'production'] as const;
export type Overlay = (typeof OVERLAYS)[number];

/** URL of the database in each kind of deployment. */
const ADMIN_URL = {
  compose: 'postgres://postgres@database:5432/perkway',
  local: 'postgres://postgres@database-rw:5432/perkway',
  // CloudNativePG creates the owner, its password and the CA of the server's certificate.
  production:
    'postgres://database-rw:5432/perkway?sslmode=verify-full&sslrootcert=/run/secrets/database/ca.crt',
};

/** Host and port of the pooler in each kind of deployment. */
const POOLER = { compose: 'pooler:6432', production: 'pooler:5432' } as const;
type Pooled = keyof typeof POOLER;

const derived = (secrets: Secrets, name: string): string =>
  createHmac('sha256', secrets.superuserPassword).update(name).digest('base64url');

const urlsOf = (secrets: Secrets, where: keyof typeof ADMIN_URL) => {
  const admin = new URL(ADMIN_URL[where]);
  if (admin.username) admin.password = secrets.superuserPassword;
  const database = admin.pathname.slice(1);
  return databaseUrls(admin.href, { database, passwordOf: rolePassword(secrets.superuserPassword) });
};

/** Returns the files of one app, including secrets that other apps share. */
function appFiles(app: AppName, secrets: Secrets, where: keyof typeof ADMIN_URL): Files {
  const urls = urlsOf(secrets, where);
  return {
    NATS_PASSWORD: natsPassword(secrets.natsSecret)(app),
    ...(hasDatabase(app) ? { DATABASE_URL: urls.apps[app] } : {}),
    ...(app === 'analytics-query' ? { READER_DATABASE_URL: urls.reader } : {}),
    ...Object.fromEntries(Object.entries(FLEET[app].secrets).map(([name, key]) => [name, secrets[key]])),
  };
}

/** The variable of a password in nats-server's configuration, see k8s/broker/users.conf. */
export const passwordVariable = (user: string): string =>
  `${user.toUpperCase().replaceAll('-', '_')}_PASSWORD`;
const brokerPasswords = (secrets: Secrets): string =>
  [BROKER_OPERATOR, ...Object.keys(BROKER_USERS)]
    .map((user) => `${passwordVariable(user)}: "${natsPassword(secrets.natsSecret)(user)}"\n`)
    .join('');

/**
 * Returns the URLs of an app that may lead through the pooler. DATABASE_URL of analytics-query may not, because its
 * maintenance holds session locks.
 */
function pooledUrls(app: AppName, secrets: Secrets, where: Pooled): Files {
  const urls = urlsOf(secrets, where);
  const pooled = (direct: string): string => {
    const url = new URL(direct);
    url.host = POOLER[where];
    return url.href;
  };
  if (app === 'analytics-query') return { READER_DATABASE_URL: pooled(urls.reader) };
  return hasDatabase(app) ? { DATABASE_URL: pooled(urls.apps[app]) } : {};
}

/** Returns pgbouncer's `auth_file`: a line for each role. */
const poolerUsers = (secrets: Secrets): string =>
  APPS.flatMap((app) => Object.values(pooledUrls(app, secrets, 'compose')))
    .map((text) => new URL(text))
    .map(({ username, password }) => `"${decodeURIComponent(username)}" "${decodeURIComponent(password)}"\n`)
    .join('');

/** Returns the files by folder. Each folder has the name of its compose service. */
export function composeSecrets(secrets: Secrets): Record<string, Files> {
  const { admin, apps, reader } = urlsOf(secrets, 'compose');
  const ofApps = Object.fromEntries(
    APPS.map((app) => {
      const pooled = Object.entries(pooledUrls(app, secrets, 'compose'));
      const renamed = Object.fromEntries(pooled.map(([name, url]) => [`POOLED_${name}`, url]));
      return [app, { ...appFiles(app, secrets, 'compose'), ...renamed }];
    }),
  );
  const logins = Object.entries(apps).map(([app, url]) => [
    `${app.toUpperCase().replaceAll('-', '_')}_DATABASE_URL`,
    url,
  ]);
  return {
    ...ofApps,
    database: { POSTGRES_PASSWORD: secrets.superuserPassword },
    pooler: { 'userlist.txt': poolerUsers(secrets) },
    broker: { 'passwords.conf': brokerPasswords(secrets) },
    provision: { DATABASE_ADMIN_URL: admin, ...Object.fromEntries(logins), READER_DATABASE_URL: reader },
    catalogue: { ADMIN_KEY: secrets.adminKey },
    grafana: { GRAFANA_PASSWORD: derived(secrets, 'grafana') },
  };
}

/** Values that several apps need, each in its own Secret. */
const SHARED: Record<string, string> = { API_KEY_PEPPER: 'api-keys', LINK_SIGNING_KEYS: 'click-signing' };

/**
 * Returns a List for `kubectl apply -f -`. With a pooler, apps get the URLs of `pooledUrls`, and migrations connect to
 * the database.
 */
export function kubernetesSecrets(secrets: Secrets, overlay: Overlay, hasPooler = false): object {
  const data = new Map<string, Files>();
  const add = (secret: string, files: Files) => data.set(secret, { ...data.get(secret), ...files });
  for (const app of APPS)
    for (const [name, value] of Object.entries(appFiles(app, secrets, overlay)))
      add(SHARED[name] ?? app, { [name]: value });
  if (hasPooler)
    for (const app of APPS.filter(hasDatabase))
      add(app, {
        MIGRATION_DATABASE_URL: urlsOf(secrets, overlay).apps[app],
        ...pooledUrls(app, secrets, 'production'),
      });
  add('broker-passwords', { 'passwords.conf': brokerPasswords(secrets) });
  add('management', { ADMIN_KEY: secrets.adminKey });
  if (overlay === 'local') {
    add('database', { POSTGRES_PASSWORD: secrets.superuserPassword });
    add('database-app', { uri: urlsOf(secrets, 'local').admin });
  }
  return {
    apiVersion: 'v1',
    kind: 'List',
    items: [...data].map(([name, stringData]) => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, labels: { 'app.kubernetes.io/part-of': 'perkway' } },
      type: 'Opaque',
      stringData,
    })),
  };
}
