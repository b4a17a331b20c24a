import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the sizes beyond which a link job of the account needs an approval. */
export class Approvals1767226095000 implements MigrationInterface {
  readonly name = 'Approvals1767226095000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table accounts add approvals jsonb');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table accounts drop approvals');
  }
}
