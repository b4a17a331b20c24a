import { createHash, randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { databaseUrls, FLEET, rolePassword, type DatabaseApp, type DatabaseUrls } from '@perkway/fleet';
import { distributeOver, provisionDatabase, startPostgres, type LocalServer } from '@perkway/local-servers';
import pg from 'pg';
import { runCitusWorkers, runFolder, runPostgresUrl } from './test-servers.js';

/** Runs the app's migrations at `url`, or those of several apps at `urls`, and closes its connections. */
export type Migrate = (url: string, urls: DatabaseUrls) => Promise<unknown>;

export interface TestDatabase {
  /** Connects as the app's role. */
  url: string;
  /** Connects as `analytics_reader`. */
  readerUrl: string;
  /** The URLs of all apps in this database. Only schemas that `migrate` filled have tables. */
  urls: DatabaseUrls;
  /** Runs a statement in the app's schema as superuser, which bypasses row-level security, and returns the rows. */
  query<Row extends pg.QueryResultRow = pg.QueryResultRow>(sql: string, params?: unknown[]): Promise<Row[]>;
  /** Drops the database even while it is in use. */
  close(): Promise<void>;
}

const passwordOf = rolePassword('tests');

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Creates the migrated template once per test run. Concurrent callers wait for it. */
async function ensureTemplate(
  client: pg.Client,
  template: string,
  app: DatabaseApp,
  migrate: Migrate,
): Promise<void> {
  const exists = async () => {
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [template]);
    return rowCount === 1;
  };
  if (await exists()) return;
  await client.query('select pg_advisory_lock(hashtextextended($1, 0))', [template]);
  try {
    if (await exists()) return;
    const draft = `${template}_draft`;
    await client.query(`drop database if exists ${client.escapeIdentifier(draft)} with (force)`);
    const urls = await provisionDatabase(runPostgresUrl(), { database: draft, passwordOf });
    await migrate(urls.apps[app], urls);
    await client.query(`alter database ${client.escapeIdentifier(draft)} with allow_connections false`);
    await client.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [draft]);
    await client.query(
      `alter database ${client.escapeIdentifier(draft)} rename to ${client.escapeIdentifier(template)}`,
    );
  } finally {
    await client.query('select pg_advisory_unlock(hashtextextended($1, 0))', [template]);
  }
}

function testDatabaseAt(
  urls: DatabaseUrls,
  app: DatabaseApp,
  remove: (pool: pg.Pool) => Promise<void>,
): TestDatabase {
  const pool = new pg.Pool({
    connectionString: urls.admin,
    options: `-c search_path=${FLEET[app].database.schema}`,
    max: 4,
    connectionTimeoutMillis: 10_000,
  });
  // If a test kills the server, idle connections fail too.
  pool.on('error', () => {});
  return {
    url: urls.apps[app],
    readerUrl: urls.reader,
    urls,
    query: async (sql, params) => (await pool.query(sql, params)).rows,
    close: () => remove(pool),
  };
}

/**
 * Creates a database for one test file from a template that `migrate` prepares once per run. Test files of one app
 * share the template; pass another `template` name where the migrations differ.
 */
export async function testDatabase(
  app: DatabaseApp,
  migrate: Migrate,
  { template = app }: { template?: string } = {},
): Promise<TestDatabase> {
  const adminUrl = runPostgresUrl();
  const database = `test_${FLEET[app].database.schema}_${randomBytes(6).toString('hex')}`;
  const templateName = `template_${createHash('md5').update(template).digest('hex')}`;
  await withClient(adminUrl, async (client) => {
    await ensureTemplate(client, templateName, app, migrate);
    // Faster than the default for a small template; its checkpoints are cheap without fsync.
    await client.query(
      `create database ${database} template ${client.escapeIdentifier(templateName)} strategy file_copy`,
    );
  });
  const urls = databaseUrls(adminUrl, { database, passwordOf });
  const workers = app === 'analytics-query' ? runCitusWorkers() : [];
  if (workers.length > 0) await distributeOver(urls.admin, workers);
  return testDatabaseAt(urls, app, async (pool) => {
    await pool.end();
    for (const url of [adminUrl, ...workers])
      await withClient(url, (client) => client.query(`drop database ${database} with (force)`));
  });
}

/**
 * Like `testDatabase`, but on a Postgres of its own that the test may kill, pause and restart. It takes half a second
 * longer, so use it for tests of outages only.
 */
export async function testDatabaseServer(
  app: DatabaseApp,
  migrate: Migrate,
): Promise<TestDatabase & { server: LocalServer }> {
  const folder = runFolder('postgres');
  const server = await startPostgres({
    port: 0,
    dataDir: join(folder, 'data'),
    durable: false,
    logFile: join(folder, 'postgres.log'),
    dieWithParent: true,
  });
  const urls = await provisionDatabase(server.url, { database: 'perkway', passwordOf });
  await migrate(urls.apps[app], urls);
  const database = testDatabaseAt(urls, app, async (pool) => {
    await server.stop();
    await pool.end();
    await rm(folder, { recursive: true, force: true });
  });
  return { ...database, server };
}
