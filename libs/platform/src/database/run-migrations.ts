import { ADVISORY_LOCKS } from '@perkway/domain';
import { DataSource, type QueryRunner } from 'typeorm';
import { ConfigError, databaseEnv, loadEnv } from '../config/load-env.js';
import { reasonOf } from '../logging/reason-of.js';
import { onStopSignal } from '../stop-signal.js';
import { dataSourceOptions, type MigrationClass } from './data-source.js';

/** Migrations may build indexes on large tables. */
const MIGRATION_TIMEOUT_MS = 30 * 60_000;
/** What a shell reports of a process that SIGTERM has ended: not done. */
const TERMINATED = 143;

/** What follows from the code of the app rather than from a history, made after the migrations if it is not there yet. */
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
    migrations,
    migrationsTableName: 'migrations',
    migrationsTransactionMode: 'each',
    extra: {
      statement_timeout: MIGRATION_TIMEOUT_MS,
      query_timeout: MIGRATION_TIMEOUT_MS,
      // The server notices when this process has been ended, and does not go on alone.
      options: '-c client_connection_check_interval=1s',
    },
  } as ConstructorParameters<typeof DataSource>[0]);
  await dataSource.initialize();
  try {
    const runner = dataSource.createQueryRunner();
    await runner.query(`select pg_advisory_lock(${ADVISORY_LOCKS.migrations})`);
    try {
      const done = await dataSource.runMigrations();
      await finish?.(runner);
      return done.map(({ name }) => name);
    } finally {
      await runner.query(`select pg_advisory_unlock(${ADVISORY_LOCKS.migrations})`);
      await runner.release();
    }
  } finally {
    await dataSource.destroy();
  }
}

/** The whole of an app's `migrate.ts`: a job of its own that ends with exit code 0 or 1. */
export async function migrateFromEnvironment(
  app: string,
  migrations: MigrationClass[],
  finish?: Finish,
): Promise<void> {
  // At any moment: what has not been committed is rolled back.
  onStopSignal(() => process.exit(TERMINATED));
  try {
    const { DATABASE_URL } = loadEnv({ DATABASE_URL: databaseEnv.DATABASE_URL });
    const done = await runMigrations(DATABASE_URL, app, migrations, finish);
    process.stdout.write(`${JSON.stringify({ app, msg: 'migrations applied', migrations: done })}\n`);
  } catch (error) {
    const isConfig = error instanceof ConfigError;
    process.stderr.write(
      isConfig ? `${error.message}\n` : `Migrations of ${app} failed: ${reasonOf(error)}\n`,
    );
    process.exit(1);
  }
}
