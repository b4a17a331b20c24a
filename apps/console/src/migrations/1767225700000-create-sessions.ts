import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateSessions1767225700000 implements MigrationInterface {
  readonly name = 'CreateSessions1767225700000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table sessions (
        -- SHA-256 of the id in the cookie: 128 random bits and their MAC. The key that calls the fleet is derived from
        -- that id and stored nowhere.
        hash text primary key check (hash ~ '^[0-9a-f]{64}$'),
        -- Id of that key.
        console_key_id uuid not null,
        -- Id of the key of SESSION_KEYS from which it is derived.
        keyring_id text not null,
        account_id text not null,
        account_name text not null,
        -- The API key used to sign in; null for a person, whose email identifies them.
        key_id uuid,
        key_name text,
        email text,
        created_at timestamptz not null default now(),
        used_at timestamptz not null default now(),
        expires_at timestamptz not null
      )`);
    await runner.query('create index sessions_expires on sessions (expires_at)');
    await runner.query('create index sessions_used on sessions (used_at)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table sessions');
  }
}
