import { ADVISORY_LOCKS } from '@perkway/domain';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the time at which an inventory was created. Those of earlier releases count as old as their pool. */
export class AgesOfValues1767225692000 implements MigrationInterface {
  readonly name = 'AgesOfValues1767225692000';

  async up(runner: QueryRunner): Promise<void> {
    // Everything that changes cards or links takes this lock before any row.
    await runner.query(`select pg_advisory_xact_lock(${ADVISORY_LOCKS.giftCardCounting})`);
    await runner.query(`
      alter table inventories add column created_at timestamptz not null default '-infinity';
      alter table inventories alter column created_at set default now()`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table inventories drop column created_at');
  }
}
