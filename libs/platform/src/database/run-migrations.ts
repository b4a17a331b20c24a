import { ADVISORY_LOCKS } from '@perkway/domain';
import { DataSource } from 'typeorm';
import { dataSourceOptions, type MigrationClass } from './database.module.js';

/** Migrations may build indexes on large tables. */
const MIGRATION_TIMEOUT_MS = 30 * 60_000;

/** Runs the app's pending migrations, each in its own transaction; concurrent runs wait for each other. */
export async function runMigrations(
  url: string,
  app: string,
  migrations: MigrationClass[],
): Promise<string[]> {
  const dataSource = new DataSource({
    ...dataSourceOptions(url, `${app}-migrate`, 2),
    migrations,
    migrationsTableName: 'migrations',
    migrationsTransactionMode: 'each',
    extra: { statement_timeout: MIGRATION_TIMEOUT_MS, query_timeout: MIGRATION_TIMEOUT_MS },
  } as ConstructorParameters<typeof DataSource>[0]);
  await dataSource.initialize();
  try {
    const runner = dataSource.createQueryRunner();
    await runner.query(`select pg_advisory_lock(${ADVISORY_LOCKS.migrations})`);
    try {
      const done = await dataSource.runMigrations();
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
export async function migrateFromEnvironment(app: string, migrations: MigrationClass[]): Promise<void> {
  const url = process.env.DATABASE_URL;
  if (!url) {
    process.stderr.write('Wrong environment: DATABASE_URL is missing.\n');
    process.exit(1);
  }
  try {
    const done = await runMigrations(url, app, migrations);
    process.stdout.write(`${JSON.stringify({ app, msg: 'migrations applied', migrations: done })}\n`);
  } catch (error) {
    process.stderr.write(`Migrations of ${app} failed: ${(error as Error).message}\n`);
    process.exit(1);
  }
}
