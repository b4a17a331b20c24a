import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the time of a pool's last settings change. It is unknown for existing pools, which get the current time. */
export class PoolsAreUpdated1767225650000 implements MigrationInterface {
  readonly name = 'PoolsAreUpdated1767225650000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table pools add updated_at timestamptz not null default now()');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table pools drop updated_at');
  }
}
