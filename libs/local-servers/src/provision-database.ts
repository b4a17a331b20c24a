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
  /** Created if missing. */
  database: string;
  /** Returns the password of a role. Every call of `provisionDatabase` sets it again. */
  passwordOf: (role: string) => string;
  /** Apps to create roles and schemas for; defaults to all. The reader comes with analytics-query. */
  apps?: DatabaseApp[];
}

/**
 * Milliseconds. Postgres ends statements and idle transactions of an app that exceed these limits, and the app's caller
 * gets 503 instead of waiting. The limits are settings of the role, because a pooler in transaction mode rejects them
 * as connection parameters. Migrations bypass the pooler and set their own.
 */
const LIMITS = ['statement_timeout = 5000', 'idle_in_transaction_session_timeout = 10000'];
/** The reader's transactions set their own statement timeout. */
const READER_LIMITS = ['default_transaction_read_only = on', 'idle_in_transaction_session_timeout = 10000'];

/**
 * Advisory lock for provisioning. Roles and databases belong to the whole server, so all processes take it in the same
 * database.
 */
const PROVISION_LOCK = 7_305_117;

/**
 * Names the role in the error. Roles belong to the whole server, so the provisioning user may lack rights on an
 * existing one.
 */
const explain = (role: string) => (cause: Error) => {
  throw new Error(`cannot create or configure the role ${role}: ${cause.message}`, { cause });
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
  // Set for all databases, because a setting for one database would not be cloned with it.
  await client.query(`alter role ${name} set search_path = ${client.escapeIdentifier(schema)}`);
  for (const setting of settings) await client.query(`alter role ${name} set ${setting}`);
}

/**
 * Runs `work` with the rights of another role. A superuser has them; an owner with CREATEROLE grants itself the role
 * for that time.
 */
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

/** Only a member of a role may make it the owner of a schema. */
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

/** Creates the group that BI logins belong to. The group itself cannot log in. */
async function provisionReporting(client: pg.Client): Promise<void> {
  const { rowCount } = await client.query('select 1 from pg_roles where rolname = $1', [REPORTING.group]);
  if (rowCount === 0) await client.query(`create role ${REPORTING.group} nologin`);
}

/**
 * Creates the database, a role and a schema per app, and the reader. It is idempotent and safe to run concurrently.
 * `adminUrl` connects as a superuser, or as the database's owner with CREATEROLE; the returned URLs keep its host and
 * parameters. No app's role has access to another app's schema.
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
    // Closing the connection releases the lock.
  });
  return urls;
}
