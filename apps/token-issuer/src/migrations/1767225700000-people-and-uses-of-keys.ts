import type { MigrationInterface, QueryRunner } from 'typeorm';

export class PeopleAndUsesOfKeys1767225700000 implements MigrationInterface {
  readonly name = 'PeopleAndUsesOfKeys1767225700000';

  async up(runner: QueryRunner): Promise<void> {
    // "last4" is the end of the key, to recognize it; unknown for older keys.
    await runner.query('alter table api_keys add last4 text, add last_used_at timestamptz');
    await runner.query(`
      create table people (
        account_id text not null references accounts,
        -- In lower case.
        email text not null,
        role text not null check (role in ('USER', 'ADMIN')),
        created_at timestamptz not null default now(),
        updated_at timestamptz not null default now(),
        primary key (account_id, email)
      )`);
    await runner.query('create index people_email on people (email)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table people');
    await runner.query('alter table api_keys drop last4, drop last_used_at');
  }
}
