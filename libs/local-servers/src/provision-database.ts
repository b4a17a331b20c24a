import { REPORTING } from '@perkway/domain';
import {
  APPS,
  databaseUrls,
  FLEET,
  hasDatabase,
  READER_ROLE,
  type DatabaseApp,
  type DatabaseUrls,
} from '@perkway/fleet';
import pg from 'pg';

export interface ProvisionOptions {
  /** Made if it does not exist. */
  database: string;
  /** The password of a role; it is set again every time. */
  passwordOf: (role: string) => string;
  /** Whose roles and schemas; all if absent. The reader comes with analytics-query. */
  apps?: DatabaseApp[];
}

/**
 * No statement of an app may outlive these; its caller gets 503 instead of a hang. They are settings of the role because
 * a pooler in transaction mode refuses them as parameters of a connection. Migrations, which go past it, set their own.
 */
const LIMITS = ['statement_timeout = 5000', 'idle_in_transaction_session_timeout = 10000'];
/** The time limit of a query comes with its transaction. */
const READER_LIMITS = ['default_transaction_read_only = on', 'idle_in_transaction_session_timeout = 10000'];

/** Roles and the list of databases belong to the whole server, so everybody queues at one lock of the same database. */
const PROVISION_LOCK = 7_305_117;

/** Roles belong to the server, and this one may not be touched by the user that provisions. */
const explain = (role: string) => (cause: Error) => {
  throw new Error(`the role ${role} cannot be made or set up: ${cause.message}`, { cause });
};

export async function withAdminClient<T>(
  url: string,
  work: (client: pg.Client) => Promise<T>,
  statementTimeoutMs = 60_000,
): Promise<T> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 10_000,
    statement_timeout: statementTimeoutMs,
    query_timeout: statementTimeoutMs + 5_000,
    application_name: 'provisioning',
  });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function provisionRole(
  client: pg.Client,
  {
    role,
    schema,
    password,
    settings,
  }: { role: string; schema: string; password: string; settings: string[] },
): Promise<void> {
  const { rowCount } = await client.query('select 1 from pg_roles where rolname = $1', [role]);
  const name = client.escapeIdentifier(role);
  if (rowCount === 0) await client.query(`create role ${name} login noinherit`);
  await client.query(`alter role ${name} password ${client.escapeLiteral(password)}`);
  // Set on the role as such: a setting for one database would not follow into a clone of it.
  await client.query(`alter role ${name} set search_path = ${client.escapeIdentifier(schema)}`);
  for (const setting of settings) await client.query(`alter role ${name} set ${setting}`);
}

/** Does something as another role: a superuser may act as any, an owner with CREATEROLE lets itself for the moment. */
export async function actingAs<T>(client: pg.Client, role: string, work: () => Promise<T>): Promise<T> {
  const { rows } = await client.query<{ super: boolean }>(
    'select rolsuper as super from pg_roles where rolname = current_user',
  );
  if (rows[0]!.super) return work();
  const name = client.escapeIdentifier(role);
  await client.query(`grant ${name} to current_user with inherit true, set true`);
  try {
    return await work();
  } finally {
    await client.query(`revoke ${name} from current_user`);
  }
}

/** A schema is given only to a role that the giver may act as. */
async function provisionSchema(client: pg.Client, role: string, schema: string): Promise<void> {
  const { rows } = await client.query<{ owned: boolean }>(
    'select exists (select from pg_namespace where nspname = $2 and nspowner = $1::regrole) as owned',
    [role, schema],
  );
  if (rows[0]!.owned) return;
  const [ofRole, ofSchema] = [role, schema].map((name) => client.escapeIdentifier(name));
  await actingAs(client, role, async () => {
    await client.query(`create schema if not exists ${ofSchema}`);
    await client.query(`alter schema ${ofSchema} owner to ${ofRole}`);
  });
}

/** What BI tools read by. Nobody logs in as the group itself. */
async function provisionReporting(client: pg.Client): Promise<void> {
  const { rowCount } = await client.query('select 1 from pg_roles where rolname = $1', [REPORTING.group]);
  if (rowCount === 0) await client.query(`create role ${REPORTING.group} nologin`);
}

/**
 * Makes the database, one role and schema per app and the reader, as often as it is called; also from several processes
 * at once. `adminUrl` is that of a superuser, or of the database's owner if it may make roles; its host and parameters
 * are those of every answer. No app's role can see into the schema of another.
 */
export async function provisionDatabase(adminUrl: string, options: ProvisionOptions): Promise<DatabaseUrls> {
  const urls = databaseUrls(adminUrl, options);
  const names = options.apps ?? APPS.filter(hasDatabase);
  const apps = names.map((app) => FLEET[app].database);
  const hasReader = names.includes('analytics-query');
  await withAdminClient(adminUrl, async (client) => {
    await client.query('select pg_advisory_lock($1)', [PROVISION_LOCK]);
    for (const { role, schema } of apps)
      await provisionRole(client, {
        role,
        schema,
        password: options.passwordOf(role),
        settings: LIMITS,
      }).catch(explain(role));
    if (hasReader)
      await provisionRole(client, {
        role: READER_ROLE,
        schema: FLEET['analytics-query'].database.schema,
        password: options.passwordOf(READER_ROLE),
        settings: READER_LIMITS,
      }).catch(explain(READER_ROLE));
    if (hasReader) await provisionReporting(client).catch(explain(REPORTING.group));

    const database = client.escapeIdentifier(options.database);
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [
      options.database,
    ]);
    if (rowCount === 0) await client.query(`create database ${database}`);
    await client.query(`revoke all on database ${database} from public`);
    const owners = apps.map(({ role }) => client.escapeIdentifier(role));
    const roles = [...owners, ...(hasReader ? [READER_ROLE] : [])];
    await client.query(`grant connect on database ${database} to ${roles.join(', ')}`);
    await client.query(`grant temporary on database ${database} to ${owners.join(', ')}`);

    await withAdminClient(urls.admin, async (inside) => {
      await inside.query('revoke all on schema public from public');
      for (const { role, schema } of apps) await provisionSchema(inside, role, schema);
      if (hasReader) await provisionSchema(inside, FLEET['analytics-query'].database.role, REPORTING.schema);
    });
    // The lock goes with the connection.
  });
  return urls;
}
