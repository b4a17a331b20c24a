import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateSessions1767225700000 implements MigrationInterface {
  readonly name = 'CreateSessions1767225700000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table sessions (
        -- SHA-256 of the id in the cookie, which is 256 random bits. The key behind the session follows from that id and
        -- is stored nowhere.
        hash text primary key check (hash ~ '^[0-9a-f]{64}$'),
        -- Of that key.
        console_key_id uuid not null,
        -- Which of SESSION_KEYS made it.
        keyring_id text not null,
        account_id text not null,
        account_name text not null,
        -- The key that somebody signed in with, or else whose address it was.
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
