import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CodesPerAccount1767226000000 implements MigrationInterface {
  readonly name = 'CodesPerAccount1767226000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      'alter table perks add column codes_per_account integer check (codes_per_account > 0)',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table perks drop column codes_per_account');
  }
}
