import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ErasuresAskedAgain1767226050000 implements MigrationInterface {
  readonly name = 'ErasuresAskedAgain1767226050000';

  async up(runner: QueryRunner): Promise<void> {
    // Round numbers never repeat, so that an app's work in an earlier round does not count for a later one.
    await runner.query('alter table erasures add column last_round integer not null default 2');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table erasures drop column last_round');
  }
}
