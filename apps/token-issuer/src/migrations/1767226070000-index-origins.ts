import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Indexes the listed origins, because any browser can cause this lookup with a preflight. */
export class IndexOrigins1767226070000 implements MigrationInterface {
  readonly name = 'IndexOrigins1767226070000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('create index accounts_origins on accounts using gin (allowed_origins)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index accounts_origins');
  }
}
