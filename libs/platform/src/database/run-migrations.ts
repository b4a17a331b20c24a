import { readCommandLine } from '@perkway/command-line';
import { ADVISORY_LOCKS } from '@perkway/domain';
import { DataSource, type QueryRunner } from 'typeorm';
import { ConfigError, databaseEnv, loadEnv } from '../config/load-env.js';
import { reasonOf } from '../logging/reason-of.js';
import { onStopSignal } from '../stop-signal.js';
import { dataSourceOptions, type MigrationClass } from './data-source.js';

/** Migrations may build indexes on large tables. */
const MIGRATION_TIMEOUT_MS = 30 * 60_000;
/** A migration runs once per release, so it can wait for a database that is busy. */
const CONNECT_TIMEOUT_MS = 30_000;
/** Exit code that shells report for a process ended by SIGTERM. */
const TERMINATED = 143;

/** Creates what follows from the code rather than from history, such as views. Runs after the migrations. */
export type Finish = (runner: QueryRunner) => Promise<void>;

/** Runs the app's pending migrations, each in its own transaction; concurrent runs wait for each other. */
export async function runMigrations(
  url: string,
  app: string,
  migrations: MigrationClass[],
  finish?: Finish,
): Promise<string[]> {
  const dataSource = new DataSource({
    ...dataSourceOptions(url, `${app}-migrate`, 2),
    connectTimeoutMS: CONNECT_TIMEOUT_MS,
    migrations,
    migrationsTableName: 'migrations',
    migrationsTransactionMode: 'each',
    extra: {
      statement_timeout: MIGRATION_TIMEOUT_MS,
      query_timeout: MIGRATION_TIMEOUT_MS,
      // The server cancels the migration when this process dies.
      options: '-c client_connection_check_interval=1s',
    },
  } as ConstructorParameters<typeof DataSource>[0]);
  await dataSource.initialize();
  try {
    const runner = dataSource.createQueryRunner();
    // Held until the connection closes.
    await runner.query(`select pg_advisory_lock(${ADVISORY_LOCKS.migrations})`);
    const done = await dataSource.runMigrations();
    await finish?.(runner);
    return done.map(({ name }) => name);
  } finally {
    await dataSource.destroy();
  }
}

const usage = (app: string) => `node migrate.js

Runs the pending migrations of ${app} in the database of MIGRATION_DATABASE_URL or, if it is not set, DATABASE_URL.`;

/** Runs an app's `migrate.ts`. Exits with 0, 1 if it fails, 2 for an unknown argument, or 143 on a signal. */
export async function migrateFromEnvironment(
  app: string,
  migrations: MigrationClass[],
  finish?: Finish,
): Promise<void> {
  readCommandLine(usage(app), {});
  // Safe at any moment: uncommitted work is rolled back.
  onStopSignal(() => process.exit(TERMINATED));
  try {
    const { MIGRATION_DATABASE_URL, DATABASE_URL } = databaseEnv;
    const url =
      loadEnv({ MIGRATION_DATABASE_URL }).MIGRATION_DATABASE_URL ?? loadEnv({ DATABASE_URL }).DATABASE_URL;
    const done = await runMigrations(url, app, migrations, finish);
    process.stdout.write(`${JSON.stringify({ app, msg: 'migrations applied', migrations: done })}\n`);
  } catch (error) {
    const isConfig = error instanceof ConfigError;
    process.stderr.write(
      isConfig ? `${error.message}\n` : `Migrations of ${app} failed: ${reasonOf(error)}\n`,
    );
    process.exit(1);
  }
}
