import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the ids of the links that a withdrawal cancelled. Withdrawals of earlier releases have none. */
export class CancelledLinks1767225693000 implements MigrationInterface {
  readonly name = 'CancelledLinks1767225693000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table withdrawals add column cancelled_links uuid[] not null default '{}'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table withdrawals drop column cancelled_links');
  }
}
