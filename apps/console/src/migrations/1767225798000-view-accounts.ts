import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Lets an operator's session view the console of an account, with another key. */
export class ViewAccounts1767225798000 implements MigrationInterface {
  readonly name = 'ViewAccounts1767225798000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table sessions
        add column viewed_account_id text,
        add column viewed_account_name text,
        add column viewing_key_id uuid`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table sessions
        drop column viewed_account_id, drop column viewed_account_name, drop column viewing_key_id`);
  }
}
