import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateAccounts1767225600000 implements MigrationInterface {
  readonly name = 'CreateAccounts1767225600000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table accounts (
        id text primary key check (id ~ '^[A-Za-z0-9._-]{1,100}$'),
        name text not null,
        allowed_origins text[] not null default '{}',
        brand jsonb,
        created_at timestamptz not null default now(),
        updated_at timestamptz not null default now()
      )`);
    // "hash" is the hex of an HMAC-SHA-256 over the lower-case key; the key itself is not stored.
    await runner.query(`
      create table api_keys (
        id uuid primary key,
        account_id text not null references accounts,
        role text not null check (role in ('USER', 'ADMIN')),
        name text,
        hash text not null check (hash ~ '^[0-9a-f]{64}$'),
        created_at timestamptz not null default now(),
        revoked_at timestamptz
      )`);
    // Partial on purpose: a revoked key may be imported again as a new one.
    await runner.query('create unique index api_keys_valid_hash on api_keys (hash) where revoked_at is null');
    await runner.query('create index api_keys_account on api_keys (account_id, created_at)');
    await runner.query(`create index api_keys_admin on api_keys (role) where role = 'ADMIN'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table api_keys');
    await runner.query('drop table accounts');
  }
}
