import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the keys behind the console's sessions and jobs. */
export class ConsoleKeys1767225800000 implements MigrationInterface {
  readonly name = 'ConsoleKeys1767225800000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table api_keys
        add is_console boolean not null default false,
        add expires_at timestamptz,
        add parent_id uuid references api_keys,
        add person_email text,
        add constraint console_keys_end check (is_console = (expires_at is not null))`);
    await runner.query('create index api_keys_parent on api_keys (parent_id) where parent_id is not null');
    await runner.query(
      'create index api_keys_person on api_keys (account_id, person_email) where person_email is not null',
    );
    await runner.query('create index api_keys_ended on api_keys (expires_at) where is_console');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('delete from api_keys where is_console');
    await runner.query(
      'alter table api_keys drop is_console, drop expires_at, drop parent_id, drop person_email',
    );
  }
}
