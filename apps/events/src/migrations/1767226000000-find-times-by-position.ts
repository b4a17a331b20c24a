import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Positions have no gaps and `stored_at` never decreases with them, so a binary search over the primary key finds a time. */
export class FindTimesByPosition1767226000000 implements MigrationInterface {
  readonly name = 'FindTimesByPosition1767226000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('drop index events_stored_at');
    await runner.query('drop index events_by_age');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('create index events_stored_at on events (account_id, stored_at)');
    await runner.query('create index events_by_age on events (stored_at)');
  }
}
