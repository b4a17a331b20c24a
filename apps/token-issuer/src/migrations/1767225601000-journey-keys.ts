import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the role JOURNEY, for keys in browsers. */
export class JourneyKeys1767225601000 implements MigrationInterface {
  readonly name = 'JourneyKeys1767225601000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table api_keys drop constraint api_keys_role_check');
    await runner.query(
      `alter table api_keys add constraint api_keys_role_check check (role in ('USER', 'ADMIN', 'JOURNEY'))`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`delete from api_keys where role = 'JOURNEY'`);
    await runner.query('alter table api_keys drop constraint api_keys_role_check');
    await runner.query(
      `alter table api_keys add constraint api_keys_role_check check (role in ('USER', 'ADMIN'))`,
    );
  }
}
