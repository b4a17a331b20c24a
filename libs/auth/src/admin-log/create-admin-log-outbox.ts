import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates the app's `admin_log_outbox`: records of management calls that the console has not stored yet. */
export class CreateAdminLogOutbox1767226090000 implements MigrationInterface {
  readonly name = 'CreateAdminLogOutbox1767226090000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table admin_log_outbox (
        id bigint generated always as identity primary key,
        record jsonb not null
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table admin_log_outbox');
  }
}
