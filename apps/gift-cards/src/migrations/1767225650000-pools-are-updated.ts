import type { MigrationInterface, QueryRunner } from 'typeorm';

/** When the settings of a pool were changed. Of those that exist nobody knows: it is now. */
export class PoolsAreUpdated1767225650000 implements MigrationInterface {
  readonly name = 'PoolsAreUpdated1767225650000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table pools add updated_at timestamptz not null default now()');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table pools drop updated_at');
  }
}
